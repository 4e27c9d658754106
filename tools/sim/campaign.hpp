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
  double hours = 0;  ///< 0: no limit; each process runs its first seed whatever the time
  const Profile* profile = nullptr;
  unsigned jobs = 1;
  bool one = false;  ///< `from` alone, in this process: who looks into it wants a debugger on it
  unsigned deadline_s = 120;  ///< of a seed, where it has a process of its own
  Cut cut;
  std::string tell;
  std::string tooth;  ///< the fault that is planted; with all teeth: only this one
  bool minimises = false;
  bool hashes = false;
  bool json = false;
};

Verdict run_one(const Orders& orders, std::uint64_t seed);

/// Exit code: 0 only if every seed held; 2 if the payment to tell of is unknown.
int run_campaign(const Orders& orders);
/// What a seed that breaks this sentence fails by: the invariant and what kind of thing it names
/// ("invariant 7, pi_"), or how its process ended.
std::string kind_of(const std::string& broken);
/// Takes away payments, blows and mishaps while the seed still fails; prints what is left.
int minimise(const Orders& orders);

}  // namespace holdfast::campaign
