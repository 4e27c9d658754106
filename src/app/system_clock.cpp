#include "app/system_clock.hpp"

#include <chrono>

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

}  // namespace holdfast::app
