#include <holdfast/domain/retry.hpp>

#include <algorithm>

namespace holdfast::domain {

// Equal jitter: enough spread that jobs nacked together do not come back together, and never a wait
// so short that the back-off is none.
std::int64_t backoff_ms(const RetryPolicy& policy, std::uint32_t tries, std::uint64_t jitter) {
  const std::int64_t cap = std::max<std::int64_t>(policy.cap_ms, 1);
  std::int64_t full = std::clamp<std::int64_t>(policy.base_ms, 1, cap);
  for (std::uint32_t i = 0; i < tries && full < cap; ++i) {
    full = full > cap / 2 ? cap : full * 2;
  }
  const std::int64_t certain = std::max<std::int64_t>(full / 2, 1);  // never a busy loop
  const auto choices = static_cast<std::uint64_t>(full - certain) + 1;
  return certain + static_cast<std::int64_t>(jitter % choices);
}

}  // namespace holdfast::domain
