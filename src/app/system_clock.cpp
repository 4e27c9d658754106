#include "app/system_clock.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::app {
namespace {

template <class Clock>
std::int64_t ms_of(typename Clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

/// The timer's handler may be on its way when the alarm goes, so it has a part of its own.
class TimerAlarm final : public ports::Alarm {
 public:
  TimerAlarm(const boost::asio::any_io_executor& executor, std::int64_t ms,
             std::function<void()> ring)
      : ring_(std::make_shared<std::function<void()>>(std::move(ring))),
        timer_(executor, std::chrono::milliseconds(ms)) {
    timer_.async_wait([waiting = std::weak_ptr(ring_)](const boost::system::error_code& error) {
      const auto ring = waiting.lock();
      if (ring != nullptr && !error) (*ring)();
    });
  }

 private:
  std::shared_ptr<std::function<void()>> ring_;
  boost::asio::steady_timer timer_;
};

}  // namespace

std::int64_t SystemClock::wall_ms() const {
  return ms_of<std::chrono::system_clock>(std::chrono::system_clock::now());
}

std::int64_t SystemClock::mono_ms() const {
  return ms_of<std::chrono::steady_clock>(std::chrono::steady_clock::now());
}

boost::asio::awaitable<void> SystemClock::sleep(std::int64_t ms) {
  const auto executor = co_await boost::asio::this_coro::executor;
  if (ms <= 0) {
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
    co_return;
  }
  boost::asio::steady_timer timer(executor, std::chrono::milliseconds(ms));
  co_await timer.async_wait(boost::asio::use_awaitable);
}

std::unique_ptr<ports::Alarm> SystemClock::alarm(boost::asio::any_io_executor executor,
                                                 std::int64_t ms, std::function<void()> ring) {
  return std::make_unique<TimerAlarm>(executor, ms, std::move(ring));
}

}  // namespace holdfast::app
