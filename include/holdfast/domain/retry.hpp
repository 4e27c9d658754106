// Owns: how long to wait before looking again.
#pragma once

#include <cstdint>

namespace holdfast::domain {

struct RetryPolicy {
  std::int64_t base_ms = 250;
  std::int64_t cap_ms = 30'000;
};

/// Capped exponential backoff with equal jitter: half of min(cap, base × 2^tries) for certain, up
/// to the other half by `jitter` (any number, from Entropy). `tries` counts from 0.
std::int64_t backoff_ms(const RetryPolicy& policy, std::uint32_t tries, std::uint64_t jitter);

}  // namespace holdfast::domain
