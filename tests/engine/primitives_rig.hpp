// Owns: running one check on a real io_context and on the simulator under several seeds.
#pragma once

#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine/task_group.hpp"
#include "sim/world.hpp"

namespace holdfast::testing {

namespace asio = boost::asio;
template <class T = void>
using Awaitable = asio::awaitable<T>;

/// An executor and the way to run it until nothing is ready.
struct Rig {
  std::string name;
  asio::any_io_executor executor;
  std::function<void()> run;
};

/// `check` on an io_context, and on the simulator with its FIFO and five seeds.
inline void on_every_executor(const std::function<void(Rig&)>& check) {
  {
    asio::io_context context(1);
    Rig rig{"io_context", context.get_executor(), [&context] {
              context.restart();
              context.run();
            }};
    INFO("on an io_context");
    check(rig);
  }
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    sim::SimWorld world(seed);
    Rig rig{"seed " + std::to_string(seed), world.executor(), [&world] { world.run_ready(); }};
    INFO("on the simulator, ", rig.name);
    check(rig);
  }
}

/// One turn of the executor.
inline Awaitable<> turn_of_the_loop() { co_await asio::post(asio::use_awaitable); }

inline Awaitable<> turns_of_the_loop(int turns) {
  for (; turns > 0; --turns) co_await turn_of_the_loop();
}

}  // namespace holdfast::testing
