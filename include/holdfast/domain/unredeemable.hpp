// Owns: the proofs that a payment can never move again. Nothing fails without one.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <holdfast/domain/attempt.hpp>
#include <holdfast/domain/evidence.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/slot.hpp>

namespace holdfast::domain {

/// Proof 1: nothing able to sign or send was ever asked to act.
struct NeverAsked {};

/// Proof 2, one per sequence an attempt was ever stored at: the final transaction that consumed it,
/// fetched and read.
struct FinalConsumer {
  SlotId slot;
  MinedTx tx;
  Address account;  ///< the slot's, from its row: the transaction must be this account's
  Sequence sequence;  ///< the slot's, from its row: the transaction must stand at it
};
FinalConsumer consumer_of(const Slot& slot, const MinedTx& tx);
struct AllSlotsConsumed {
  std::vector<FinalConsumer> consumers;
};

/// Proof 3: read in the state of a final block.
struct AuthorizationDead {
  enum class How { expired_unused, canceled, used_otherwise } how = How::expired_unused;
  std::int64_t final_block_time_s = 0;
  std::optional<MinedTx> use;  ///< the final transaction that used it otherwise, or canceled it
};

using Proof = std::variant<NeverAsked, AllSlotsConsumed, AuthorizationDead>;

/// Does this consumer rule out that its slot ever pays this intent? It stands at the slot, and it
/// is a `pay` attempt of the intent that reverted, or another transaction that neither carries the
/// ref nor moves the intent's asset and amount to its payee.
bool rules_out(const Intent& intent, std::span<const Attempt> attempts,
               const FinalConsumer& consumer);

/// True when `proof` proves it for this intent. `attempts` are all its attempts, read in the
/// transaction that uses the proof.
bool proves_unredeemable(const Intent& intent, std::span<const Attempt> attempts,
                         const Proof& proof);

}  // namespace holdfast::domain
