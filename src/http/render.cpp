#include "http/render.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/ensure.hpp>

#include "http/message.hpp"
#include "http/render_parts.hpp"

namespace holdfast::http {
namespace {

namespace json = boost::json;

json::object key_json(const engine::ApiKey& key) {
  json::object out;
  out["name"] = key.name;
  out["scopes"] = list_of(key.scopes);
  return out;
}

}  // namespace

std::string render_problem(std::string_view code, std::string_view detail) {
  return json::serialize(json::object{{"error", code}, {"detail", detail}});
}

std::string render_intent(const domain::Intent& intent) {
  return json::serialize(intent_json(intent));
}

std::string render_created(const domain::Intent& intent, std::string_view typed_data) {
  json::object out = intent_json(intent);
  if (!typed_data.empty()) {
    boost::system::error_code error;
    out["typed_data"] = json::parse(typed_data, error);
    ensure(!error, "a method's typed data is JSON");
  }
  return json::serialize(out);
}

std::string render_detail(const engine::Detail& detail, bool for_operator) {
  return json::serialize(detail_json(detail, for_operator));
}

std::string render_page(const engine::Page& page) {
  json::object out;
  out["payment_intents"] = each_of(page.intents, intent_json);
  out["next_cursor"] = cursor_json(page.next);
  return json::serialize(out);
}

std::string render_balances(std::span<const engine::BalanceItem> items) {
  json::object out;
  out["balances"] = each_of(items, [](const engine::BalanceItem& item) {
    json::object one;
    one["account"] = item.key.account;
    one["chain"] = item.key.chain.value;
    one["asset"] = item.key.asset.value;
    one["posted"] = item.balance.posted.decimal();
    one["pending"] = item.balance.pending.decimal();
    return one;
  });
  return json::serialize(out);
}

std::string render_events(std::span<const engine::HistoryItem> items, std::int64_t after) {
  json::object out;
  out["events"] = each_of(items, [](const engine::HistoryItem& item) {
    json::object event = history_json(item, true);
    event["payment_intent"] = item.intent ? json::value(domain::text(*item.intent)) : nullptr;
    return event;
  });
  out["next_after"] = items.empty() ? after : items.back().seq;
  return json::serialize(out);
}

std::string render_chains(std::span<const engine::ChainStatus> chains, bool for_operator) {
  json::object out;
  out["chains"] = each_of(chains, [for_operator](const engine::ChainStatus& chain) {
    json::object one;
    one["id"] = chain.id.value;
    one["usable"] = chain.usable;
    if (for_operator) {
      one["why"] = text_or_null(chain.why);
      one["endpoints"] = list_of(chain.endpoints);
    }
    one["latest"] = chain.latest;
    one["finalized"] = chain.finalized;
    one["methods"] = list_of(chain.methods);
    one["accounts"] = list_of(chain.accounts);
    return one;
  });
  return json::serialize(out);
}

std::string render_new_key(const engine::ApiKey& key, std::string_view token) {
  json::object out = key_json(key);
  out["token"] = token;
  return json::serialize(out);
}

std::string render_keys(std::span<const engine::ApiKey> keys) {
  json::object out;
  out["keys"] = each_of(keys, [](const engine::ApiKey& key) {
    json::object one = key_json(key);
    one["created_at"] = rfc3339(key.created_ms);
    one["revoked_at"] = moment_or_null(key.revoked_ms.value_or(0));
    return one;
  });
  return json::serialize(out);
}

std::string render_revoked(std::string_view name) {
  return json::serialize(json::object{{"name", name}, {"revoked", true}});
}

std::string render_health() { return R"({"status":"ok"})"; }

std::string render_readiness(std::span<const std::string> reasons) {
  if (reasons.empty()) return R"({"status":"ready"})";
  std::string detail;
  for (const std::string& reason : reasons) detail += (detail.empty() ? "" : "; ") + reason;
  json::object out{{"error", "not_ready"}, {"detail", detail}};
  out["reasons"] = list_of(reasons);
  return json::serialize(out);
}

}  // namespace holdfast::http
