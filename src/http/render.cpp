#include "http/render.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/ensure.hpp>

#include "http/message.hpp"

namespace holdfast::http {
namespace {

namespace json = boost::json;

json::value text_or_null(std::string_view text) {
  if (text.empty()) return nullptr;
  return json::string(text);
}

template <class Fixed>
json::value hex_or_null(const std::optional<Fixed>& bytes) {
  if (!bytes) return nullptr;
  return json::string(bytes->hex());
}

json::value moment_or_null(std::int64_t wall_ms) {
  if (wall_ms == 0) return nullptr;
  return json::string(rfc3339(wall_ms));
}

json::array list_of(std::span<const std::string> texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

json::object intent_json(const domain::Intent& intent) {
  json::object out;
  out["id"] = domain::text(intent.id);
  out["ref"] = intent.ref.hex();
  out["state"] = domain::to_text(intent.state);
  out["version"] = intent.version;
  out["chain"] = intent.terms.chain.value;
  out["method"] = intent.terms.method.value;
  out["asset"] = intent.terms.asset.value;
  out["payer"] = intent.terms.payer.value;
  out["payee"] = intent.terms.payee.value;
  out["amount"] = intent.terms.amount.decimal();
  out["tx_hash"] = hex_or_null(intent.tx_hash);
  out["reason"] = text_or_null(intent.reason);
  out["cancel_asked"] = intent.cancel_asked;
  out["created_at"] = rfc3339(intent.created_ms);
  out["updated_at"] = rfc3339(intent.updated_ms);
  out["publish_before"] = rfc3339(intent.publish_before_s * 1000);
  if (intent.bearer) {
    out["validity"] = {{"after", intent.validity.after_s}, {"before", intent.validity.before_s}};
  }
  return out;
}

json::value slot_json(const std::optional<domain::Slot>& slot) {
  if (!slot) return nullptr;
  json::object out;
  out["account"] = slot->account.value;
  out["sequence"] = slot->sequence.value;
  out["state"] = domain::to_text(slot->state);
  return out;
}

json::object attempt_json(const domain::Attempt& attempt) {
  json::object out;
  out["hash"] = hex_or_null(attempt.hash);
  out["kind"] = domain::to_text(attempt.kind);
  out["outcome"] = domain::to_text(attempt.outcome);
  out["max_fee"] = attempt.fees.max_fee.decimal();
  out["priority_fee"] = attempt.fees.priority_fee.decimal();
  out["gas_limit"] = attempt.fees.gas_limit;
  out["stored_at"] = rfc3339(attempt.stored_ms);
  out["posted_at"] = moment_or_null(attempt.posted_ms);
  return out;
}

json::object history_json(const engine::HistoryItem& item, bool with_who) {
  json::object out;
  out["seq"] = item.seq;
  out["at"] = rfc3339(item.at_ms);
  out["kind"] = item.kind;
  out["from"] = text_or_null(item.from);
  out["to"] = text_or_null(item.to);
  out["actor"] = text_or_null(item.actor);
  if (with_who) out["who"] = text_or_null(item.who);
  out["reason"] = text_or_null(item.reason);
  out["tx_hash"] = hex_or_null(item.tx_hash);
  out["version"] = item.version;
  return out;
}

json::object journal_json(const engine::JournalItem& item) {
  json::object out;
  out["sequence"] = item.sequence;
  out["id"] = item.entry.id;
  out["kind"] = domain::to_text(item.entry.kind);
  out["chain"] = item.entry.chain.value;
  out["asset"] = item.entry.asset.value;
  out["at"] = rfc3339(item.entry.at_ms);
  json::array legs;
  for (const domain::Leg& leg : item.entry.legs) {
    legs.push_back({{"account", leg.account}, {"amount", leg.amount.decimal()}});
  }
  out["legs"] = std::move(legs);
  out["hash"] = to_0x(item.hash);
  return out;
}

json::object key_json(const engine::ApiKey& key) {
  json::object out;
  out["name"] = key.name;
  out["scopes"] = list_of(key.scopes);
  return out;
}

template <class Items, class One>
json::array each(const Items& items, One one) {
  json::array out;
  for (const auto& item : items) out.push_back(one(item));
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
  json::object out = intent_json(detail.intent);
  out["slot"] = slot_json(detail.slot);
  out["attempts"] = each(detail.attempts, attempt_json);
  out["history"] = each(detail.history, [for_operator](const engine::HistoryItem& item) {
    return history_json(item, for_operator);
  });
  out["journal"] = each(detail.journal, journal_json);
  return json::serialize(out);
}

std::string render_page(const engine::Page& page) {
  json::object out;
  out["payment_intents"] = each(page.intents, intent_json);
  out["next_cursor"] =
      page.next == 0 ? json::value(nullptr) : json::string(std::to_string(page.next));
  return json::serialize(out);
}

std::string render_balances(std::span<const engine::BalanceItem> items) {
  json::object out;
  out["balances"] = each(items, [](const engine::BalanceItem& item) {
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
  out["events"] = each(items, [](const engine::HistoryItem& item) {
    json::object event = history_json(item, true);
    event["payment_intent"] = item.intent ? json::value(domain::text(*item.intent)) : nullptr;
    return event;
  });
  out["next_after"] = items.empty() ? after : items.back().seq;
  return json::serialize(out);
}

std::string render_chains(std::span<const engine::ChainStatus> chains, bool for_operator) {
  json::object out;
  out["chains"] = each(chains, [for_operator](const engine::ChainStatus& chain) {
    json::object one;
    one["id"] = chain.id.value;
    one["usable"] = chain.usable;
    if (for_operator) one["why"] = text_or_null(chain.why);
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
  out["keys"] = each(keys, [](const engine::ApiKey& key) {
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
