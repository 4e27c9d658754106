// Owns: what was run so far, how it is shown meanwhile, and the report at the end.
// Must never: leave out a failed seed without saying how many it leaves out.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign.hpp"

namespace holdfast::campaign {

using Time = std::chrono::steady_clock;

double seconds_since(Time::time_point then);

/// All that was run so far.
struct Sum {
  std::uint64_t seeds = 0;
  std::uint64_t payments = 0;
  std::uint64_t crashes = 0;
  std::uint64_t steps = 0;
  std::int64_t simulated_ms = 0;
  std::uint64_t reviews_left = 0;
  std::uint64_t needless_reviews = 0;
  Tally tally;
  std::map<std::uint64_t, std::vector<std::string>> failed;  ///< by seed
  std::map<std::uint64_t, std::string> hashes;
};

void add(Sum& sum, const Verdict& verdict);

/// Lines on standard error while the seeds run.
class Progress {
 public:
  Progress(const Orders& orders, Time::time_point start) : orders_(orders), start_(start) {}

  void show(const Sum& sum, bool last);

 private:
  void tell_failed(const Sum& sum);

  const Orders& orders_;
  Time::time_point start_;
  Time::time_point shown_ = Time::now();
  std::set<std::uint64_t> told_;
};

/// The command that runs this seed of the orders again, with what was taken away and planted.
std::string again(const Orders& orders, std::uint64_t seed, const Cut& cut);

/// On standard output.
void report(const Orders& orders, const Sum& sum, double seconds);

}  // namespace holdfast::campaign
