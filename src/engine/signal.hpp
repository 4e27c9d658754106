// Owns: the engine's only way to say "look again": loops wait on it, whoever changed something
// notifies it.
// Must never: remember a notification nobody waited for; a loop checks its condition, then waits,
// with no co_await in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/parking.hpp>

namespace holdfast::engine {

///     while (jobs.empty()) co_await more.wait();
class Signal {
 public:
  /// Returns after a notification; throws operation_aborted when cancelled.
  boost::asio::awaitable<void> wait();
  /// True after a notification, false when `ms` of the clock passed first. Cancellable as `wait`.
  /// Parks at once, as `wait`.
  boost::asio::awaitable<bool> wait_for(ports::Clock& clock, std::int64_t ms);
  /// The same, but a notification after which `is_enough` says no is slept through, for the price
  /// of one turn. `is_enough` must not throw.
  boost::asio::awaitable<bool> wait_for(ports::Clock& clock, std::int64_t ms,
                                        std::function<bool()> is_enough);

  void notify_one();
  void notify_all();

  std::size_t waiting() const { return waiters_.size(); }
  /// Drops whoever waits, without resuming: for teardown. Also done by the destructor.
  void abandon() { waiters_.abandon(); }

 private:
  ports::WaitList waiters_;
};

}  // namespace holdfast::engine
