// KeyedQueue: order, side by side, failing tasks, many keys; on a real io_context and simulated.
#include <holdfast/engine/keyed_queue.hpp>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/primitives_rig.hpp"

namespace holdfast::testing::primitives {
namespace {

using engine::KeyedQueue;
using engine::TaskGroup;
using engine::Turn;

/// Who asked for which key, and who held it, in the order it happened.
struct Book {
  KeyedQueue<int> queue;
  std::map<int, std::vector<int>> asked;
  std::map<int, std::vector<int>> held;
  std::map<int, int> inside;
  int most_inside_one = 0;
  int inside_all = 0;
  int most_inside_all = 0;

  void enter(int key, int who) {
    held[key].push_back(who);
    most_inside_one = std::max(most_inside_one, ++inside[key]);
    most_inside_all = std::max(most_inside_all, ++inside_all);
  }
  void leave(int key) {
    --inside[key];
    --inside_all;
  }
};

Awaitable<> hold(Book& book, int key, int who) {
  co_await turn_of_the_loop();
  book.asked[key].push_back(who);
  const Turn turn = co_await book.queue.turn(key);
  book.enter(key, who);
  co_await turns_of_the_loop(who % 3);
  book.leave(key);
}

TEST_CASE("keyed queue: tasks of one key run one at a time, in the order they asked") {
  on_every_executor([](Executor& rig) {
    Book book;
    TaskGroup tasks(rig.executor);
    for (int who = 0; who < 100; ++who) tasks.spawn(hold(book, who % 3, who));
    rig.run();
    CHECK(tasks.size() == 0);
    CHECK(book.most_inside_one == 1);
    CHECK(book.held == book.asked);
    CHECK(book.held[0].size() == 34);
    CHECK(book.queue.keys() == 0);
  });
}

TEST_CASE("keyed queue: different keys run side by side") {
  on_every_executor([](Executor& rig) {
    Book book;
    TaskGroup tasks(rig.executor);
    // 2 % 3 turns each: every key is held before the first one is given back.
    for (int key = 0; key < 10; ++key) tasks.spawn(hold(book, key, 2));
    rig.run();
    CHECK(book.most_inside_one == 1);
    CHECK(book.most_inside_all > 1);
  });
}

Awaitable<> fail_inside(std::string what) {
  co_await turn_of_the_loop();
  throw std::runtime_error(what);
}

Awaitable<int> answer_inside(int value) {
  co_await turn_of_the_loop();
  co_return value;
}

Awaitable<> run_three(KeyedQueue<std::string>& queue, std::vector<std::string>& log) {
  try {
    co_await queue.run("key", fail_inside("first"));
  } catch (const std::runtime_error& error) {
    log.emplace_back(error.what());
  }
  log.push_back(std::to_string(co_await queue.run("key", answer_inside(2))));
  // A lambda coroutine with captures: run keeps it until its awaitable ended.
  log.push_back(std::to_string(
      // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): that is the test
      co_await queue.run("key", [kept = std::make_unique<int>(3)]() -> Awaitable<int> {
        co_await turn_of_the_loop();
        co_return *kept;
      })));
}

TEST_CASE("keyed queue: run hands on the value or the exception of its task, and goes on") {
  on_every_executor([](Executor& rig) {
    KeyedQueue<std::string> queue;
    std::vector<std::string> log;
    TaskGroup tasks(rig.executor);
    tasks.spawn(run_three(queue, log));
    rig.run();
    CHECK(log == std::vector<std::string>{"first", "2", "3"});
    CHECK(queue.keys() == 0);
  });
}

Awaitable<> run_and_note(KeyedQueue<int>& queue, int who, std::vector<int>& done) {
  if (who % 2 == 0) {
    co_await queue.run(0, fail_inside("even"));
  } else {
    done.push_back(co_await queue.run(0, answer_inside(who)));
  }
}

TEST_CASE("keyed queue: a task that throws never blocks those behind it") {
  on_every_executor([](Executor& rig) {
    KeyedQueue<int> queue;
    std::vector<int> done;
    int errors = 0;
    TaskGroup tasks(rig.executor, [&errors](const std::exception_ptr&) { ++errors; });
    for (int who = 0; who < 20; ++who) tasks.spawn(run_and_note(queue, who, done));
    rig.run();
    CHECK(tasks.size() == 0);
    CHECK(errors == 10);
    CHECK(done.size() == 10);
    CHECK(queue.keys() == 0);
  });
}

Awaitable<> take_at_once(KeyedQueue<int>& queue, bool& inside) {
  const Turn turn = co_await queue.turn(1);
  inside = turn.held();
}

TEST_CASE("keyed queue: a key nobody holds costs no turn of the executor") {
  sim::SimWorld world;
  KeyedQueue<int> queue;
  bool inside = false;
  TaskGroup tasks(world.executor());
  tasks.spawn(take_at_once(queue, inside));
  world.loop().run_one();  // the coroutine's start
  CHECK(inside);
}

Awaitable<> take_many(KeyedQueue<int>& queue, int keys, std::vector<Turn>& turns) {
  for (int key = 0; key < keys; ++key) turns.push_back(co_await queue.turn(key));
}

TEST_CASE("keyed queue: a hundred thousand keys are held at once, and none is left behind") {
  on_every_executor([](Executor& rig) {
    constexpr int keys = 100'000;
    KeyedQueue<int> queue;
    std::vector<Turn> turns;
    TaskGroup tasks(rig.executor);
    tasks.spawn(take_many(queue, keys, turns));
    rig.run();
    CHECK(queue.keys() == keys);
    turns.clear();
    CHECK(queue.keys() == 0);
  });
}

TEST_CASE("keyed queue: ten thousand waiters of one key are served without growing the stack") {
  on_every_executor([](Executor& rig) {
    Book book;
    TaskGroup tasks(rig.executor);
    for (int who = 0; who < 10'000; ++who) tasks.spawn(hold(book, 7, who));
    rig.run();
    CHECK(book.held == book.asked);
    CHECK(book.held[7].size() == 10'000);
    CHECK(book.most_inside_one == 1);
  });
}

Awaitable<> exchange(KeyedQueue<int>& queue, std::vector<std::size_t>& depths) {
  Turn one = co_await queue.turn(1);
  Turn two = co_await queue.turn(2);
  depths.push_back(queue.keys());  // 2
  one = std::move(two);  // gives key 1 back
  depths.push_back(queue.depth(1));
  depths.push_back(queue.depth(2));
  Turn moved(std::move(one));
  depths.push_back(queue.keys());  // still 1
  moved.release();
  moved.release();
  depths.push_back(queue.keys());
}

TEST_CASE("keyed queue: a turn can be moved; what it replaces is given back, and only once") {
  on_every_executor([](Executor& rig) {
    KeyedQueue<int> queue;
    std::vector<std::size_t> depths;
    TaskGroup tasks(rig.executor);
    tasks.spawn(exchange(queue, depths));
    rig.run();
    CHECK(depths == std::vector<std::size_t>{2, 0, 1, 1, 0});
  });
}

}  // namespace
}  // namespace holdfast::testing::primitives
