// Owns: what a transaction offers to be mined, and by how much a replacement must offer more.
// Must never: go over the ceiling, or leave nothing for the noop that may have to follow.
#pragma once

#include <optional>
#include <span>

#include <holdfast/domain/attempt.hpp>

namespace holdfast::domain {

/// The next step after `fee` that every node takes as a replacement: ceil(fee × 1.125) + 1. Nodes
/// ask for 10 % (geth, reth, besu) to 12.5 % (nethermind, some pools), rounded in any direction.
/// Empty over 2^256 − 1.
std::optional<U256> next_fee_step(const U256& fee);

/// What a `pay` attempt may offer at most, so that one step below `ceiling` is left for a noop.
U256 pay_ceiling(const U256& ceiling);

/// A first offer: the market's, no higher than the ceiling.
Fees first_offer(Fees market, const U256& ceiling);

/// Fees that replace `old` at the same sequence: both fields at least a step higher, and at least
/// the market's as far as the ceiling allows. The gas limit stays. Empty: the ceiling is reached.
std::optional<Fees> bump(const Fees& old, const Fees& market, const U256& ceiling);

/// Field by field the highest ever offered at this slot, refused attempts included: a node may hold
/// any of them. Empty: nothing was signed there.
std::optional<Fees> dearest_at(std::span<const Attempt> attempts, SlotId slot);

}  // namespace holdfast::domain
