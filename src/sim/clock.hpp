// Owns: the simulator's time. It stands still while anything is ready to run, then jumps to the
// next sleeper.
// Must never: ask the real clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/parking.hpp>

namespace holdfast::sim {

class SimClock final : public ports::Clock {
 public:
  /// 2026-01-01 00:00:00 UTC, so that records look like records.
  static constexpr std::int64_t default_wall_ms = 1'767'225'600'000;
  explicit SimClock(std::int64_t wall_ms = default_wall_ms) : wall_(wall_ms) {}

  std::int64_t wall_ms() const override { return wall_; }
  std::int64_t mono_ms() const override { return mono_; }
  boost::asio::awaitable<void> sleep(std::int64_t ms) override;
  std::unique_ptr<ports::Alarm> alarm(boost::asio::any_io_executor executor, std::int64_t ms,
                                      std::function<void()> ring) override;

  /// When the next sleeper or alarm is due, in monotonic ms; empty when there is none.
  std::optional<std::int64_t> next_due();
  /// Moves both clocks to monotonic `to_ms` (never back) and wakes who is due, in order of due time
  /// and then of arrival, each by its own post; alarms after the sleepers of the same moment.
  void advance_to(std::int64_t to_ms);
  /// Moves the wall clock alone, either way: somebody set it.
  void step_wall(std::int64_t by_ms) { wall_ += by_ms; }
  /// From now on the wall clock gains so many millionths of what passes; negative: it loses them.
  void drift(std::int64_t ppm) { drift_ppm_ = ppm; }

  /// Those of an alarm too.
  std::size_t sleepers() const;
  /// Drops all sleepers without resuming them. An alarm goes with the frame that holds it.
  void abandon() { due_.clear(); }

 private:
  class SetAlarm;

  std::int64_t due_ms(std::int64_t ms) const;

  std::int64_t wall_;
  std::int64_t mono_ = 0;
  std::int64_t drift_ppm_ = 0;
  std::int64_t gained_ = 0;  ///< in millionths of a millisecond, less than one
  /// Sleepers by due time. Whoever is cancelled leaves its list; an empty list goes when looked at.
  std::map<std::int64_t, ports::WaitList> due_;
  /// By due time, then in the order they were set.
  std::map<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> alarms_;
  std::uint64_t alarms_set_ = 0;
};

}  // namespace holdfast::sim
