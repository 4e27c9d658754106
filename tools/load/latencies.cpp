#include "latencies.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace holdfast::load {

namespace {

// Below 64 µs a bucket for each; above, 32 for each doubling.
constexpr unsigned steps_bits = 5;
constexpr std::uint64_t exact_below = 2ULL << steps_bits;
constexpr std::size_t bucket_count = exact_below + ((64 - steps_bits - 1) << steps_bits);

std::size_t bucket_of(std::uint64_t us) {
  if (us < exact_below) return us;
  const auto top = static_cast<unsigned>(std::bit_width(us)) - 1;  // at least steps_bits + 1
  const unsigned shift = top - steps_bits;
  const std::uint64_t step = (us >> shift) - (1ULL << steps_bits);
  return exact_below + ((static_cast<std::size_t>(shift) - 1) << steps_bits) + step;
}

// The longest duration of the bucket.
std::uint64_t end_of(std::size_t bucket) {
  if (bucket < exact_below) return bucket;
  const std::size_t above = bucket - exact_below;
  const std::size_t shift = (above >> steps_bits) + 1;
  const std::uint64_t step = (above & ((1U << steps_bits) - 1)) + (1U << steps_bits);
  return ((step + 1) << shift) - 1;
}

}  // namespace

Latencies::Latencies() : buckets_(bucket_count) {}

void Latencies::add(std::int64_t microseconds) {
  ++buckets_[bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(microseconds, 0)))];
  ++count_;
}

double Latencies::percentile_ms(double share) const {
  if (count_ == 0) return 0;
  const double exact = std::ceil(share * static_cast<double>(count_));
  const std::uint64_t rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(exact), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) return static_cast<double>(end_of(i)) / 1'000;
  }
  return 0;
}

std::vector<Latencies::Bucket> Latencies::filled() const {
  std::vector<Bucket> out;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] > 0) out.push_back({static_cast<double>(end_of(i)) / 1'000, buckets_[i]});
  }
  return out;
}

}  // namespace holdfast::load
