// Clock, chance and world of the simulator.
#include "sim/world.hpp"

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::testing {
namespace {

namespace asio = boost::asio;
using sim::SimClock;
using sim::SimEntropy;
using sim::SimWorld;

asio::awaitable<void> sleep_and_note(SimWorld& world, std::int64_t ms, std::string& log,
                                     std::string name) {
  co_await world.clock().sleep(ms);
  log += name + "@" + std::to_string(world.clock().mono_ms()) + " ";
}

void start(SimWorld& world, asio::awaitable<void> task) {
  asio::co_spawn(world.executor(), std::move(task), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

TEST_CASE("sim clock: stands still while anything is ready, then jumps to the next sleeper") {
  SimWorld world(0);
  std::string log;
  start(world, sleep_and_note(world, 86'400'000, log, "day"));
  start(world, sleep_and_note(world, 10, log, "ten"));
  start(world, sleep_and_note(world, 0, log, "none"));
  start(world, sleep_and_note(world, 10, log, "ten too"));
  world.run_for(5);
  CHECK(log == "none@0 ");
  CHECK(world.clock().mono_ms() == 5);
  world.run_for(100'000'000);
  CHECK(log == "none@0 ten@10 ten too@10 day@86400000 ");
  CHECK(world.clock().mono_ms() == 100'000'005);
  CHECK(world.clock().wall_ms() == SimClock::default_wall_ms + 100'000'005);
}

TEST_CASE("sim clock: who is due at the same time wakes by posts, so a seed decides the order") {
  std::vector<std::string> orders;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SimWorld world(seed);
    std::string log;
    for (int n = 0; n < 6; ++n) start(world, sleep_and_note(world, 10, log, std::to_string(n)));
    world.run_for(10);
    orders.push_back(log);
  }
  CHECK(std::set<std::string>(orders.begin(), orders.end()).size() == 4);
}

TEST_CASE("sim clock: the wall clock can be set without disturbing a sleeper") {
  SimWorld world(0);
  std::string log;
  start(world, sleep_and_note(world, 100, log, "a"));
  world.run_for(50);
  const std::int64_t wall = world.clock().wall_ms();
  world.clock().step_wall(-3'600'000);
  CHECK(world.clock().wall_ms() == wall - 3'600'000);
  CHECK(world.clock().mono_ms() == 50);
  world.run_for(50);
  CHECK(log == "a@100 ");
}

TEST_CASE(
    "sim clock: a wall clock that drifts gains or loses with what passes, and nothing is lost") {
  for (const std::int64_t ppm : {20'000, -20'000, 1}) {
    CAPTURE(ppm);
    SimWorld world(0);
    const std::int64_t start_ms = world.clock().wall_ms();
    world.clock().drift(ppm);
    for (int i = 0; i < 3'000; ++i) world.run_for(1'001);
    CHECK(world.clock().mono_ms() == 3'003'000);
    CHECK(world.clock().wall_ms() - start_ms == 3'003'000 + 3'003 * ppm / 1'000);
  }
}

TEST_CASE("sim clock: a cancelled sleep throws, by way of the executor, and is forgotten") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    SimWorld world(seed);
    std::string log;
    asio::cancellation_signal stop;
    std::exception_ptr result;
    asio::co_spawn(world.executor(), sleep_and_note(world, 100, log, "never"),
                   asio::bind_cancellation_slot(stop.slot(),
                                                [&](std::exception_ptr error) { result = error; }));
    world.run_for(10);
    asio::post(world.executor(), [&] {
      stop.emit(asio::cancellation_type::terminal);
      CHECK(result == nullptr);
      CHECK(world.clock().sleepers() == 0);
      CHECK_FALSE(world.clock().next_due());
    });
    world.run_ready();
    REQUIRE(result != nullptr);
    CHECK_THROWS_AS(std::rethrow_exception(result), boost::system::system_error);
    CHECK(log.empty());
  }
}

TEST_CASE("sim clock: the longest sleep there is does not overflow") {
  SimWorld world(0);
  std::string log;
  world.run_for(1'000);
  start(world, sleep_and_note(world, std::numeric_limits<std::int64_t>::max(), log, "end"));
  world.run_ready();
  CHECK(world.clock().next_due() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("sim entropy: a function of its seed, which fills every byte") {
  SimEntropy one(1);
  SimEntropy same(1);
  SimEntropy other(2);
  std::array<Byte, 37> first{};
  std::array<Byte, 37> second{};
  std::array<Byte, 37> third{};
  one.fill(first);
  same.fill(second);
  other.fill(third);
  CHECK(first == second);
  CHECK(first != third);
  std::array<int, 37> seen{};
  for (int round = 0; round < 20; ++round) {
    one.fill(first);
    for (std::size_t at = 0; at < first.size(); ++at) seen[at] += first[at] != 0;
  }
  for (const int times : seen) CHECK(times > 0);
}

asio::awaitable<std::string> talk(SimWorld& world) {
  std::string log;
  for (int n = 0; n < 5; ++n) co_await sleep_and_note(world, 7, log, "t");
  co_return log;
}

TEST_CASE("sim world: run drives a task to its value or its exception") {
  SimWorld world(9);
  CHECK(world.run(talk(world)) == "t@7 t@14 t@21 t@28 t@35 ");
  const auto fail = []() -> asio::awaitable<void> {
    co_await asio::post(asio::use_awaitable);
    throw std::runtime_error("its own");
  };
  CHECK_THROWS_WITH(world.run(fail()), "its own");
}

asio::awaitable<void> forever(SimWorld& world) {
  for (;;) co_await world.clock().sleep(1'000);
}

TEST_CASE("sim world: what cannot end is said, with seed, time and step") {
  SimWorld world(11);
  CHECK_THROWS_AS(world.run(forever(world), 60'000), sim::Stuck);
  CHECK(world.clock().mono_ms() == 60'000);
  std::string what;
  try {
    world.run(forever(world), 60'000);
  } catch (const sim::Stuck& stuck) {
    what = stuck.what();
  }
  CHECK(what.starts_with("the task did not end: seed 11, 120000 ms, step "));
  world.max_steps = 1'000;
  CHECK_THROWS_AS(world.run_for(100'000'000), sim::Stuck);
}

TEST_CASE("sim world: run_until stops as soon as the condition holds") {
  SimWorld world(0);
  std::string log;
  for (std::int64_t n = 1; n <= 5; ++n) start(world, sleep_and_note(world, n * 100, log, "s"));
  CHECK(world.run_until([&] { return log.size() > 10; }, 10'000));
  CHECK(world.clock().mono_ms() == 200);
  CHECK_FALSE(world.run_until([] { return false; }, 100));
  CHECK(world.clock().mono_ms() == 300);
}

TEST_CASE("sim world: a run is a function of its seed") {
  const auto fingerprint = [](std::uint64_t seed) {
    SimWorld world(seed);
    std::string log;
    for (int n = 0; n < 30; ++n) {
      const auto ms = static_cast<std::int64_t>(world.entropy().number() % 10);
      start(world, sleep_and_note(world, ms, log, std::to_string(n)));
    }
    world.run_for(100);
    return log + std::to_string(world.loop().order_hash());
  };
  std::set<std::string> runs;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(fingerprint(seed) == fingerprint(seed));
    runs.insert(fingerprint(seed));
  }
  CHECK(runs.size() == 20);
}

asio::awaitable<void> hold_and_sleep(SimWorld& world, std::shared_ptr<int>) {
  struct Again {
    SimWorld& world;
    ~Again() {
      asio::post(world.executor(), [] { FAIL("ran after the crash"); });
    }
  } const again{world};
  co_await world.clock().sleep(1'000);
}

TEST_CASE("sim world: a crash destroys sleeping and ready frames alike, without running them") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    auto shared = std::make_shared<int>(0);
    SimWorld world(seed);
    for (int n = 0; n < 10; ++n) start(world, hold_and_sleep(world, shared));
    world.run_ready();
    for (int n = 0; n < 10; ++n) start(world, hold_and_sleep(world, shared));
    CHECK(shared.use_count() == 21);
    world.crash();
    CHECK(shared.use_count() == 1);
    CHECK(world.loop().ready() == 0);
    CHECK(world.run(talk(world)) == "t@7 t@14 t@21 t@28 t@35 ");  // a new life on the same world
  }
}

/// The way a store uses its runner: work queued, run in one batch, waiters resumed by posts.
class BatchingFake {
 public:
  BatchingFake(asio::any_io_executor runner, asio::any_io_executor waiters)
      : runner_(std::move(runner)), waiters_(std::move(waiters)) {}

  asio::awaitable<int> write(int value) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(int)>(
        [this](auto handler, int number) {
          using Handler = decltype(handler);
          queued_.push_back({std::make_shared<Handler>(std::move(handler)), number});
          finish_.push_back([this](Entry entry, int answer) {
            asio::post(waiters_, [entry, answer] {
              (*std::static_pointer_cast<Handler>(entry.handler))(answer);
            });
          });
          if (queued_.size() == 1) asio::post(runner_, [this] { run_batch(); });
        },
        asio::use_awaitable, value);
  }
  std::vector<std::size_t> batches;

 private:
  struct Entry {
    std::shared_ptr<void> handler;
    int number;
  };
  void run_batch() {
    auto entries = std::exchange(queued_, {});
    auto finish = std::exchange(finish_, {});
    batches.push_back(entries.size());
    for (std::size_t at = 0; at < entries.size(); ++at) {
      finish[at](entries[at], entries[at].number * 2);
    }
  }
  asio::any_io_executor runner_;
  asio::any_io_executor waiters_;
  std::vector<Entry> queued_;
  std::vector<std::function<void(Entry, int)>> finish_;
};

asio::awaitable<void> write_some(BatchingFake& store, int& sum) {
  for (int n = 1; n <= 3; ++n) sum += co_await store.write(n);
}

TEST_CASE(
    "sim world: a store whose runner is the simulator's executor makes progress and batches") {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    SimWorld world(seed);
    BatchingFake store(world.executor(), world.executor());
    int sum = 0;
    for (int n = 0; n < 10; ++n) start(world, write_some(store, sum));
    world.run_ready();
    CHECK(sum == 10 * 12);
    CHECK(store.batches.size() < 30);
  }
}

}  // namespace
}  // namespace holdfast::testing
