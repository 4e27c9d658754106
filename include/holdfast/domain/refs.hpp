// Owns: how ids, refs, redemption keys and request fingerprints are derived.
// Must never: change without a new version tag: stored and on-chain values depend on it.
#pragma once

#include <cstdint>
#include <string_view>

#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/intent.hpp>

namespace holdfast::domain {

/// From the caller and their idempotency key: the same request has the same id, also on a store
/// restored from a backup.
IntentId derive_intent_id(const CallerId& caller, std::string_view idempotency_key);

/// Where a payer brings a nonce of their own (x402): from what is redeemed and the number of
/// earlier intents with that key that ended canceled or failed by proof 1.
IntentId derive_intent_id(const Terms& terms, const Nonce& nonce, std::uint64_t earlier_ended);

/// SHA-256 over a version tag and the length-prefixed id, chain, asset, payer, payee, amount.
Ref derive_ref(const IntentId& id, const Terms& terms);

/// (method, chain, asset, payer, nonce): UNIQUE over intents that may still redeem it.
using RedemptionKey = FixedBytes<32, struct RedemptionKeyTag>;
RedemptionKey derive_redemption_key(const Terms& terms, const Nonce& nonce);

}  // namespace holdfast::domain
