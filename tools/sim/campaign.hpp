// Owns: many seeds: shared out over processes, added up, reported.
// Must never: let one seed know of another: a process runs them one after the other, each from
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "seed_run.hpp"
#include "setting.hpp"

namespace holdfast::campaign {

struct Orders {
  std::uint64_t from = 1;
  std::uint64_t seeds = 100;
  double hours = 0;  ///< 0: no limit
  const Profile* profile = nullptr;
  unsigned jobs = 1;
  Cut cut;
  std::string tell;
  bool minimises = false;
  bool hashes = false;
  bool json = false;
};

/// Reads `--without`; returns the first word that means nothing, or nothing.
std::string take_away(Cut& cut, const std::vector<std::string>& words);

Verdict run_one(const Orders& orders, std::uint64_t seed);

/// Exit code: 0 only if every seed held.
int run_campaign(const Orders& orders);
/// Takes away payments, blows and mishaps while the seed still fails; prints what is left.
int minimise(const Orders& orders);

}  // namespace holdfast::campaign
