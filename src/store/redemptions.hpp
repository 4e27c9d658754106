// Owns: the rule that an authorization is redeemed by one intent, whatever door it came through.
#pragma once

#include "store/rows.hpp"

namespace holdfast::store {

/// `redemption_taken` when another intent holds this authorization (and did not end canceled or
/// failed by proof 1).
Result<void> check_redeemable(Txn& txn, const domain::IntentId& id, const domain::Terms& terms,
                              const domain::Authorization& authorization);

}  // namespace holdfast::store
