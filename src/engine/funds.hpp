// Owns: whether our own accounts can pay for gas, as `ChainStatus::can_send` tells it.
// Must never: keep a payment from being tried: a node's answer to its transaction decides that.
#pragma once

#include "engine/core.hpp"

namespace holdfast::engine {

/// Told once each time an account turns out to be empty: only a person can fill it.
void note_funds(Core& core, Unit& unit, AccountState& account, bool is_unfunded);

/// Reads what the account holds, now and then, so that one that was emptied is known before a
/// payment finds out, and one that was filled again is known although nothing is sent from it while
/// it is left out. No answer changes nothing. Safe to repeat.
Awaitable<void> look_at_funds(Core& core, Unit& unit, AccountState& account);

}  // namespace holdfast::engine
