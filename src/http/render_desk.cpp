// The texts of the operators' desk.
#include <boost/json/serialize.hpp>

#include "http/message.hpp"
#include "http/render.hpp"
#include "http/render_parts.hpp"

namespace holdfast::http {
namespace {

namespace json = boost::json;

json::object letter_json(const engine::DeadLetter& letter) {
  json::object out;
  out["number"] = letter.number;
  out["payment_intent"] = domain::text(letter.job.intent);
  out["ref"] = letter.job.ref.hex();
  out["parked_at"] = rfc3339(letter.at_ms);
  out["verdict"] = letter.verdict;
  out["deliveries"] = letter.deliveries;
  out["lapsed_leases"] = letter.lapsed_leases;
  out["state"] = domain::to_text(letter.state);
  out["cycles"] = letter.cycles;
  out["ended"] = nullptr;
  if (!letter.ended_as.empty()) {
    out["ended"] = {{"as", letter.ended_as},
                    {"by", letter.ended_by},
                    {"why", text_or_null(letter.ended_why)},
                    {"at", rfc3339(letter.ended_ms)}};
  }
  return out;
}

json::object letter_with_state(const engine::DeadLetter& letter) {
  json::object out = letter_json(letter);
  out["state_now"] = domain::to_text(letter.state_now);
  return out;
}

std::string_view name_of(domain::Moved moved) {
  switch (moved) {
    case domain::Moved::exact: return "exact";
    case domain::Moved::less: return "less";
    case domain::Moved::nothing: return "nothing";
    case domain::Moved::other: return "other";
  }
  return "";
}

json::object found_json(const engine::Found& found) {
  json::object out;
  out["tx_hash"] = found.hash.hex();
  out["height"] = found.block.height;
  out["own"] = found.own;
  out["succeeded"] = found.succeeded;
  out["moved"] = name_of(found.moved);
  out["arrived"] = found.arrived.decimal();
  out["verdict"] = domain::to_text(found.verdict);
  return out;
}

json::value sequence_or_null(const std::optional<domain::Sequence>& sequence) {
  if (!sequence) return nullptr;
  return sequence->value;
}

json::object account_json(const engine::AccountStatus& account) {
  const auto counted = [&](domain::Sequence count) {
    return sequence_or_null(account.read ? std::optional(count) : std::nullopt);
  };
  json::object out;
  out["chain"] = account.chain.value;
  out["address"] = account.address.value;
  out["epoch"] = account.epoch;
  out["latest"] = counted(account.latest);
  out["pending"] = counted(account.pending);
  out["finalized"] = counted(account.finalized);
  out["unconsumed"] = account.unconsumed;
  out["handed_over"] = account.handed_over;
  out["lowest_open"] = sequence_or_null(account.lowest_open);
  out["highest_open"] = sequence_or_null(account.highest_open);
  out["highest_used"] = sequence_or_null(account.highest_used);
  out["blocked"] = text_or_null(account.blocked);
  out["trouble"] = text_or_null(account.trouble);
  out["unread"] = each_of(account.found_empty, [](domain::Sequence number) {
    return json::object{{"sequence", number.value}, {"why", "used, by no transaction found"}};
  });
  return out;
}

}  // namespace

std::string render_dead_letter(const engine::DeadLetter& letter) {
  return json::serialize(letter_with_state(letter));
}

std::string render_ended_letter(const engine::DeadLetter& letter) {
  json::object out = letter_json(letter);
  out["note"] = letter.ended_as == "redriven"
                    ? "the job is queued again; a payment in review stays there until evidence or "
                      "a resolution ends the review"
                    : "the payment is left as it is";
  return json::serialize(out);
}

std::string render_dead_letters(const engine::DeadLetterPage& page) {
  json::object out;
  out["dead_letters"] = each_of(page.letters, letter_with_state);
  out["next_cursor"] = cursor_json(page.next);
  return json::serialize(out);
}

std::string render_reviews(const engine::Page& page) {
  json::object out;
  out["reviews"] = each_of(page.intents, intent_json);
  out["next_cursor"] = cursor_json(page.next);
  return json::serialize(out);
}

std::string render_review(const engine::Review& review) {
  json::object out = detail_json(review.detail, true);
  out["earlier_slots"] = each_of(review.detail.earlier_slots, slot_json);
  out["found"] = review.found ? json::value(found_json(*review.found)) : json::value(nullptr);
  out["possible"] = each_of(
      review.possible, [](domain::Resolution as) { return json::string(domain::to_text(as)); });
  return json::serialize(out);
}

std::string render_resolved(const engine::Resolved& resolved, domain::Resolution as) {
  json::object out = intent_json(resolved.intent);
  out["resolution"] = {{"as", domain::to_text(as)}, {"note", resolved.note}};
  return json::serialize(out);
}

std::string render_accounts(std::span<const engine::AccountStatus> accounts) {
  json::object out;
  out["accounts"] = each_of(accounts, account_json);
  return json::serialize(out);
}

std::string render_report(const engine::ReconcileReport& report) {
  json::object out;
  out["chain"] = report.chain.value;
  out["address"] = report.account.value;
  out["looked_at"] = report.looked_at;
  out["skipped"] = report.skipped;
  if (!report.trouble.empty()) out["trouble"] = report.trouble;
  out["changes"] = each_of(report.changes, [](const engine::ReconcileReport::Change& change) {
    json::object one;
    one["sequence"] = change.sequence.value;
    one["from"] = domain::to_text(change.from);
    one["to"] = domain::to_text(change.to);
    one["why"] = change.why;
    return one;
  });
  return json::serialize(out);
}

std::string render_adopted(const engine::AccountStatus& account, domain::Sequence from) {
  return json::serialize(json::object{{"chain", account.chain.value},
                                      {"address", account.address.value},
                                      {"goes_on_from", from.value}});
}

std::string render_acknowledged(const domain::ChainId& chain) {
  return json::serialize(json::object{{"chain", chain.value}, {"acknowledged", true}});
}

}  // namespace holdfast::http
