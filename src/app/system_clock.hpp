// Owns: the real clock. The only place that asks for it.
#pragma once

#include <holdfast/ports/clock.hpp>

namespace holdfast::app {

/// Sleeps by Asio timers on the awaiting coroutine's executor.
class SystemClock final : public ports::Clock {
 public:
  std::int64_t wall_ms() const override;
  std::int64_t mono_ms() const override;
  boost::asio::awaitable<void> sleep(std::int64_t ms) override;
  std::unique_ptr<ports::Alarm> alarm(boost::asio::any_io_executor executor, std::int64_t ms,
                                      std::function<void()> ring) override;
};

}  // namespace holdfast::app
