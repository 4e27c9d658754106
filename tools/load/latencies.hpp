// Owns: many durations in little memory: counts in buckets that are at most 1/32 wide.
#pragma once

#include <cstdint>
#include <vector>

namespace holdfast::load {

class Latencies {
 public:
  Latencies();

  void add(std::int64_t microseconds);  ///< below zero counts as zero
  std::uint64_t count() const { return count_; }
  /// In milliseconds: the upper end of the bucket in which the `share`-th smallest lies, so at most
  /// 1/32 too high and never too low. `share` from 0 to 1; 0 when nothing was added.
  double percentile_ms(double share) const;

  struct Bucket {
    double upto_ms = 0;
    std::uint64_t count = 0;
  };
  std::vector<Bucket> filled() const;  ///< those that hold something, shortest first

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
};

}  // namespace holdfast::load
