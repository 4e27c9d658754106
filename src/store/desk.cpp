#include "store/desk.hpp"

#include "store/events.hpp"
#include "store/rows.hpp"
#include "store/writes.hpp"

namespace holdfast::store {

Result<std::optional<EarlierAnswer>> earlier_answer(Txn& txn, const domain::IntentId& id,
                                                    const Request& request) {
  const auto row = load_intent(txn, id);
  if (!row) return refuse(StoreError::not_found, "there is no payment " + text(id));
  const auto history = events_of(txn, row->row);
  const auto at = answered_before(history, request);
  if (at.has_error()) return at.error();
  if (!*at) return std::optional<EarlierAnswer>{};
  return std::optional(EarlierAnswer{as_shown_after(row->intent, history, **at), history.at(**at)});
}

Result<domain::Facts> record_rebroadcast(Txn& txn, const Rebroadcast& done) {
  auto payment = load_payment(txn, done.id);
  if (!payment || payment->find_attempt(done.post.attempt) == nullptr) {
    return refuse(StoreError::not_found, "there is no such attempt of " + text(done.id));
  }
  const auto recorded = record_post(txn, done.post);
  if (recorded.has_error()) return recorded.error();
  payment = load_payment(txn, done.id);
  Event event;
  event.at_ms = done.post.now_ms;
  event.kind = "rebroadcast";
  event.actor = domain::Actor::operator_;
  event.who = done.who;
  event.reason = std::string("answered ")
                     .append(domain::to_text(done.post.outcome))
                     .append(done.post.detail.empty() ? "" : " (" + done.post.detail + ")")
                     .append(": ")
                     .append(done.reason);
  event.tx_hash = payment->find_attempt(done.post.attempt)->hash;
  event.version = payment->intent().version;
  event.request = done.request;
  add_event(txn, payment->row.row, event);
  return std::move(*payment).facts();
}

std::vector<AccountNumbers> account_numbers(Txn& txn) {
  std::vector<AccountNumbers> out;
  each(txn,
       "SELECT a.chain, a.address, a.epoch, count(o.row), coalesce(sum(o.handed_over), 0),"
       " min(o.sequence), max(o.sequence),"
       " (SELECT max(t.sequence) FROM slots t WHERE t.account = a.row AND t.standing <> 'released')"
       " FROM accounts a LEFT JOIN slots o ON o.account = a.row AND o.standing = 'open'"
       " GROUP BY a.row ORDER BY a.row LIMIT 1000",
       [&](const Row& row) {
         out.push_back({{std::string(row.text(0))},
                        {std::string(row.text(1))},
                        row.count(2),
                        row.small_count(3),
                        row.small_count(4),
                        row.maybe_sequence(5),
                        row.maybe_sequence(6),
                        row.maybe_sequence(7)});
       });
  return out;
}

}  // namespace holdfast::store
