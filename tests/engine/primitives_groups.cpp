// TaskGroup, join_all, Throttle.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/join.hpp"
#include "engine/primitives_rig.hpp"
#include "engine/signal.hpp"
#include "engine/throttle.hpp"

namespace holdfast::testing::primitives {
namespace {

using engine::join_all;
using engine::Signal;
using engine::TaskGroup;
using engine::Throttle;

Awaitable<> fail_after(int turns, std::string what) {
  co_await turns_of_the_loop(turns);
  throw std::runtime_error(what);
}

Awaitable<> park(Signal& signal) { co_await signal.wait(); }

Awaitable<> join_and_note(TaskGroup& group, std::string& log) {
  try {
    co_await group.join();
    log += "joined";
  } catch (const std::runtime_error& error) {
    log += error.what();
  }
}

TEST_CASE("task group: join waits for all, also for those that are spawned meanwhile") {
  on_every_executor([](Executor& rig) {
    TaskGroup group(rig.executor);
    TaskGroup outside(rig.executor);
    Signal first;
    Signal second;
    std::string log;
    group.spawn(park(first));
    outside.spawn(join_and_note(group, log));
    rig.run();
    group.spawn(park(second));
    rig.run();
    CHECK(group.size() == 2);
    first.notify_all();
    rig.run();
    CHECK(group.size() == 1);
    CHECK(log.empty());
    second.notify_all();
    rig.run();
    CHECK(log == "joined");
    CHECK(outside.size() == 0);
  });
}

TEST_CASE(
    "task group: a task's exception is told at once, and thrown by join when all have ended") {
  on_every_executor([](Executor& rig) {
    int told = 0;
    TaskGroup group(rig.executor, [&told](const std::exception_ptr&) { ++told; });
    TaskGroup outside(rig.executor);
    Signal signal;
    std::string log;
    group.spawn(fail_after(1, "first"));
    group.spawn(park(signal));
    outside.spawn(join_and_note(group, log));
    rig.run();
    CHECK(told == 1);
    CHECK(group.first_error() != nullptr);
    CHECK(log.empty());
    group.spawn(fail_after(0, "second"));
    signal.notify_all();
    rig.run();
    CHECK(told == 2);
    CHECK(log == "first");
  });
}

TEST_CASE("task group: cancel ends every task, and that is no error") {
  on_every_executor([](Executor& rig) {
    int told = 0;
    TaskGroup group(rig.executor, [&told](const std::exception_ptr&) { ++told; });
    TaskGroup outside(rig.executor);
    Signal signal;
    std::string log;
    for (int n = 0; n < 20; ++n) group.spawn(park(signal));
    group.cancel();  // before they have even started
    rig.run();
    CHECK(group.size() == 0);
    for (int n = 0; n < 20; ++n) group.spawn(park(signal));
    rig.run();
    outside.spawn(join_and_note(group, log));
    asio::post(rig.executor, [&] {
      group.cancel();  // on the executor: at once, and no task ends inside it
      CHECK(signal.waiting() == 0);
      CHECK(group.size() == 20);
    });
    rig.run();
    CHECK(group.size() == 0);
    CHECK(told == 0);
    CHECK(log == "joined");
  });
}

Awaitable<> cancel_own(TaskGroup& group, bool fail) {
  group.cancel();
  if (fail) throw std::runtime_error("after its own cancel");
  co_return;
}

TEST_CASE("task group: a task that cancels its group and never waits ends like any other") {
  on_every_executor([](Executor& rig) {
    int told = 0;
    TaskGroup group(rig.executor, [&told](const std::exception_ptr&) { ++told; });
    for (const bool fail : {false, true}) {
      group.spawn(cancel_own(group, fail));
      rig.run();
      asio::post(rig.executor, [&group, fail] { group.spawn(cancel_own(group, fail)); });
      rig.run();
    }
    CHECK(group.size() == 0);
    CHECK(told == 2);
  });
}

Awaitable<> join_to_the_end(TaskGroup& group, std::string& log) {
  co_await group.join_quietly();
  log += "all ended";
  co_await turn_of_the_loop();
  log += ", not reached";
}

TEST_CASE("task group: join_quietly is not cut short by a cancellation, which comes after it") {
  on_every_executor([](Executor& rig) {
    TaskGroup group(rig.executor);
    TaskGroup outside(rig.executor);
    Signal signal;
    std::string log;
    group.spawn(park(signal));
    group.spawn(fail_after(0, "not thrown by join_quietly"));
    outside.spawn(join_to_the_end(group, log));
    rig.run();
    outside.cancel();
    rig.run();
    CHECK(log.empty());
    signal.notify_all();
    rig.run();
    CHECK(log == "all ended");
    CHECK(outside.size() == 0);
  });
}

TEST_CASE("task group: in a teardown the joiner of a destroyed task is destroyed with it") {
  // The joiner is parked in the group, the group lives in the joiner's frame: nobody else could.
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    sim::SimWorld world(seed);
    auto shared = std::make_shared<int>(0);
    Signal signal;
    const auto join_own = [](asio::any_io_executor executor, Signal& on,
                             std::shared_ptr<int>) -> Awaitable<> {
      TaskGroup own(executor);
      for (int n = 0; n < 3; ++n) own.spawn(park(on));
      co_await own.join();
    };
    TaskGroup tasks(world.executor());
    tasks.spawn(join_own(world.executor(), signal, shared));
    world.run_ready();
    CHECK(shared.use_count() == 2);
    signal.abandon();
    world.crash();
    CHECK(shared.use_count() == 1);
    CHECK(tasks.size() == 0);
  }
}

Awaitable<> end_group_early(std::unique_ptr<TaskGroup>& group) {
  co_await turn_of_the_loop();
  group.reset();
  co_await turn_of_the_loop();
}

TEST_CASE("task group: a task may outlive its group") {
  on_every_executor([](Executor& rig) {
    auto group = std::make_unique<TaskGroup>(rig.executor);
    group->spawn(end_group_early(group));
    rig.run();
    CHECK(group == nullptr);
  });
}

/// An answer without a default, as results of co_spawn must not be.
struct Answer {
  explicit Answer(int n) : number(n) {}
  int number;
};

Awaitable<Answer> answer_after(int turns, int number, std::vector<int>& started) {
  started.push_back(number);
  co_await turns_of_the_loop(turns);
  co_return Answer(number);
}

Awaitable<> ask_five(std::vector<int>& started, std::vector<int>& values) {
  std::vector<Awaitable<Answer>> asks;
  asks.reserve(5);
  for (int n = 0; n < 5; ++n) asks.push_back(answer_after(5 - n, n, started));
  auto answers = co_await join_all(std::move(asks));
  for (const Answer& answer : answers) values.push_back(answer.number);
  auto none = co_await join_all(std::vector<Awaitable<Answer>>());
  values.push_back(static_cast<int>(none.size()));
}

TEST_CASE("join_all: starts all in one turn, in order, and keeps the order of the answers") {
  sim::SimWorld world(7);
  std::vector<int> started;
  std::vector<int> values;
  TaskGroup tasks(world.executor());
  tasks.spawn(ask_five(started, values));
  world.loop().run_one();
  CHECK(started == std::vector<int>{0, 1, 2, 3, 4});
  world.run_ready();
  CHECK(values == std::vector<int>{0, 1, 2, 3, 4, 0});
}

Awaitable<Answer> fail_answer(int turns) {
  co_await turns_of_the_loop(turns);
  throw std::runtime_error("no answer");
}

Awaitable<> ask_with_failure(std::vector<int>& started, int& ended, std::string& log) {
  struct End {
    int& count;
    ~End() { ++count; }
  };
  const auto slow = [](std::vector<int>& into, int& count) -> Awaitable<Answer> {
    const End end{count};
    co_return co_await answer_after(10, 1, into);
  };
  std::vector<Awaitable<Answer>> asks;
  asks.push_back(fail_answer(1));
  asks.push_back(slow(started, ended));
  asks.push_back(fail_answer(3));
  try {
    co_await join_all(std::move(asks));
  } catch (const std::runtime_error& error) {
    log = error.what() + std::string(ended == 1 ? " after all ended" : " too early");
  }
}

TEST_CASE("join_all: throws the first exception, after all have ended") {
  on_every_executor([](Executor& rig) {
    std::vector<int> started;
    std::string log;
    int ended = 0;
    TaskGroup tasks(rig.executor);
    tasks.spawn(ask_with_failure(started, ended, log));
    rig.run();
    CHECK(log == "no answer after all ended");
  });
}

Awaitable<Answer> answer_never(Signal& signal, int& ended) {
  struct End {
    int& count;
    ~End() { ++count; }
  } const end{ended};
  co_await signal.wait();
  co_return Answer(1);
}

/// `seen`: how many had ended when join_all threw.
Awaitable<> ask_forever(Signal& signal, int& ended, int& seen) {
  std::vector<Awaitable<Answer>> asks;
  asks.reserve(3);
  for (int n = 0; n < 3; ++n) asks.push_back(answer_never(signal, ended));
  try {
    co_await join_all(std::move(asks));
  } catch (...) {
    seen = ended;
    throw;
  }
}

TEST_CASE("join_all: cancelled, it cancels what it started and sees it end") {
  on_every_executor([](Executor& rig) {
    Signal signal;
    int ended = 0;
    int seen = 0;
    Watched asking;
    asking.start(rig.executor, ask_forever(signal, ended, seen));
    rig.run();
    CHECK(signal.waiting() == 3);
    asking.cancel();
    rig.run();
    CHECK(asking.cancelled);
    CHECK(seen == 3);
  });
}

TEST_CASE("join_all: destroyed in a teardown, it leaves nothing behind") {
  sim::SimWorld world(3);
  Signal signal;
  int ended = 0;
  int seen = 0;
  TaskGroup tasks(world.executor());
  tasks.spawn(ask_forever(signal, ended, seen));
  world.run_ready();
  signal.abandon();
  world.crash();
  CHECK(ended == 3);
  CHECK(seen == 0);  // destroyed, not resumed
  CHECK(tasks.size() == 0);
}

TEST_CASE("throttle: gives so many slots at once, and takes each back once") {
  const sim::SimClock clock;
  Throttle throttle(clock, 2, 0);
  auto one = throttle.try_take();
  auto two = throttle.try_take();
  REQUIRE(one);
  REQUIRE(two);
  CHECK_FALSE(throttle.try_take());
  CHECK(throttle.in_flight() == 2);
  Throttle::Slot moved(std::move(*one));
  one.reset();  // holds nothing any more
  CHECK(throttle.in_flight() == 2);
  moved = std::move(*two);  // what it held is given back
  CHECK(throttle.in_flight() == 1);
  CHECK(throttle.try_take());  // and given back at once
  CHECK(throttle.rate_wait_ms() == 0);
}

TEST_CASE("throttle: gives no more than the rate, in bursts of one second's worth") {
  sim::SimClock clock;
  Throttle throttle(clock, 1'000, 10);
  const auto take_all = [&throttle] {
    int taken = 0;
    while (throttle.try_take()) ++taken;  // each given back at once: only the rate counts
    return taken;
  };
  CHECK(take_all() == 10);
  CHECK(throttle.rate_wait_ms() == 100);
  clock.advance_to(99);
  CHECK(take_all() == 0);
  CHECK(throttle.rate_wait_ms() == 1);
  clock.advance_to(100);
  CHECK(take_all() == 1);
  clock.advance_to(1'000);
  CHECK(take_all() == 9);
  clock.advance_to(3'600'000);  // idle time is not saved up
  CHECK(take_all() == 10);
  int in_ten_seconds = 0;
  for (int step = 1; step <= 1'000; ++step) {
    clock.advance_to(3'600'000 + step * 10);
    in_ten_seconds += take_all();
  }
  CHECK(in_ten_seconds == 100);
}

TEST_CASE("throttle: a slot refused for calls under way costs no rate") {
  const sim::SimClock clock;
  Throttle throttle(clock, 1, 2);
  auto held = throttle.try_take();
  for (int n = 0; n < 10; ++n) CHECK_FALSE(throttle.try_take());
  held.reset();
  CHECK(throttle.try_take());
  CHECK_FALSE(throttle.try_take());  // now the rate is used up
}

TEST_CASE("throttle: a slot may end after its throttle") {
  const sim::SimClock clock;
  std::optional<Throttle::Slot> slot;
  {
    Throttle throttle(clock, 1, 0);
    slot = throttle.try_take();
  }
  slot.reset();
}

}  // namespace
}  // namespace holdfast::testing::primitives
