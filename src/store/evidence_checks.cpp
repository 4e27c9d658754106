#include "store/evidence_checks.hpp"

#include <algorithm>

namespace holdfast::store {
namespace {

Error unproven(std::string sentence) { return refuse(StoreError::unproven, std::move(sentence)); }

/// Where the slots of the proof stand is read from their rows, never from the proof.
std::optional<domain::AllSlotsConsumed> on_stored_slots(const Payment& payment,
                                                        domain::AllSlotsConsumed proof) {
  for (domain::FinalConsumer& consumer : proof.consumers) {
    const auto row =
        std::find_if(payment.slots.begin(), payment.slots.end(),
                     [&](const SlotRow& each) { return each.slot.id == consumer.slot; });
    if (row == payment.slots.end()) return std::nullopt;
    consumer.account = row->slot.account;
    consumer.sequence = row->slot.sequence;
  }
  return proof;
}

}  // namespace

Result<void> check_final_evidence(const Payment& payment, const Move& move) {
  if (!move.final_tx || move.tx_hash != move.final_tx->hash) {
    return unproven("the final transaction is not the one the move names");
  }
  const domain::MinedTx& tx = *move.final_tx;
  const domain::Intent& intent = payment.intent();
  const domain::Evidence evidence =
      intent.bearer ? domain::evidence_of_authorization(intent, tx)
                    : domain::evidence_of_payout(
                          intent, tx, domain::own_pay(payment.attempts, tx.hash) != nullptr);
  const bool moved =
      evidence.moved == domain::Moved::exact || evidence.moved == domain::Moved::less;
  if (!moved) return unproven("transaction " + tx.hash.hex() + " did not move this payment");
  if (evidence.arrived != move.arrived) {
    return unproven("transaction " + tx.hash.hex() + " brought " + evidence.arrived.decimal() +
                    ", not " + move.arrived.decimal());
  }
  return {};
}

Result<void> check_unredeemable(const Payment& payment, const domain::Proof& offered) {
  domain::Proof proof = offered;
  if (const auto* consumed = std::get_if<domain::AllSlotsConsumed>(&offered)) {
    auto stored = on_stored_slots(payment, *consumed);
    if (!stored) return unproven("the proof names a slot that is not this payment's");
    proof = std::move(*stored);
  }
  if (domain::proves_unredeemable(payment.intent(), payment.attempts, proof)) return {};
  return unproven("what is stored does not bear out that " + text(payment.intent().id) +
                  " can never move");
}

}  // namespace holdfast::store
