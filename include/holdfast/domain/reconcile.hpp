// Owns: what an open slot is after asking the chain: rule 7 of domain.md section 3.
// Must never: release what was signed.
#pragma once

#include <optional>

#include <holdfast/domain/slot.hpp>
#include <holdfast/domain/tend.hpp>

namespace holdfast::domain {

/// Where an open slot belongs by what was found of the transactions signed for it; empty: it stays
/// as it is, or nothing could be read. `is_final`: the one that was mined is final.
std::optional<SlotState> reconciled(SlotState state, bool any_attempt, FoundAt found,
                                    bool is_final);

}  // namespace holdfast::domain
