// Owns: time as the engine sees it. Leases and time-outs count monotonic time, records wall time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace holdfast::ports {

/// A call that is still to come. Destroyed before, it never comes.
class Alarm {
 public:
  Alarm() = default;
  virtual ~Alarm() = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
};

class Clock {
 public:
  virtual ~Clock() = default;

  /// Milliseconds since 1970, may jump either way. For records and windows.
  virtual std::int64_t wall_ms() const = 0;
  /// Milliseconds since some start, never backwards. For leases, time-outs and ages.
  virtual std::int64_t mono_ms() const = 0;
  /// Returns after `ms` of monotonic time (at once, by way of the executor, for ms <= 0).
  /// Cancellable: then throws operation_aborted.
  virtual boost::asio::awaitable<void> sleep(std::int64_t ms) = 0;
  /// Calls `ring` once, on `executor`'s thread, after `ms` of monotonic time; never inside this
  /// call, and never once the alarm was destroyed. `ring` must not throw. For what may end before
  /// its time, as most time-outs do: calling it off costs no exception and no coroutine.
  virtual std::unique_ptr<Alarm> alarm(boost::asio::any_io_executor executor, std::int64_t ms,
                                       std::function<void()> ring) = 0;
};

}  // namespace holdfast::ports
