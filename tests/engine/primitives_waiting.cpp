// Waiter, Signal: parked frames, notification, time-outs, cancellation, teardown.
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/primitives_rig.hpp"
#include "engine/signal.hpp"

namespace holdfast::testing::primitives {
namespace {

using engine::Signal;
using engine::TaskGroup;

Awaitable<> wait_and_note(Signal& signal, int who, std::vector<int>& log) {
  co_await signal.wait();
  log.push_back(who);
}

Awaitable<> wait_in_turn(Signal& signal, int who, std::vector<int>& asked, std::vector<int>& log) {
  asked.push_back(who);
  co_await wait_and_note(signal, who, log);
}

TEST_CASE("signal: notify_one wakes who waits longest, and never inside the call") {
  on_every_executor([](Executor& rig) {
    Signal signal;
    std::vector<int> asked;
    std::vector<int> log;
    TaskGroup tasks(rig.executor);
    for (int who = 0; who < 3; ++who) tasks.spawn(wait_in_turn(signal, who, asked, log));
    rig.run();
    CHECK(signal.waiting() == 3);
    signal.notify_one();
    CHECK(log.empty());
    CHECK(signal.waiting() == 2);
    rig.run();
    CHECK(log == std::vector<int>{asked[0]});
    signal.notify_all();
    CHECK(signal.waiting() == 0);
    rig.run();
    CHECK(log.size() == 3);
    CHECK(tasks.size() == 0);
  });
}

TEST_CASE("signal: a notification nobody waits for is not kept") {
  on_every_executor([](Executor& rig) {
    Signal signal;
    std::vector<int> log;
    signal.notify_all();
    TaskGroup tasks(rig.executor);
    tasks.spawn(wait_and_note(signal, 1, log));
    rig.run();
    CHECK(log.empty());
    CHECK(tasks.size() == 1);
    signal.notify_all();
    rig.run();
    CHECK(log == std::vector<int>{1});
  });
}

TEST_CASE("signal: a cancelled wait leaves, and a later notification goes to somebody else") {
  on_every_executor([](Executor& rig) {
    Signal signal;
    std::vector<int> log;
    Watched first;
    Watched second;
    first.start(rig.executor, wait_and_note(signal, 1, log));
    rig.run();
    second.start(rig.executor, wait_and_note(signal, 2, log));
    rig.run();
    first.cancel();
    rig.run();
    CHECK(signal.waiting() == 1);
    CHECK(first.cancelled);
    CHECK_FALSE(first.ended_in_cancel);
    signal.notify_one();
    rig.run();
    CHECK(second.ended);
    CHECK_FALSE(second.cancelled);
    CHECK(log == std::vector<int>{2});
  });
}

TEST_CASE("signal: a partial cancellation is not for a coroutine that takes only terminal ones") {
  sim::SimWorld world;
  Signal signal;
  std::vector<int> log;
  Watched waiting;
  waiting.start(world.executor(), wait_and_note(signal, 1, log));
  world.run_ready();
  waiting.cancel(asio::cancellation_type::partial);
  world.run_ready();
  CHECK_FALSE(waiting.ended);
  signal.notify_all();
  world.run_ready();
  CHECK(log == std::vector<int>{1});
}

TEST_CASE("signal: abandon destroys waiting frames by way of the executor") {
  on_every_executor([](Executor& rig) {
    auto shared = std::make_shared<int>(0);
    Signal signal;
    std::vector<int> log;
    const auto wait_with = [](Signal& on, std::shared_ptr<int>,
                              std::vector<int>& into) -> Awaitable<> {
      co_await wait_and_note(on, 1, into);
    };
    TaskGroup tasks(rig.executor);
    for (int n = 0; n < 10; ++n) tasks.spawn(wait_with(signal, shared, log));
    rig.run();
    CHECK(shared.use_count() == 11);
    signal.abandon();
    CHECK(signal.waiting() == 0);
    rig.run();
    CHECK(shared.use_count() == 1);
    CHECK(tasks.size() == 0);
    CHECK(log.empty());
  });
}

Awaitable<> time_out(Signal& signal, ports::Clock& clock, std::int64_t ms, std::vector<int>& log) {
  log.push_back(co_await signal.wait_for(clock, ms) ? 1 : 0);
  log.push_back(static_cast<int>(clock.mono_ms()));
}

TEST_CASE("signal: wait_for returns true when notified, false when the time is over") {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    sim::SimWorld world(seed);
    Signal signal;
    std::vector<int> log;
    TaskGroup tasks(world.executor());
    tasks.spawn(time_out(signal, world.clock(), 500, log));
    world.run_for(1'000);
    CHECK(log == std::vector<int>{0, 500});

    tasks.spawn(time_out(signal, world.clock(), 500, log));
    world.run_for(200);
    CHECK(world.clock().sleepers() == 1);
    signal.notify_all();
    world.run_ready();
    CHECK(log == std::vector<int>{0, 500, 1, 1'200});
    CHECK(world.clock().sleepers() == 0);  // its sleep is over too
    CHECK(tasks.size() == 0);
  }
}

Awaitable<> wait_for_as_loop(Signal& signal, ports::Clock& clock, const int& jobs, int& taken) {
  while (taken < 100) {
    while (taken == jobs) co_await signal.wait_for(clock, 1'000'000);
    ++taken;
  }
}

Awaitable<> feed(Signal& signal, int& jobs, int by_turns) {
  for (; jobs < 100; signal.notify_all()) {
    ++jobs;
    co_await turns_of_the_loop(by_turns);
  }
}

TEST_CASE("signal: wait_for parks at once: a loop that checks and waits misses no notification") {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
    for (const int turns : {0, 1, 2, 3}) {
      sim::SimWorld world(seed);
      Signal signal;
      int jobs = 0;
      int taken = 0;
      TaskGroup tasks(world.executor());
      tasks.spawn(wait_for_as_loop(signal, world.clock(), jobs, taken));
      tasks.spawn(feed(signal, jobs, turns));
      world.run_until([&] { return tasks.size() == 0; }, 900'000);
      CHECK(taken == 100);
      CHECK(world.clock().mono_ms() == 0);  // no wait had to run into its time-out
    }
  }
}

TEST_CASE("signal: a cancelled wait_for throws and leaves neither waiter nor sleeper") {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    sim::SimWorld world(seed);
    Signal signal;
    std::vector<int> log;
    Watched waiting;
    waiting.start(world.executor(), time_out(signal, world.clock(), 500, log));
    world.run_for(100);
    waiting.cancel();
    world.run_ready();
    CHECK(waiting.cancelled);
    CHECK(log.empty());
    CHECK(signal.waiting() == 0);
    CHECK(world.clock().sleepers() == 0);
  }
}

class BrokenClock final : public ports::Clock {
 public:
  std::int64_t wall_ms() const override { return 0; }
  std::int64_t mono_ms() const override { return 0; }
  Awaitable<> sleep(std::int64_t) override {
    co_await turn_of_the_loop();
    throw std::runtime_error("the clock is broken");
  }
  std::unique_ptr<ports::Alarm> alarm(boost::asio::any_io_executor, std::int64_t,
                                      std::function<void()>) override {
    throw std::runtime_error("the clock is broken");
  }
};

TEST_CASE("signal: a clock that fails ends wait_for with its error, not with a hang") {
  on_every_executor([](Executor& rig) {
    BrokenClock clock;
    Signal signal;
    std::vector<int> log;
    std::string what;
    TaskGroup tasks(rig.executor, [&what](const std::exception_ptr& error) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& failure) {
        what = failure.what();
      }
    });
    tasks.spawn(time_out(signal, clock, 10, log));
    rig.run();
    CHECK(what == "the clock is broken");
    CHECK(log.empty());
    CHECK(signal.waiting() == 0);
  });
}

TEST_CASE("signal: wait_for in a crash leaves nothing behind") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    Signal signal;
    std::vector<int> log;
    sim::SimWorld world(seed);
    TaskGroup tasks(world.executor());
    for (int n = 0; n < 10; ++n) tasks.spawn(time_out(signal, world.clock(), 500 + n, log));
    world.run_for(505);  // some are over, some wait
    signal.abandon();
    world.crash();
    CHECK(tasks.size() == 0);
  }
}

