#include "http/render_parts.hpp"

#include "http/message.hpp"

namespace holdfast::http {

namespace json = boost::json;

json::value text_or_null(std::string_view text) {
  if (text.empty()) return nullptr;
  return json::string(text);
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
  out.reserve(24);  // all that is told of it, with what a detail adds
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

json::object slot_json(const domain::Slot& slot) {
  json::object out;
  out["account"] = slot.account.value;
  out["sequence"] = slot.sequence.value;
  out["state"] = domain::to_text(slot.state);
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

json::object detail_json(const engine::Detail& detail, bool for_operator) {
  json::object out = intent_json(detail.intent);
  out["slot"] = detail.slot ? json::value(slot_json(*detail.slot)) : json::value(nullptr);
  out["attempts"] = each_of(detail.attempts, attempt_json);
  out["history"] = each_of(detail.history, [for_operator](const engine::HistoryItem& item) {
    return history_json(item, for_operator);
  });
  out["journal"] = each_of(detail.journal, journal_json);
  return out;
}

json::value cursor_json(std::int64_t next) {
  return next == 0 ? json::value(nullptr) : json::value(json::string(std::to_string(next)));
}

}  // namespace holdfast::http
