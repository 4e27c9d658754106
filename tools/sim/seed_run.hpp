// Owns: one seed, from the first payment to the last look: trouble, then calm, then the verdict.
// Must never: end while something is still open without saying so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "setting.hpp"
#include "tally.hpp"

namespace holdfast::campaign {

/// What became of one seed.
struct Verdict {
  std::uint64_t seed = 0;
  std::vector<std::string> broken;  ///< sentences; empty: it held
  std::string trace_hash;  ///< the same for the same seed and sources, however they were built
  std::uint64_t payments = 0;
  std::uint64_t crashes = 0;  ///< processes that were killed, or lost their power
  std::uint64_t steps = 0;  ///< items the executor ran
  std::int64_t simulated_ms = 0;
  std::uint64_t reviews_left = 0;
  /// Of those, whose money has arrived where that can be seen.
  std::uint64_t needless_reviews = 0;
  Tally tally;
  std::vector<std::string> story;  ///< of the payment that was asked for
};

/// `tell`: the life of this payment, line by line, into `story` ("pi_…"; "all" for everything).
Verdict run_seed(const Setting& setting, const std::string& tell = {});

}  // namespace holdfast::campaign
