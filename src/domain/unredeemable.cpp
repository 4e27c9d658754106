#include <holdfast/domain/unredeemable.hpp>

#include <algorithm>

#include "base/teeth.hpp"

namespace holdfast::domain {
namespace {

// Whoever sent it and whatever it says: the very money of this payment reached the payee.
bool moves_the_payment(const Intent& intent, const MinedTx& tx) {
  const Terms& terms = intent.terms;
  return std::any_of(tx.transfers.begin(), tx.transfers.end(), [&](const Transfer& transfer) {
    return transfer.asset == terms.asset && transfer.to == terms.payee &&
           transfer.amount == terms.amount;
  });
}

bool proves(const Intent&, std::span<const Attempt> attempts, const NeverAsked&) {
  const bool lax = planted(Tooth::timeout_failed) || planted(Tooth::null_receipt);
  return attempts.empty() || lax;
}

// An attempt without a slot has no sequence whose consumption could rule it out.
bool proves(const Intent& intent, std::span<const Attempt> attempts,
            const AllSlotsConsumed& proof) {
  if (intent.bearer || attempts.empty()) return false;
  return std::all_of(attempts.begin(), attempts.end(), [&](const Attempt& attempt) {
    if (!attempt.slot) return false;
    const auto consumer =
        std::find_if(proof.consumers.begin(), proof.consumers.end(),
                     [&](const FinalConsumer& each) { return each.slot == *attempt.slot; });
    return consumer != proof.consumers.end() && rules_out(intent, attempts, *consumer);
  });
}

// A use with no transfer at all is not "a transfer that is not this intent's": the token may move
// without a word.
bool sends_from_payer(const Intent& intent, const MinedTx& tx) {
  return std::any_of(tx.transfers.begin(), tx.transfers.end(), [&](const Transfer& transfer) {
    return transfer.asset == intent.terms.asset && transfer.from == intent.terms.payer;
  });
}

bool proves(const Intent& intent, std::span<const Attempt> attempts,
            const AuthorizationDead& proof) {
  if (!intent.bearer || !intent.authorization) return false;
  switch (proof.how) {
    case AuthorizationDead::How::expired_unused:
      return proof.final_block_time_s >= intent.authorization->validity.before_s;
    case AuthorizationDead::How::canceled:
      return proof.use && cancels_authorization(intent, *proof.use);
    case AuthorizationDead::How::used_otherwise:
      // Our own bytes say what the record says: if they moved something else the token is odd, and
      // that is for a person.
      return proof.use && uses_authorization(intent, *proof.use) &&
             own_pay(attempts, proof.use->hash) == nullptr &&
             sends_from_payer(intent, *proof.use) &&
             evidence_of_authorization(intent, *proof.use).moved == Moved::other;
  }
  return false;
}

}  // namespace

FinalConsumer consumer_of(const Slot& slot, const MinedTx& tx) {
  return {slot.id, tx, slot.account, slot.sequence};
}

bool rules_out(const Intent& intent, std::span<const Attempt> attempts,
               const FinalConsumer& consumer) {
  const MinedTx& tx = consumer.tx;
  if (tx.sender != consumer.account || tx.sequence != consumer.sequence) return false;
  if (!tx.succeeded) return true;
  return own_pay(attempts, tx.hash) == nullptr && tx.trailing_ref != intent.ref &&
         !moves_the_payment(intent, tx);
}

bool proves_unredeemable(const Intent& intent, std::span<const Attempt> attempts,
                         const Proof& proof) {
  return std::visit([&](const auto& each) { return proves(intent, attempts, each); }, proof);
}

}  // namespace holdfast::domain
