// Owns: what one mined transaction proves about one intent.
// Must never: take a receipt's status for a payment.
#pragma once

#include <span>

#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/mined_tx.hpp>

namespace holdfast::domain {

enum class Moved {
  exact,     ///< this asset, from this payer, to this payee, this amount
  less,      ///< the same, but less arrived (a fee-on-transfer token)
  nothing,   ///< reverted, or no transfer of this payment in it
  other,     ///< it used this authorization or carries this ref, and moved something else (also
             ///< when an authorization was used up and nothing of it reached the payee)
};

struct Evidence {
  Moved moved = Moved::nothing;
  Amount arrived;  ///< at the payee
};

/// A bearer authorization: the use event of (payer, nonce) at the asset, and the transfers that
/// belong to it: those of the asset after that event and before the asset's next use event. What
/// the payer sent there is taken in order until the amount is spent; a transfer that goes beyond
/// it, or none to the payee, means other terms.
Evidence evidence_of_authorization(const Intent& intent, const MinedTx& tx);

/// A payout: sent by the payer itself, carrying the ref (or known by hash: `own_hash`), with
/// exactly its transfer.
Evidence evidence_of_payout(const Intent& intent, const MinedTx& tx, bool own_hash);

/// The transaction succeeded and holds this intent's use event, whatever it moved.
bool uses_authorization(const Intent& intent, const MinedTx& tx);
/// The transaction succeeded and holds the signer's cancellation of this intent's nonce.
bool cancels_authorization(const Intent& intent, const MinedTx& tx);

}  // namespace holdfast::domain
