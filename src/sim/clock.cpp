#include "sim/clock.hpp"

#include <algorithm>
#include <limits>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::sim {

class SimClock::SetAlarm final : public ports::Alarm {
 public:
  SetAlarm(SimClock& clock, std::int64_t due_ms, std::function<void()> ring)
      : clock_(clock), key_(due_ms, clock.alarms_set_++) {
    clock_.alarms_.emplace(key_, std::move(ring));
  }
  ~SetAlarm() override { clock_.alarms_.erase(key_); }
  SetAlarm(const SetAlarm&) = delete;
  SetAlarm& operator=(const SetAlarm&) = delete;

 private:
  SimClock& clock_;
  std::pair<std::int64_t, std::uint64_t> key_;
};

std::int64_t SimClock::due_ms(std::int64_t ms) const {
  const std::int64_t left = std::numeric_limits<std::int64_t>::max() - mono_;
  return mono_ + std::clamp<std::int64_t>(ms, 0, left);
}

boost::asio::awaitable<void> SimClock::sleep(std::int64_t ms) {
  if (ms <= 0) {
    co_await boost::asio::post(boost::asio::use_awaitable);
    co_return;
  }
  ports::Waiter waiter;
  co_await waiter.park(due_[due_ms(ms)]);
}

std::unique_ptr<ports::Alarm> SimClock::alarm(boost::asio::any_io_executor, std::int64_t ms,
                                              std::function<void()> ring) {
  return std::make_unique<SetAlarm>(*this, due_ms(ms), std::move(ring));
}

std::optional<std::int64_t> SimClock::next_due() {
  while (!due_.empty() && due_.begin()->second.empty()) due_.erase(due_.begin());
  if (due_.empty() && alarms_.empty()) return std::nullopt;
  if (due_.empty()) return alarms_.begin()->first.first;
  if (alarms_.empty()) return due_.begin()->first;
  return std::min(due_.begin()->first, alarms_.begin()->first.first);
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
  for (auto due = next_due(); due && *due <= mono_; due = next_due()) {
    if (!due_.empty() && due_.begin()->first == *due) {
      due_.begin()->second.wake_all();
      due_.erase(due_.begin());
      continue;
    }
    const std::function<void()> ring = std::move(alarms_.begin()->second);
    alarms_.erase(alarms_.begin());
    ring();
  }
}

std::size_t SimClock::sleepers() const {
  std::size_t count = alarms_.size();
  for (const auto& [due, waiting] : due_) count += waiting.size();
  return count;
}

}  // namespace holdfast::sim
