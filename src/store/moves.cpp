#include "store/moves.hpp"

#include <algorithm>

#include "base/teeth.hpp"
#include "store/dead_letters.hpp"
#include "store/events.hpp"
#include "store/evidence_checks.hpp"
#include "store/reads.hpp"
#include "store/redemptions.hpp"

namespace holdfast::store {

using domain::Effect;
using domain::IntentState;
using domain::Need;
using domain::Transition;
using domain::TransitionError;

Result<bool> Mover::run() {
  if (const auto loaded = load(); loaded.has_error()) return loaded.error();
  const auto replay = is_replay();
  if (replay.has_error()) return replay.error();
  if (*replay) {
    if (move_.ack && move_.receipt && payment_.row.receipt == move_.receipt) {
      end_lease(txn_, *move_.receipt);
    }
    return false;
  }
  if (const auto none = check_races(); none.has_error()) return none.error();
  const auto row = find_row();
  if (row.has_error()) return row.error();
  if (const auto given = check_given(*row); given.has_error()) return given.error();
  if (const auto planned = plan(*row); planned.has_error()) return planned.error();
  write(*row);
  return true;
}

Result<void> Mover::load() {
  auto payment = load_payment(txn_, move_.id);
  const bool theirs = payment && (!move_.caller || payment->intent().caller == *move_.caller);
  if (!theirs) return refuse(StoreError::not_found, "there is no payment " + text(move_.id));
  payment_ = std::move(*payment);
  return {};
}

// ---- checks
// -----------------------------------------------------------------------------------------

bool Mover::asks_authorize() const {
  return move_.to == IntentState::authorized && move_.authorization.has_value();
}

// An authorization that is there already is what was asked for, however far the payment has come
// since. A canceled payment is no payment any more: that is told as it is.
Result<bool> Mover::is_replay() const {
  const domain::Intent& intent = payment_.intent();
  if (asks_authorize() && intent.authorization && intent.state != IntentState::canceled) {
    if (*intent.authorization == *move_.authorization) return true;
    return refuse(StoreError::already_authorized,
                  text(intent.id) + " is authorized already, by another authorization");
  }
  return intent.state == move_.to;
}

Result<void> Mover::check_races() const {
  const domain::Intent& intent = payment_.intent();
  if (domain::is_terminal(intent.state)) return {};  // the table says so, and that ends it
  if (planted(Tooth::claim_unchecked)) return {};
  const bool other_version = move_.version && *move_.version != intent.version;
  const bool other_state = move_.from && *move_.from != intent.state;
  if (other_version || other_state) {
    return refuse(StoreError::version_conflict, text(intent.id) + " changed meanwhile: it is " +
                                                    std::string(domain::to_text(intent.state)) +
                                                    " at version " +
                                                    std::to_string(intent.version));
  }
  ensure(!move_.ack || move_.receipt.has_value(), "a move acks without a receipt");
  ensure(move_.park.empty() || move_.ack, "a move parks a job it does not end");
  if (move_.receipt && payment_.row.receipt != move_.receipt) {
    return refuse(StoreError::stale_receipt,
                  "the job of " + text(intent.id) + " was handed to somebody else, or is gone");
  }
  return {};
}

// What is offered as evidence or proof is held against the rows in check_given, for each row of the
// table that needs it.
Result<Transition> Mover::find_row() const {
  domain::Offer offer;
  offer.actor = move_.actor;
  offer.reason = !move_.reason.empty();
  offer.tx_hash = move_.tx_hash.has_value();
  offer.final_evidence = move_.final_tx.has_value();
  offer.unredeemable = move_.proof.has_value();
  offer.no_attempt = payment_.attempts.empty();
  const auto row = domain::check_transition(payment_.intent().state, move_.to, offer);
  if (row.has_error()) return row.error();
  ensure(row->has_value(), "a replay reached the table");
  return **row;
}

// What was never asked to be sent may end without a proof, and what was asked by the end of all its
// numbers; but a store that was put back has forgotten some of what it asked, and a transaction
// that carries its ref says so.
Result<void> Mover::check_absence(const Transition& row) const {
  const bool by_absence =
      row.to == IntentState::canceled ||
      (move_.proof && !std::holds_alternative<domain::AuthorizationDead>(*move_.proof));
  if (!by_absence) return {};
  if (is_restored(txn_)) {
    return refuse(StoreError::restored,
                  "the store was put back from a backup: " + text(move_.id) +
                      " may have been sent, and ends once the accounts are adopted");
  }
  // Whoever drives the payment has read that transaction, and knows that it moved nothing.
  const bool was_read =
      payment_.intent().state != IntentState::created &&
      (move_.actor == domain::Actor::system || move_.actor == domain::Actor::relayer);
  if (!payment_.ref_found_in.empty() && !was_read) {
    return refuse(StoreError::unproven, "transaction 0x" +
                                            payment_.ref_found_in.front().hash.hex() +
                                            " carries the ref of " + text(move_.id) +
                                            ": it was sent, and what that did is read first");
  }
  return {};
}

Result<void> Mover::check_given(const Transition& row) const {
  if (const auto absent = check_absence(row); absent.has_error()) return absent;
  if (has(row.needs, Need::final_evidence)) {
    const auto proven = check_final_evidence(payment_, move_);
    if (proven.has_error()) return proven;
  }
  if (has(row.needs, Need::unredeemable)) {
    const auto proven = check_unredeemable(payment_, *move_.proof);
    if (proven.has_error()) return proven;
  }
  if (row.to == IntentState::needs_review) {
    const auto known = domain::review_reasons();
    if (std::find(known.begin(), known.end(), move_.reason) == known.end()) {
      return refuse(TransitionError::missing_need, "'" + move_.reason + "' is no review reason");
    }
  }
  if (row.to == IntentState::authorized) {
    const auto good = check_authorization();
    if (good.has_error()) return good;
  }
  return check_accepted();
}

Result<void> Mover::check_authorization() const {
  const domain::Intent& intent = payment_.intent();
  if (intent.bearer != move_.authorization.has_value()) {
    return refuse(TransitionError::missing_need,
                  intent.bearer ? text(intent.id) + " lacks the payer's authorization"
                                : text(intent.id) + " takes no authorization");
  }
  if (!intent.bearer) return {};
  return check_redeemable(txn_, intent.id, intent.terms, *move_.authorization);
}

Result<void> Mover::check_accepted() const {
  if (!move_.accepted) return {};
  const domain::Attempt* const own =
      move_.tx_hash ? domain::own_pay(payment_.attempts, *move_.tx_hash) : nullptr;
  if (own != nullptr && own->id == *move_.accepted) return {};
  return refuse(StoreError::unproven,
                "the accepted attempt is not a payment of " + text(move_.id) + " with that hash");
}

// ---- the effects, decided
// ------------------------------------------------------------------------

Result<void> Mover::plan(const Transition& row) {
  // Without candidates nothing is reserved: no sequences, or the money was moved by somebody else.
  if (has(row.effects, Effect::reserve) && !move_.candidates.empty()) {
    auto reservation =
        plan_reservation(txn_, payment_,
                         {move_.candidates, move_.max_unconsumed,
                          /*fresh_if_unusable=*/row.from == IntentState::needs_review});
    if (reservation.has_error()) return reservation.error();
    reservation_ = std::move(*reservation);
  }
  auto journal = plan_journal(row);
  if (journal.has_error()) return journal;
  auto slots = plan_slots(row);
  if (slots.has_error()) return slots;
  return posting_ ? posting_->balance() : Result<void>{};
}

Result<void> Mover::plan_journal(const Transition& row) {
  const bool any = has(row.effects, Effect::journal_hold) ||
                   has(row.effects, Effect::journal_post) || has(row.effects, Effect::journal_void);
  if (planted(Tooth::void_early) && row.to == IntentState::needs_review) {
    return posting_.emplace(txn_, payment_.row.row).void_hold(move_.now_ms);
  }
  if (!any) return {};
  posting_.emplace(txn_, payment_.row.row);
  if (planted(Tooth::hold_skipped) && has(row.effects, Effect::journal_hold)) return {};
  if (has(row.effects, Effect::journal_hold))
    return posting_->hold(payment_.intent(), move_.now_ms);
  if (has(row.effects, Effect::journal_post)) {
    const bool asked = planted(Tooth::asked_is_arrived);
    return posting_->post(payment_.intent(), asked ? payment_.intent().terms.amount : move_.arrived,
                          move_.now_ms);
  }
  return posting_->void_hold(move_.now_ms);
}

Result<void> Mover::plan_slots(const Transition& row) {
  slots_.emplace(txn_, payment_);
  if (move_.accepted) {
    domain::Attempt* attempt = payment_.find_attempt(*move_.accepted);
    attempt->outcome = domain::AttemptOutcome::accepted;
    attempt->posted_ms = move_.now_ms;
    if (attempt->slot) slots_->broadcast(*attempt->slot);
  }
  if (has(row.effects, Effect::release_unsigned)) slots_->release_unsigned();
  if (!has(row.effects, Effect::end_slot)) return {};
  ensure(posting_.has_value(), "a row of the table ends a slot without a journal entry");
  if (has(row.needs, Need::final_evidence)) {
    const auto consumed = slots_->consume(*move_.final_tx, *posting_, move_.now_ms);
    if (consumed.has_error()) return consumed;
  }
  if (has(row.needs, Need::unredeemable)) {
    if (const auto* proof = std::get_if<domain::AllSlotsConsumed>(&*move_.proof)) {
      for (const domain::FinalConsumer& consumer : proof->consumers) {
        const auto consumed = slots_->consume(consumer.tx, *posting_, move_.now_ms);
        if (consumed.has_error()) return consumed;
      }
    }
  }
  slots_->end_current();
  return {};
}

// ---- the effects, written
// ------------------------------------------------------------------------

void Mover::write(const Transition& row) {
  write_standing(row);
  if (reservation_) write_reservation(txn_, payment_, *reservation_, move_.now_ms);
  write_accepted();
  slots_->write(move_.now_ms);
  if (posting_) posting_->write();
  note_final();
  write_job(row);
  write_event(row);
  if (!move_.park.empty()) {
    park_job(txn_, payment_.row, *move_.receipt, move_.park, move_.who, move_.now_ms);
  }
}

void Mover::write_standing(const Transition& row) {
  domain::Intent& intent = payment_.intent();
  if (row.to == IntentState::authorized && move_.authorization) {
    intent.authorization = move_.authorization;
    save_authorization(txn_, payment_.row);
  }
  intent.state = row.to;
  intent.reason = move_.reason;
  const bool keeps = planted(Tooth::old_hash_kept) && row.to == IntentState::settled;
  if (move_.tx_hash && !keeps) intent.tx_hash = move_.tx_hash;
  // Taken back from confirming it goes on settling where it was; a claim, and an operator's sending
  // back after a review, start anew.
  const bool claimed = row.to == IntentState::settling && row.from != IntentState::confirming;
  if (claimed) intent.settling_ms = move_.now_ms;
  save_standing(txn_, payment_.row, move_.now_ms);
  const bool never_asked = row.to == IntentState::failed && move_.proof &&
                           std::holds_alternative<domain::NeverAsked>(*move_.proof);
  if (intent.authorization && (row.to == IntentState::canceled || never_asked)) {
    end_redemption(txn_, payment_.row.row);
  }
}

void Mover::write_accepted() {
  if (!move_.accepted) return;
  const auto changed =
      execute(txn_, "UPDATE attempts SET outcome = $1, detail = '', posted_ms = $2 WHERE row = $3",
              domain::to_text(domain::AttemptOutcome::accepted), move_.now_ms, *move_.accepted);
  ensure(changed == 1, "an attempt that was read is gone");
}

// What ends on a block's finality has that block on record with it: a chain that takes it back is
// known by that, whatever this process has not noted yet when it dies.
void Mover::note_final() {
  if (planted(Tooth::final_unnoted)) return;
  for (const domain::BlockRef& block : final_blocks(move_)) {
    const bool is_noted = move_.final_tx && move_.final_is_noted && block == move_.final_tx->block;
    if (!is_noted) note_final_block(txn_, payment_.intent().terms.chain, block);
  }
}

void Mover::write_job(const Transition& row) {
  if (has(row.effects, Effect::enqueue_settle) && !planted(Tooth::enqueue_later))
    enqueue_for_change(txn_, payment_.row, visible_ms());
  if (move_.ack && move_.park.empty()) {
    ensure(end_lease(txn_, *move_.receipt), "a lease that was checked is gone");
  }
}

void Mover::write_event(const Transition& row) {
  Event event;
  event.at_ms = move_.now_ms;
  event.kind = "move";
  event.from = row.from;
  event.to = row.to;
  event.actor = move_.actor;
  event.who = move_.who;
  event.reason = move_.reason;
  event.tx_hash = move_.tx_hash;
  event.version = payment_.intent().version;
  event.request = move_.request;
  add_event(txn_, payment_.row.row, event);
}

std::vector<domain::BlockRef> final_blocks(const Move& move) {
  std::vector<domain::BlockRef> out;
  if (move.final_tx) out.push_back(move.final_tx->block);
  const auto* const proof =
      move.proof ? std::get_if<domain::AllSlotsConsumed>(&*move.proof) : nullptr;
  if (proof == nullptr) return out;
  for (const domain::FinalConsumer& one : proof->consumers) out.push_back(one.tx.block);
  return out;
}

Result<domain::Facts> move_intent(Txn& txn, const Move& move) {
  Mover mover(txn, move);
  const auto moved = mover.run();
  if (moved.has_error()) return moved.error();
  return mover.take().facts();
}

std::vector<Result<domain::Facts>> move_intents(Txn& txn, std::span<const Move> moves) {
  std::vector<Result<domain::Facts>> out;
  out.reserve(moves.size());
  for (const Move& move : moves) out.push_back(move_intent(txn, move));
  return out;
}

}  // namespace holdfast::store
