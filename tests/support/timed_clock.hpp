// What a clock of a test builds on that runs in real time: sleeps and alarms by Asio timers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/ports/clock.hpp>

namespace holdfast::tests {

class TimedClock : public ports::Clock {
 public:
  boost::asio::awaitable<void> sleep(std::int64_t ms) override {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                    std::chrono::milliseconds(ms));
    co_await timer.async_wait(boost::asio::use_awaitable);
  }

  std::unique_ptr<ports::Alarm> alarm(boost::asio::any_io_executor executor, std::int64_t ms,
                                      std::function<void()> ring) override {
    return std::make_unique<TimerAlarm>(executor, ms, std::move(ring));
  }

 private:
  /// The handler may be on its way when the alarm goes: it finds nothing to ring then.
  struct TimerAlarm final : ports::Alarm {
    TimerAlarm(const boost::asio::any_io_executor& executor, std::int64_t ms,
               std::function<void()> on_ring)
        : ring(std::make_shared<std::function<void()>>(std::move(on_ring))),
          timer(executor, std::chrono::milliseconds(ms)) {
      timer.async_wait([waiting = std::weak_ptr(ring)](const boost::system::error_code& error) {
        const auto found = waiting.lock();
        if (found != nullptr && !error) (*found)();
      });
    }
    std::shared_ptr<std::function<void()>> ring;
    boost::asio::steady_timer timer;
  };
};

}  // namespace holdfast::tests
