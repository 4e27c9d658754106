// KeyedQueue: cancellation and teardown. Whatever is left over is found by the address sanitizer.
#include <holdfast/engine/keyed_queue.hpp>

#include <memory>
#include <optional>
#include <vector>

#include "engine/primitives_rig.hpp"

namespace holdfast::testing::primitives {
namespace {

using engine::KeyedQueue;
using engine::TaskGroup;
using engine::Turn;

/// Counts frames: one lives in each coroutine's parameters.
struct Alive {
  explicit Alive(int& count_of) : count(&count_of) { ++*count; }
  Alive(Alive&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
  ~Alive() {
    if (count != nullptr) --*count;
  }
  int* count;
};

/// Holds the key until `gate` opens.
Awaitable<> hold_until(KeyedQueue<int>& queue, const bool& gate, std::vector<int>& log, int who,
                       Alive) {
  const Turn turn = co_await queue.turn(0);
  log.push_back(who);
  while (!gate) co_await turn_of_the_loop();
}

Awaitable<> open_after(bool& gate, int turns) {
  co_await turns_of_the_loop(turns);
  gate = true;
}

TEST_CASE("keyed queue: who is cancelled while waiting leaves the line, and the others move up") {
  on_every_executor([](Executor& rig) {
    KeyedQueue<int> queue;
    bool gate = false;
    int alive = 0;
    std::vector<int> log;
    std::vector<std::unique_ptr<Watched>> watched;
    asio::post(rig.executor, [&] {
      // From inside the executor, so that they ask in this order.
      for (int who = 0; who < 4; ++who) {
        watched.push_back(std::make_unique<Watched>());
        watched.back()->start(rig.executor, hold_until(queue, gate, log, who, Alive(alive)));
      }
      CHECK(queue.depth(0) == 4);
      watched[2]->cancel();
      CHECK(queue.depth(0) == 3);
      CHECK_FALSE(watched[2]->ended);  // never inside the call that cancels
      watched[2]->cancel();            // again: nothing more happens
      gate = true;
    });
    rig.run();
    CHECK(log == std::vector<int>{0, 1, 3});
    CHECK(watched[2]->cancelled);
    CHECK_FALSE(watched[3]->cancelled);
    CHECK(queue.keys() == 0);
    CHECK(alive == 0);
  });
}

TEST_CASE("keyed queue: who is cancelled while holding gives the key to the next") {
  on_every_executor([](Executor& rig) {
    KeyedQueue<int> queue;
    bool gate = false;
    int alive = 0;
    std::vector<int> log;
    Watched first;
    Watched second;
    asio::post(rig.executor, [&] {
      first.start(rig.executor, hold_until(queue, gate, log, 1, Alive(alive)));
      second.start(rig.executor, hold_until(queue, gate, log, 2, Alive(alive)));
      first.cancel();
    });
    asio::co_spawn(rig.executor, open_after(gate, 20), [](std::exception_ptr) {});
    rig.run();
    CHECK(first.cancelled);
    CHECK(second.ended);
    CHECK_FALSE(second.cancelled);
    CHECK(log == std::vector<int>{1, 2});
    CHECK(queue.keys() == 0);
  });
}

TEST_CASE("keyed queue: who is cancelled between being given the key and going on passes it on") {
  on_every_executor([](Executor& rig) {
    KeyedQueue<int> queue;
    bool gate = true;
    int alive = 0;
    std::vector<int> log;
    std::optional<Turn> outer;
    Watched given;
    Watched behind;
    asio::co_spawn(rig.executor, queue.turn(0),
                   [&outer](std::exception_ptr, Turn turn) { outer.emplace(std::move(turn)); });
    rig.run();
    asio::post(rig.executor, [&] {
      given.start(rig.executor, hold_until(queue, gate, log, 1, Alive(alive)));
      behind.start(rig.executor, hold_until(queue, gate, log, 2, Alive(alive)));
      outer.reset();  // the key is given to the first of them…
      given.cancel();  // …which is cancelled before it could go on
    });
    rig.run();
    CHECK(given.ended);
    CHECK(behind.ended);
    CHECK_FALSE(behind.cancelled);
    CHECK(log.back() == 2);
    CHECK(queue.keys() == 0);
  });
}

TEST_CASE("keyed queue: abandon drops waiting frames without resuming them") {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    sim::SimWorld world(seed);
    bool gate = false;
    int alive = 0;
    std::vector<int> log;
    {
      KeyedQueue<int> queue;
      TaskGroup tasks(world.executor());
      for (int who = 0; who < 50; ++who) {
        tasks.spawn(hold_until(queue, gate, log, who, Alive(alive)));
      }
      while (queue.depth(0) < 50) world.loop().run_one();
      CHECK(alive == 50);
      queue.abandon();
      CHECK(queue.depth(0) == 1);
      world.crash();
      CHECK(alive == 0);
      CHECK(tasks.size() == 0);
    }
    CHECK(log.size() == 1);
  }
}

TEST_CASE("keyed queue: an io_context that ends with parked frames leaves nothing behind") {
  int alive = 0;
  bool gate = false;
  std::vector<int> log;
  KeyedQueue<int> queue;
  {
    asio::io_context context(1);
    TaskGroup tasks(context.get_executor());
    for (int who = 0; who < 50; ++who) {
      tasks.spawn(hold_until(queue, gate, log, who, Alive(alive)));
    }
    for (int item = 0; item < 200; ++item) context.run_one();
    CHECK(alive == 50);
    queue.abandon();
  }
  CHECK(alive == 0);
  CHECK(log.size() == 1);
}

TEST_CASE("keyed queue: a frame destroyed after it was given the key passes it on") {
  // Without abandon: the frames go one after the other, each giving the key to the next.
  sim::SimWorld world;
  bool gate = false;
  int alive = 0;
  std::vector<int> log;
  KeyedQueue<int> queue;
  TaskGroup tasks(world.executor());
  for (int who = 0; who < 20; ++who) tasks.spawn(hold_until(queue, gate, log, who, Alive(alive)));
  while (queue.depth(0) < 20) world.loop().run_one();
  world.loop().drop_all();
  CHECK(alive == 0);
  CHECK(queue.keys() == 0);
  CHECK(log == std::vector<int>{0});
}

TEST_CASE("keyed queue: a turn may end after its queue") {
  sim::SimWorld world;
  std::optional<Turn> kept;
  {
    KeyedQueue<int> queue;
    asio::co_spawn(world.executor(), queue.turn(5),
                   [&kept](std::exception_ptr, Turn turn) { kept.emplace(std::move(turn)); });
    world.run_ready();
    REQUIRE(kept.has_value());
  }
  CHECK(kept->held());
  kept.reset();
}

}  // namespace
}  // namespace holdfast::testing::primitives
