// Owns: the two ports every embedder brings, on the real world: time and chance.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/entropy.hpp>

namespace line_server {

template <class Clock>
std::int64_t ms_since_epoch() {
  const auto since = Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

/// The timer's handler may be on its way when the alarm goes: it looks whether the call is still
/// wanted.
class TimerAlarm final : public holdfast::ports::Alarm {
 public:
  TimerAlarm(const boost::asio::any_io_executor& executor, std::int64_t ms,
             std::function<void()> ring)
      : ring_(std::make_shared<std::function<void()>>(std::move(ring))),
        timer_(executor, std::chrono::milliseconds(ms)) {
    timer_.async_wait([wanted = std::weak_ptr(ring_)](const boost::system::error_code& error) {
      const auto ring = wanted.lock();
      if (ring != nullptr && !error) (*ring)();
    });
  }

 private:
  std::shared_ptr<std::function<void()>> ring_;
  boost::asio::steady_timer timer_;
};

class SystemClock final : public holdfast::ports::Clock {
 public:
  std::int64_t wall_ms() const override { return ms_since_epoch<std::chrono::system_clock>(); }
  std::int64_t mono_ms() const override { return ms_since_epoch<std::chrono::steady_clock>(); }

  /// A timer of the awaiting coroutine's executor, which is the engine's. Even no time at all goes
  /// by way of the executor, so that others get their turn.
  boost::asio::awaitable<void> sleep(std::int64_t ms) override {
    const auto executor = co_await boost::asio::this_coro::executor;
    if (ms <= 0) {
      co_await boost::asio::post(executor, boost::asio::use_awaitable);
      co_return;
    }
    boost::asio::steady_timer timer(executor, std::chrono::milliseconds(ms));
    co_await timer.async_wait(boost::asio::use_awaitable);
  }

  std::unique_ptr<holdfast::ports::Alarm> alarm(boost::asio::any_io_executor executor,
                                                std::int64_t ms,
                                                std::function<void()> ring) override {
    return std::make_unique<TimerAlarm>(executor, ms, std::move(ring));
  }
};

class SystemEntropy final : public holdfast::ports::Entropy {
 public:
  void fill(std::span<holdfast::Byte> out) override {
    for (holdfast::Byte& byte : out) byte = static_cast<holdfast::Byte>(device_());
  }

 private:
  std::random_device device_;
};

}  // namespace line_server
