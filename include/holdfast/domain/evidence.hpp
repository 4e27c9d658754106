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
  other,     ///< it used this authorization or carries this ref, and moved something else
};

struct Evidence {
  Moved moved = Moved::nothing;
  Amount arrived;  ///< at the payee
};

/// A bearer authorization: the use event of (payer, nonce) at the asset, and the transfers that
/// belong to it: those of the asset after that event and before the asset's next use event.
Evidence evidence_of_authorization(const Intent& intent, const MinedTx& tx);

/// A payout: sent by the payer itself, carrying the ref (or known by hash: `own_hash`), with
/// exactly its transfer.
Evidence evidence_of_payout(const Intent& intent, const MinedTx& tx, bool own_hash);

}  // namespace holdfast::domain
