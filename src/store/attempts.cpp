// Storing what was signed, before it is posted, and what a post told.
#include <algorithm>

#include "base/teeth.hpp"
#include "store/rows.hpp"
#include "store/slots.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

using domain::AttemptKind;
using domain::SlotState;

Error not_signable(std::string sentence) {
  return refuse(StoreError::not_signable, std::move(sentence));
}

/// Where there is no sequence nothing tells one run from two: a sender is asked once.
Result<void> check_without_slot(const Payment& payment) {
  if (payment.current_slot() != nullptr &&
      payment.current_slot()->slot.state != SlotState::consumed) {
    return not_signable(text(payment.intent().id) + " has a slot, and the attempt names none");
  }
  const bool asked = std::any_of(payment.attempts.begin(), payment.attempts.end(),
                                 [](const domain::Attempt& attempt) { return !attempt.slot; });
  if (asked) return not_signable(text(payment.intent().id) + " was given to a sender before");
  return {};
}

Result<void> check_slot(const SlotRow* row, const AttemptToStore& wanted) {
  if (row == nullptr || row->slot.id != wanted.attempt.slot) {
    return not_signable("the slot is not " + text(wanted.id) + "'s current one");
  }
  const domain::Slot& slot = row->slot;
  if (slot.state != SlotState::reserved && !domain::is_signed_and_unconsumed(slot.state)) {
    return not_signable("the slot is " + std::string(domain::to_text(slot.state)));
  }
  if (slot.handed_over) return not_signable("the slot was handed to the account");
  if (row->epoch != wanted.epoch) {
    return refuse(StoreError::stale_epoch,
                  slot.account.value + " was taken over by another engine");
  }
  return {};
}

Result<void> check_storable(const Payment& payment, const AttemptToStore& wanted) {
  if (wanted.attempt.kind != AttemptKind::pay) return not_signable("a noop is the account's");
  if (wanted.attempt.fees.gas_limit > largest_stored) {
    return not_signable("the gas limit is over 2^63 - 1");
  }
  if (planted(Tooth::fence_ignored)) return {};
  const domain::Intent& intent = payment.intent();
  if (intent.version != wanted.version) {
    return refuse(StoreError::version_conflict, text(intent.id) + " changed meanwhile");
  }
  if (intent.state != domain::IntentState::settling) {
    return not_signable(text(intent.id) + " is " + std::string(domain::to_text(intent.state)));
  }
  if (payment.row.receipt != wanted.receipt) {
    return refuse(StoreError::stale_receipt,
                  "the job of " + text(intent.id) + " was handed to somebody else, or is gone");
  }
  return wanted.attempt.slot ? check_slot(payment.current_slot(), wanted)
                             : check_without_slot(payment);
}

}  // namespace

domain::AttemptId insert_attempt(Txn& txn, const domain::Attempt& attempt,
                                 std::optional<std::int64_t> intent_row) {
  execute(txn,
          "INSERT INTO attempts (intent, slot, kind, bytes, hash, max_fee, priority_fee, gas_limit,"
          " outcome, detail, stored_ms, posted_ms)"
          " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', $10, 0)",
          intent_row, attempt.slot, domain::to_text(attempt.kind), attempt.bytes, attempt.hash,
          attempt.fees.max_fee.big_endian(), attempt.fees.priority_fee.big_endian(),
          attempt.fees.gas_limit, domain::to_text(attempt.outcome), attempt.stored_ms);
  return {txn.db().last_rowid()};
}

Result<domain::Facts> store_attempt(Txn& txn, const AttemptToStore& wanted) {
  auto payment = load_payment(txn, wanted.id);
  if (!payment) return refuse(StoreError::not_found, "there is no payment " + text(wanted.id));
  if (const auto good = check_storable(*payment, wanted); good.has_error()) return good.error();

  domain::Attempt attempt = wanted.attempt;
  attempt.intent = wanted.id;
  attempt.outcome = domain::AttemptOutcome::stored;
  attempt.detail.clear();
  attempt.stored_ms = wanted.now_ms;
  attempt.posted_ms = 0;
  attempt.id = insert_attempt(txn, attempt, payment->row.row);
  payment->attempts.push_back(std::move(attempt));
  SlotRow* row = wanted.attempt.slot ? payment->current_slot() : nullptr;
  if (row != nullptr && row->slot.state == SlotState::reserved) {
    ensure(move_along(row->slot, SlotState::signed_), "a reserved slot cannot be signed");
    save_slot(txn, row->slot, wanted.now_ms);
  }
  save_version(txn, payment->row, wanted.now_ms);
  return std::move(*payment).facts();
}

Result<void> record_post(Txn& txn, const PostRecord& record) {
  const auto attempt = load_attempt(txn, record.attempt);
  if (!attempt) return refuse(StoreError::not_found, "there is no such attempt");
  if (record.hash && attempt->hash && *record.hash != *attempt->hash) {
    return refuse(StoreError::unproven, "the post's hash is not the attempt's");
  }
  auto slot = attempt->slot ? load_slot(txn, *attempt->slot) : std::nullopt;
  const bool reached_node = record.outcome == domain::AttemptOutcome::accepted && slot &&
                            domain::may_move(slot->slot.state, SlotState::broadcast);
  const auto hash = attempt->hash ? attempt->hash : record.hash;
  // What a node once had, or may have had, is not made unsent by a later post that never left.
  const bool went_out = attempt->outcome == domain::AttemptOutcome::accepted ||
                        attempt->outcome == domain::AttemptOutcome::unknown;
  const auto outcome = went_out && record.outcome == domain::AttemptOutcome::not_sent
                           ? attempt->outcome
                           : record.outcome;
  const bool changes = attempt->outcome != outcome || attempt->hash != hash;
  execute(txn,
          "UPDATE attempts SET outcome = $1, detail = $2, hash = $3, posted_ms = $4 WHERE row = $5",
          domain::to_text(outcome), record.detail, hash, record.now_ms, record.attempt);
  if (reached_node) {
    slot->slot.state = SlotState::broadcast;
    save_slot(txn, slot->slot, record.now_ms);
  }
  // The same answer again is no change of the attempts.
  const bool kept = planted(Tooth::outcome_unversioned);
  if ((changes || reached_node) && attempt->intent && !kept) {
    const auto row = load_intent(txn, *attempt->intent);
    ensure(row.has_value(), "an attempt belongs to no payment");
    raise_version(txn, row->row, record.now_ms);
  }
  return {};
}

}  // namespace holdfast::store
