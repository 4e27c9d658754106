// Owns: `holdfast accounts list`.
#include <boost/json/parse.hpp>

#include "app/door.hpp"
#include "app/open_store.hpp"
#include "app/tables.hpp"
#include "engine/shown.hpp"
#include "http/render.hpp"

namespace holdfast::app {
namespace {

namespace json = boost::json;

int show_list(const json::value& body, bool as_json) {
  if (as_json) {
    print_json(body, true);
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {{"CHAIN", "ADDRESS", "EPOCH", "LATEST", "PENDING",
                                                 "FINAL", "OPEN", "FROM", "TO", "HANDED",
                                                 "BLOCKED"}};
  for (const json::value& one : body.at("accounts").as_array()) {
    rows.push_back({cell(one, "chain"), cell(one, "address"), cell(one, "epoch"),
                    cell(one, "latest"), cell(one, "pending"), cell(one, "finalized"),
                    cell(one, "unconsumed"), cell(one, "lowest_open"), cell(one, "highest_open"),
                    cell(one, "handed_over"), cell(one, "blocked")});
  }
  print_table(rows);
  return exit_done;
}

}  // namespace

int accounts_list(const Door& door, bool as_json) {
  if (!door.server.empty()) {
    const Asked asked = ask(door.server, {"GET", "/v1/accounts", "", ""});
    return asked.code == exit_done ? show_list(asked.body, as_json) : asked.code;
  }
  const auto path = store_path_of(door.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    std::vector<engine::AccountStatus> accounts;
    for (const store::AccountNumbers& row : store::account_numbers(txn)) {
      accounts.push_back(engine::shown(row));
    }
    return show_list(json::parse(http::render_accounts(accounts)), as_json);
  });
}

}  // namespace holdfast::app
