#include "sim/clock.hpp"

#include <algorithm>
#include <limits>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::sim {

boost::asio::awaitable<void> SimClock::sleep(std::int64_t ms) {
  if (ms <= 0) {
    co_await boost::asio::post(boost::asio::use_awaitable);
    co_return;
  }
  const std::int64_t left = std::numeric_limits<std::int64_t>::max() - mono_;
  ports::Waiter waiter;
  co_await waiter.park(due_[mono_ + std::min(ms, left)]);
}

std::optional<std::int64_t> SimClock::next_due() {
  while (!due_.empty() && due_.begin()->second.empty()) due_.erase(due_.begin());
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void SimClock::advance_to(std::int64_t to_ms) {
  if (to_ms > mono_) {
    constexpr std::int64_t million = 1'000'000;
    const std::int64_t passed = to_ms - mono_;
    // In two parts: a sleep of centuries may be passed over at once.
    gained_ += passed % million * drift_ppm_;
    wall_ += passed + passed / million * drift_ppm_ + gained_ / million;
    gained_ %= million;
    mono_ = to_ms;
  }
  while (!due_.empty() && due_.begin()->first <= mono_) {
    due_.begin()->second.wake_all();
    due_.erase(due_.begin());
  }
}

std::size_t SimClock::sleepers() const {
  std::size_t count = 0;
  for (const auto& [due, waiting] : due_) count += waiting.size();
  return count;
}

}  // namespace holdfast::sim