Awaitable<> wait_deaf(ports::WaitList& list, std::vector<int>& log) {
  ports::Waiter waiter;
  co_await waiter.park_uncancellable(list);
  log.push_back(1);  // the cancellation did not end the wait…
  co_await turn_of_the_loop();  // …but this
  log.push_back(2);
}

TEST_CASE("waiter: a cancellation passes an uncancellable wait and meets the next co_await") {
  on_every_executor([](Executor& rig) {
    ports::WaitList list;
    std::vector<int> log;
    Watched waiting;
    waiting.start(rig.executor, wait_deaf(list, log));
    rig.run();
    waiting.cancel();
    rig.run();
    CHECK(log.empty());
    list.wake_all();
    rig.run();
    CHECK(log == std::vector<int>{1});
    CHECK(waiting.cancelled);
  });
}

TEST_CASE("waiter: a cancellation after its frame is gone finds nobody") {
  for (const bool woken_first : {false, true}) {
    sim::SimWorld world;
    Signal signal;
    std::vector<int> log;
    Watched waiting;
    waiting.start(world.executor(), wait_and_note(signal, 1, log));
    world.run_ready();
    if (woken_first) {
      signal.notify_all();
    } else {
      signal.abandon();
    }
    world.crash();
    waiting.cancel();
    world.run_ready();
    CHECK_FALSE(waiting.ended);
    CHECK(log.empty());
  }
}

}  // namespace
}  // namespace holdfast::testing::primitives
