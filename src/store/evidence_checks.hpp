// Owns: holding what a mover offers as evidence or proof against the rows of this transaction.
// Must never: read a node; what it is given was read by the engine.
#pragma once

#include "store/rows.hpp"

namespace holdfast::store {

/// The final transaction moved this payment's asset to its payee, and exactly `arrived` of it:
/// else `unproven`.
Result<void> check_final_evidence(const Payment& payment, const Move& move);

/// The proof holds for the attempts and slots stored now: else `unproven`.
Result<void> check_unredeemable(const Payment& payment, const domain::Proof& proof);

}  // namespace holdfast::store
