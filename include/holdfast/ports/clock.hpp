// Owns: time as the engine sees it. Leases and time-outs count monotonic time, records wall time.
#pragma once

#include <cstdint>

#include <boost/asio/awaitable.hpp>

namespace holdfast::ports {

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
};

}  // namespace holdfast::ports
