// Owns: running one check on a real io_context and on the simulator under several seeds.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine/task_group.hpp"
#include "sim/world.hpp"

namespace holdfast::testing::primitives {

namespace asio = boost::asio;
template <class T = void>
using Awaitable = asio::awaitable<T>;

/// An executor and the way to run it until nothing is ready.
struct Executor {
  std::string name;
  asio::any_io_executor executor;
  std::function<void()> run;
};

/// Runs what is ready with three threads at once.
inline void poll_with_threads(asio::io_context& context) {
  context.restart();
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int n = 0; n < 2; ++n) threads.emplace_back([&context] { context.poll(); });
  while (context.poll() > 0) {
  }
  for (std::thread& thread : threads) thread.join();
  while (context.poll() > 0) {  // what the last of them left
  }
}

/// `check` on an io_context, on a strand over three threads, and on the simulator with its FIFO and
/// five seeds.
inline void on_every_executor(const std::function<void(Executor&)>& check) {
  {
    asio::io_context context(1);
    Executor rig{"io_context", context.get_executor(), [&context] {
                   context.restart();
                   context.poll();  // not run: parked coroutines count as work
                 }};
    INFO("on an io_context");
    check(rig);
  }
  {
    asio::io_context context;
    Executor rig{"strand", asio::make_strand(context), [&context] { poll_with_threads(context); }};
    INFO("on a strand over three threads");
    check(rig);
  }
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    sim::SimWorld world(seed);
    Executor rig{"seed " + std::to_string(seed), world.executor(), [&world] { world.run_ready(); }};
    INFO("on the simulator, ", rig.name);
    check(rig);
  }
}

/// A coroutine that can be cancelled alone, and how it ended.
class Watched {
 public:
  void start(const asio::any_io_executor& executor, Awaitable<> task) {
    executor_ = executor;
    asio::co_spawn(executor, std::move(task),
                   asio::bind_cancellation_slot(stop_.slot(), [this](std::exception_ptr error) {
                     ended = true;
                     cancelled = engine::is_cancellation(error);
                   }));
  }
  /// On the executor; at once when called there.
  void cancel(asio::cancellation_type type = asio::cancellation_type::terminal) {
    asio::dispatch(executor_, [this, type] {
      stop_.emit(type);
      ended_in_cancel = ended_in_cancel || ended;
    });
  }
  bool ended = false;
  bool cancelled = false;
  bool ended_in_cancel = false;  ///< it ended inside the call that cancelled it

 private:
  asio::any_io_executor executor_;
  asio::cancellation_signal stop_;
};

/// One turn of the executor.
inline Awaitable<> turn_of_the_loop() { co_await asio::post(asio::use_awaitable); }

inline Awaitable<> turns_of_the_loop(int turns) {
  for (; turns > 0; --turns) co_await turn_of_the_loop();
}

}  // namespace holdfast::testing::primitives
