// The simulator's executor: order from a seed, Asio's requirements, crashes, no thread.
#include "sim/executor.hpp"

#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "sim/world.hpp"

namespace holdfast::testing {
namespace {

namespace asio = boost::asio;
using sim::SimExecutor;
using sim::SimLoop;
using sim::SimWorld;

static_assert(asio::execution::is_executor<SimExecutor>::value);
static_assert(asio::can_require<SimExecutor, asio::execution::blocking_t::never_t>::value);

std::vector<int> order_of(std::uint64_t seed, int items) {
  SimLoop loop(seed);
  std::vector<int> order;
  for (int item = 0; item < items; ++item) {
    asio::post(loop.get_executor(), [&order, item] { order.push_back(item); });
  }
  loop.run_until_idle();
  return order;
}

TEST_CASE("sim executor: seed 0 is first in, first out") {
  CHECK(order_of(0, 5) == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("sim executor: the same seed gives the same order, different seeds different ones") {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto order = order_of(seed, 20);
    CHECK(order == order_of(seed, 20));
    CHECK(std::set<int>(order.begin(), order.end()).size() == 20);  // each ran once
    orders.insert(order);
  }
  CHECK(orders.size() == 50);
}

TEST_CASE("sim executor: its order is pinned, so that a seed means the same next year") {
  // From splitmix64 written in another language, with the same swap to the front.
  CHECK(order_of(1, 8) == std::vector<int>{1, 0, 2, 3, 5, 7, 4, 6});
}

TEST_CASE("sim executor: post queues, dispatch from inside runs at once, from outside queues") {
  SimLoop loop(0);
  const asio::any_io_executor executor = loop.get_executor();
  std::vector<int> log;
  asio::dispatch(executor, [&] { log.push_back(0); });
  CHECK(log.empty());
  asio::post(executor, [&] {
    asio::post(executor, [&] { log.push_back(3); });
    asio::dispatch(executor, [&] { log.push_back(1); });
    log.push_back(2);
  });
  CHECK(loop.run_until_idle() == 3);
  CHECK(log == std::vector<int>{0, 1, 2, 3});
  CHECK_FALSE(loop.run_one());
}

TEST_CASE("sim executor: an any_io_executor around it compares, converts and names its context") {
  SimLoop loop(0);
  SimLoop other(0);
  const asio::any_io_executor one = loop.get_executor();
  const asio::any_io_executor same = loop.get_executor();
  const asio::any_io_executor foreign = other.get_executor();
  CHECK(one == same);
  CHECK(one != foreign);
  CHECK(&asio::query(one, asio::execution::context) == &loop);
  REQUIRE(one.target<SimExecutor>() != nullptr);
  const auto tracked = asio::prefer(one, asio::execution::outstanding_work.tracked);
  const auto never = asio::require(tracked, asio::execution::blocking.never);
  CHECK(asio::query(never, asio::execution::blocking) == asio::execution::blocking.never);
  CHECK(asio::query(one, asio::execution::blocking) == asio::execution::blocking.possibly);
  CHECK(asio::prefer(never, asio::execution::blocking.possibly) == one);
}

TEST_CASE("sim executor: what a handler throws comes out of the run, and the rest stays queued") {
  SimLoop loop(0);
  int ran = 0;
  asio::post(loop.get_executor(), [] { throw std::runtime_error("from inside"); });
  asio::post(loop.get_executor(), [&ran] { ++ran; });
  CHECK_THROWS_WITH(loop.run_until_idle(), "from inside");
  CHECK_FALSE(loop.running());
  CHECK(loop.run_until_idle() == 1);
  CHECK(ran == 1);
}

/// Queues a successor when destroyed, as the unwinding of frames does.
struct Chained {
  SimLoop* loop;
  int left;
  int* destroyed;
  bool armed = true;
  Chained(SimLoop* l, int n, int* d) : loop(l), left(n), destroyed(d) {}
  Chained(Chained&& other) noexcept
      : loop(other.loop),
        left(other.left),
        destroyed(other.destroyed),
        armed(std::exchange(other.armed, false)) {}
  ~Chained() {
    if (!armed) return;
    ++*destroyed;
    if (left == 0) return;
    asio::post(loop->get_executor(), [next = Chained(loop, left - 1, destroyed)] { FAIL("ran"); });
  }
};

TEST_CASE("sim executor: drop_all destroys all there is and all that this queues, unrun") {
  int destroyed = 0;
  {
    SimLoop loop(3);
    for (int n = 0; n < 4; ++n) {
      asio::post(loop.get_executor(), [first = Chained(&loop, 5, &destroyed)] { FAIL("ran"); });
    }
    loop.drop_all();
    CHECK(destroyed == 24);
    CHECK(loop.ready() == 0);
    CHECK(loop.steps() == 0);
    asio::post(loop.get_executor(), [last = Chained(&loop, 1, &destroyed)] { FAIL("ran"); });
  }
  CHECK(destroyed == 26);  // the end of the loop drops too
}

asio::awaitable<int> count_to(int number) {
  int turns = 0;
  for (; turns < number; ++turns) co_await asio::post(asio::use_awaitable);
  co_return turns;
}

asio::awaitable<int> race(SimWorld& world) {
  const auto executor = co_await asio::this_coro::executor;
  auto [order, first_error, first, second_error, second] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, count_to(3), asio::deferred),
          asio::co_spawn(executor, count_to(30), asio::deferred))
          .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  (void)world;
  co_return first + second + static_cast<int>(order[0]) * 1000;
}

asio::awaitable<void> race_a_sleep(SimWorld& world, std::int64_t& woke_at) {
  const auto executor = co_await asio::this_coro::executor;
  auto [order, first_error, second_error] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, world.clock().sleep(100), asio::deferred),
          asio::co_spawn(executor, world.clock().sleep(50), asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  woke_at = world.clock().mono_ms();
  CHECK(order[0] == 1);
  CHECK(first_error != nullptr);  // cancelled
  CHECK(second_error == nullptr);
}

TEST_CASE("sim executor: co_spawn and parallel_group work on it") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimWorld world(seed);
    CHECK(world.run(race(world)) == 33);
    std::int64_t woke_at = 0;
    world.run(race_a_sleep(world, woke_at));
    CHECK(woke_at == 50);
    CHECK(world.clock().sleepers() == 0);
  }
}

TEST_CASE("sim executor: a strand on it serialises as ever") {
  SimWorld world(5);
  auto strand = asio::make_strand(world.executor());
  std::vector<int> log;
  for (int n = 0; n < 10; ++n) asio::post(strand, [&log, n] { log.push_back(n); });
  world.run_ready();
  CHECK(log == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

std::size_t threads_now() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_CASE("sim executor: no thread is started by anything it runs") {
  const std::size_t before = threads_now();
  SimWorld world(1);
  world.run(race(world));
  std::int64_t woke_at = 0;
  world.run(race_a_sleep(world, woke_at));
  CHECK(threads_now() == before);
}

}  // namespace
}  // namespace holdfast::testing
