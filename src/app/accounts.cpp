// Owns: `holdfast accounts list|reconcile|adopt` and `holdfast chains list|acknowledge`.
#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "app/account_list.hpp"
#include "app/door.hpp"
#include "app/open_store.hpp"
#include "app/tables.hpp"
#include "engine/shown.hpp"
#include "http/render.hpp"

namespace holdfast::app {
namespace {

namespace json = boost::json;

/// What is wrong with the account besides its being blocked, in a line; or "-".
std::string trouble_of(const json::value& account) {
  std::string trouble = cell(account, "trouble");
  std::string numbers;
  for (const json::value& one : account.at("unread").as_array()) {
    numbers += (numbers.empty() ? "" : ", ") + cell(one, "sequence");
  }
  if (numbers.empty()) return trouble;
  return (trouble == "-" ? "" : trouble + "; ") + "used, by no transaction found: " + numbers;
}

std::string yes_if_said(const std::string& sentence) { return sentence == "-" ? "-" : "yes"; }

int show_list(const json::value& body, bool as_json) {
  if (as_json) {
    print_json(body, true);
    return exit_done;
  }
  for (const std::string& line : account_lines(body)) std::printf("%s\n", line.c_str());
  return exit_done;
}

/// A segment of a path as the names of chains and accounts can be; anything else names nothing.
bool is_segment(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '-' || c == '_' || c == '.';
  });
}

int bad_option(const char* sentence) {
  std::fprintf(stderr, "holdfast: %s\n", sentence);
  return exit_usage;
}

int post(const std::string& server, const std::string& target, const json::object& body) {
  const Asked asked = ask(server, {"POST", target, json::serialize(body), ""});
  if (asked.code == exit_done) print_json(asked.body, false);
  return asked.code;
}

constexpr const char* no_names = "CHAIN and ADDRESS: letters, digits, ':', '-', '_' and '.'";
constexpr const char* no_reason = "--reason: 1 to 200 bytes";
bool is_reason(const std::string& reason) { return !reason.empty() && reason.size() <= 200; }

}  // namespace

std::vector<std::string> account_lines(const json::value& body) {
  Rows rows = {{"CHAIN", "ADDRESS", "EPOCH", "LATEST", "PENDING", "FINAL", "OPEN", "FROM", "TO",
                "HANDED", "BLOCKED", "TROUBLE"}};
  std::vector<std::string> sentences;
  for (const json::value& one : body.at("accounts").as_array()) {
    const std::string blocked = cell(one, "blocked");
    const std::string trouble = trouble_of(one);
    rows.push_back({cell(one, "chain"), cell(one, "address"), cell(one, "epoch"),
                    cell(one, "latest"), cell(one, "pending"), cell(one, "finalized"),
                    cell(one, "unconsumed"), cell(one, "lowest_open"), cell(one, "highest_open"),
                    cell(one, "handed_over"), yes_if_said(blocked), yes_if_said(trouble)});
    const auto say = [&](std::string what, const std::string& sentence) {
      if (sentence == "-") return;
      what.insert(0, cell(one, "chain") + " " + cell(one, "address") + ", ");
      sentences.push_back(std::move(what.append(sentence)));
    };
    say("blocked: ", blocked);
    say("trouble: ", trouble);
  }
  std::vector<std::string> lines = table_lines(rows);
  lines.insert(lines.end(), sentences.begin(), sentences.end());
  return lines;
}

int accounts_reconcile(const std::string& server, const std::string& chain,
                       const std::string& address) {
  if (!is_segment(chain) || !is_segment(address)) return bad_option(no_names);
  return post(server, "/v1/accounts/" + chain + "/" + address + "/reconcile", {});
}

int accounts_adopt(const std::string& server, const std::string& chain, const std::string& address,
                   const std::string& reason) {
  if (!is_segment(chain) || !is_segment(address)) return bad_option(no_names);
  if (!is_reason(reason)) return bad_option(no_reason);
  return post(server, "/v1/accounts/" + chain + "/" + address + "/adopt", {{"reason", reason}});
}

int chains_list(const std::string& server, bool as_json) {
  const Asked asked = ask(server, {"GET", "/v1/chains", "", ""});
  if (asked.code != exit_done) return asked.code;
  if (as_json) {
    print_json(asked.body, true);
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {{"CHAIN", "USABLE", "LATEST", "FINAL", "WHY"}};
  for (const json::value& one : asked.body.at("chains").as_array()) {
    rows.push_back({cell(one, "id"), one.at("usable").as_bool() ? "yes" : "no", cell(one, "latest"),
                    cell(one, "finalized"), cell(one, "why")});
  }
  print_table(rows);
  return exit_done;
}

int chains_acknowledge(const std::string& server, const std::string& chain,
                       const std::string& reason) {
  if (!is_segment(chain)) return bad_option(no_names);
  if (!is_reason(reason)) return bad_option(no_reason);
  return post(server, "/v1/chains/" + chain + "/acknowledge", {{"reason", reason}});
}

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
