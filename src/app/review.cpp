// Owns: `holdfast review list|show|resolve|abandon`.
// Must never: resolve anything without a running engine: the proofs are read from the chain.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "app/door.hpp"
#include "app/open_store.hpp"
#include "app/system_clock.hpp"
#include "app/tables.hpp"
#include "engine/shown.hpp"
#include "http/render.hpp"
#include "store/reads.hpp"

namespace holdfast::app {
namespace {

namespace json = boost::json;

constexpr std::size_t most_listed = 500;

int bad_option(const char* sentence) {
  std::fprintf(stderr, "holdfast: %s\n", sentence);
  return exit_usage;
}

bool is_reason(const std::string& reason) { return !reason.empty() && reason.size() <= 200; }

int show_list(const json::value& body, bool as_json) {
  if (as_json) {
    print_json(body, true);
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {
      {"PAYMENT", "REASON", "SINCE", "CHAIN", "METHOD", "ASSET", "AMOUNT"}};
  for (const json::value& one : body.at("reviews").as_array()) {
    rows.push_back({cell(one, "id"), cell(one, "reason"), cell(one, "updated_at"),
                    cell(one, "chain"), cell(one, "method"), cell(one, "asset"),
                    cell(one, "amount")});
  }
  print_table(rows);
  return exit_done;
}

int post(const std::string& server, const std::string& target, const json::object& body) {
  const Asked asked = ask(server, {"POST", target, json::serialize(body), ""});
  if (asked.code == exit_done) print_json(asked.body, false);
  return asked.code;
}

int show_stored(store::Txn& txn, const domain::IntentId& id, bool as_json) {
  auto facts = store::find_facts(txn, id);
  if (!facts) return refused("there is no payment " + domain::text(id));
  if (facts->intent.state != domain::IntentState::needs_review) {
    return refused("the payment is " + std::string(domain::to_text(facts->intent.state)) +
                   ", not in review");
  }
  domain::Now now;
  now.wall_ms = SystemClock().wall_ms();
  engine::Review review;
  review.possible = engine::possible_resolutions(*facts, now);
  review.detail =
      engine::shown(std::move(*facts), store::history_of(txn, id), store::entries_of(txn, id));
  print_json(json::parse(http::render_review(review)), as_json);
  return exit_done;
}

}  // namespace

int review_list(const Door& door, bool as_json) {
  if (!door.server.empty()) {
    const Asked asked = ask(door.server, {"GET", "/v1/reviews?limit=500", "", ""});
    return asked.code == exit_done ? show_list(asked.body, as_json) : asked.code;
  }
  const auto path = store_path_of(door.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    store::ListFilter filter;
    filter.state = domain::IntentState::needs_review;
    filter.limit = most_listed;
    store::IntentPage found = store::list_intents(txn, filter);
    const engine::Page page{std::move(found.intents), found.next};
    return show_list(json::parse(http::render_reviews(page)), as_json);
  });
}

int review_show(const Door& door, const std::string& id, bool as_json) {
  const auto known = domain::intent_id_from(id);
  if (!known) return bad_option("ID: \"pi_\" and 32 hex digits are needed");
  if (!door.server.empty()) {
    const Asked asked = ask(door.server, {"GET", "/v1/reviews/" + id, "", ""});
    if (asked.code == exit_done) print_json(asked.body, as_json);
    return asked.code;
  }
  const auto path = store_path_of(door.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) { return show_stored(txn, *known, as_json); });
}

int review_resolve(const std::string& server, const ResolveChoice& wanted) {
  if (!domain::intent_id_from(wanted.id)) {
    return bad_option("ID: \"pi_\" and 32 hex digits are needed");
  }
  if (!domain::resolution_from(wanted.as)) {
    return bad_option(("--as: must be one of " + domain::resolutions_as_text()).c_str());
  }
  if (!is_reason(wanted.reason)) return bad_option("--reason: 1 to 200 bytes");
  json::object body{{"as", wanted.as}, {"reason", wanted.reason}};
  if (!wanted.tx_hash.empty()) body["tx_hash"] = wanted.tx_hash;
  if (!wanted.consumers.empty()) {
    body["consumers"] = json::array(wanted.consumers.begin(), wanted.consumers.end());
  }
  return post(server, "/v1/payment_intents/" + wanted.id + "/resolve", body);
}

int review_abandon(const std::string& server, const std::string& id, const std::string& reason) {
  if (!domain::intent_id_from(id)) {
    return bad_option("ID: \"pi_\" and 32 hex digits are needed");
  }
  if (!is_reason(reason)) return bad_option("--reason: 1 to 200 bytes");
  return post(server, "/v1/payment_intents/" + id + "/abandon", {{"reason", reason}});
}

}  // namespace holdfast::app
