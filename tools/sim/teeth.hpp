// Owns: planting one fault of src/base/teeth.hpp, and how many seeds each of them takes to be seen.
// Must never: count a seed that fails without the fault.
#pragma once

#include <string>
#include <string_view>

#include "campaign.hpp"

namespace holdfast::campaign {

/// Why this tooth cannot be had: this build has none, or none of that name. Empty: it can.
/// An empty name stands for all.
std::string no_tooth(std::string_view name);
/// From now on, in this process.
void plant(std::string_view name);

/// Runs each (or the one of `orders.tooth`) on seeds from `orders.from` up: `rough`, then `hell`,
/// at most `orders.seeds` of each; prints the table. Exit code: 0 only if all were seen.
int try_teeth(const Orders& orders);

}  // namespace holdfast::campaign
