// Owns: one simulated process: executor, clock and chance from one seed, and the loop that drives
// them.
// Must never: wait for anything real.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include "sim/clock.hpp"
#include "sim/entropy.hpp"
#include "sim/executor.hpp"

namespace holdfast::sim {

/// A run that cannot end: nothing is ready and nobody sleeps, or a limit was reached. The message
/// carries seed, time and steps.
class Stuck : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SimWorld {
 public:
  explicit SimWorld(std::uint64_t seed = 0);
  /// A crash, then the end.
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  boost::asio::any_io_executor executor();
  SimLoop& loop() { return loop_; }
  SimClock& clock() { return clock_; }
  SimEntropy& entropy() { return entropy_; }
  std::uint64_t seed() const { return seed_; }

  /// Runs until `done()`, checked before each item; jumps the clock when nothing is ready. False
  /// when `limit_ms` of simulated time passed first (the clock then stands at the limit) or nothing
  /// is left that could change anything. Throws Stuck after `max_steps` items in one call.
  bool run_until(std::function<bool()> done, std::int64_t limit_ms);
  /// Lets `ms` of simulated time pass.
  void run_for(std::int64_t ms);
  /// Runs what is ready, without letting time pass.
  void run_ready() {
    run_until([] { return false; }, 0);
  }
  /// Runs `task` to its end, and the world with it; its value or exception comes out. Throws Stuck
  /// when it has not ended after `limit_ms`.
  template <class T>
  T run(boost::asio::awaitable<T> task, std::int64_t limit_ms = day_ms);

  /// Everything parked or queued is destroyed without running, frames first. Engine, store and
  /// chain abandon what they hold before this.
  void crash();

  static constexpr std::int64_t day_ms = 86'400'000;
  std::uint64_t max_steps = 50'000'000;

 private:
  void finish(const bool& ended, std::int64_t limit_ms);
  std::string where() const;

  std::uint64_t seed_;
  SimLoop loop_;
  SimClock clock_;
  SimEntropy entropy_;
};

namespace detail {
/// Where a task of `run` leaves its result; alive as long as its completion may come.
template <class T>
struct Ending {
  bool ended = false;
  std::exception_ptr error;
  std::optional<T> value;
};
template <class T>
boost::asio::awaitable<void> keep_ending(boost::asio::awaitable<T> task,
                                         std::shared_ptr<Ending<T>> ending) {
  ending->value.emplace(co_await std::move(task));
}
}  // namespace detail

template <class T>
T SimWorld::run(boost::asio::awaitable<T> task, std::int64_t limit_ms) {
  using Kept = std::conditional_t<std::is_void_v<T>, bool, T>;
  auto ending = std::make_shared<detail::Ending<Kept>>();
  const auto at_end = [ending](std::exception_ptr error) {
    ending->error = std::move(error);
    ending->ended = true;
  };
  if constexpr (std::is_void_v<T>) {
    boost::asio::co_spawn(executor(), std::move(task), at_end);
  } else {
    boost::asio::co_spawn(executor(), detail::keep_ending<T>(std::move(task), ending), at_end);
  }
  finish(ending->ended, limit_ms);
  if (ending->error) std::rethrow_exception(ending->error);
  if constexpr (!std::is_void_v<T>) return std::move(*ending->value);
}

}  // namespace holdfast::sim
