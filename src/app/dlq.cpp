// Owns: `holdfast dlq list|show|redrive|drop`.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "app/door.hpp"
#include "app/open_store.hpp"
#include "app/system_clock.hpp"
#include "app/tables.hpp"
#include "engine/shown.hpp"
#include "http/render.hpp"

namespace holdfast::app {
namespace {

namespace json = boost::json;

constexpr std::size_t most_listed = 500;
constexpr std::size_t longest_reason = 200;

int show_list(const json::value& body, bool as_json) {
  if (as_json) {
    print_json(body, true);
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {
      {"NUMBER", "PAYMENT", "VERDICT", "STATE", "PARKED", "CYCLES", "ENDED"}};
  for (const json::value& letter : body.at("dead_letters").as_array()) {
    rows.push_back({cell(letter, "number"), cell(letter, "payment_intent"), cell(letter, "verdict"),
                    cell(letter, "state_now"), cell(letter, "parked_at"), cell(letter, "cycles"),
                    cell(letter.at("ended"), "as")});
  }
  print_table(rows);
  return exit_done;
}

std::string path_of(std::int64_t number) { return "/v1/dead_letters/" + std::to_string(number); }

/// Both signatures differ in one word: the write at the store, the route at the server.
int end_letter(const Door& door, std::int64_t number, const std::string& reason, bool redrive) {
  if (reason.size() > longest_reason || (reason.empty() && !redrive)) {
    std::fputs("holdfast: --reason: 1 to 200 bytes\n", stderr);
    return exit_usage;
  }
  if (!door.server.empty()) {
    json::object body;
    if (!reason.empty()) body["reason"] = reason;
    const Asked asked = ask(
        door.server,
        {"POST", path_of(number) + (redrive ? "/redrive" : "/drop"), json::serialize(body), ""});
    if (asked.code == exit_done) print_json(asked.body, false);
    return asked.code;
  }
  const auto path = store_path_of(door.from);
  if (!path) return exit_usage;
  return with_writer(*path, [&](store::Txn& txn) {
    const store::Signature by{os_user(), reason, std::nullopt, SystemClock().wall_ms(), 0};
    const auto ended = redrive ? store::redrive(txn, number, by) : store::drop(txn, number, by);
    if (!ended) return refused(ended.error().detail);
    print_json(json::parse(http::render_ended_letter(engine::shown(ended->letter))), false);
    return exit_done;
  });
}

}  // namespace

int dlq_list(const Door& door, bool all, bool as_json) {
  if (!door.server.empty()) {
    const std::string query = all ? "?open=false&limit=500" : "?limit=500";
    const Asked asked = ask(door.server, {"GET", "/v1/dead_letters" + query, "", ""});
    return asked.code == exit_done ? show_list(asked.body, as_json) : asked.code;
  }
  const auto path = store_path_of(door.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    const auto page = engine::shown(store::dead_letters(txn, most_listed, 0, !all));
    return show_list(json::parse(http::render_dead_letters(page)), as_json);
  });
}

int dlq_show(const Door& door, std::int64_t number, bool as_json) {
  if (!door.server.empty()) {
    const Asked asked = ask(door.server, {"GET", path_of(number), "", ""});
    if (asked.code == exit_done) print_json(asked.body, as_json);
    return asked.code;
  }
  const auto path = store_path_of(door.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    const auto letter = store::dead_letter(txn, number);
    if (!letter) return refused("there is no dead letter " + std::to_string(number));
    print_json(json::parse(http::render_dead_letter(engine::shown(*letter))), as_json);
    return exit_done;
  });
}

int dlq_redrive(const Door& door, std::int64_t number, const std::string& reason) {
  return end_letter(door, number, reason, true);
}

int dlq_drop(const Door& door, std::int64_t number, const std::string& reason) {
  return end_letter(door, number, reason, false);
}

}  // namespace holdfast::app
