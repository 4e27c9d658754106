// Owns: a crash with many payments open, and how long the next engine takes to drive all of them
// again.
#pragma once

#include <cstdint>
#include <vector>

#include "books.hpp"
#include "rig.hpp"

namespace holdfast::load {

struct Restarted {
  std::vector<Owed> owed;
  double restart_ms = 0;  ///< opening the store → every open payment is watched or worked on
};

/// The engine of `rig` runs, and nothing is in flight. Opens options.in_flight payments, numbered
/// from `first` on, crashes, opens again, and waits until all have settled. Throws runtime_error
/// when they do not.
Restarted restart(Rig& rig, const Options& options, std::uint64_t first);

}  // namespace holdfast::load
