// The store on the simulator's executor: one thread for steps and waiters, the order by chance.
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include <holdfast/store/store.hpp>

#include "sim/executor.hpp"
#include "store/store_world.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using store::Store;
using store::Txn;

// What one run did, for comparing two runs of a seed.
struct Trace {
  std::uint64_t order = 0;
  std::uint64_t commits = 0;
  std::int64_t notes = 0;
  bool operator==(const Trace&) const = default;
};

struct Frame {
  int& alive;
  explicit Frame(int& count) : alive(count) { ++alive; }
  ~Frame() { --alive; }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
};

awaitable<void> write_some(Store& store, int number, int& alive) {
  const Frame frame(alive);
  for (int i = 0; i < 5; ++i) {
    co_await write_note(store, std::to_string(number) + "/" + std::to_string(i));
    const auto seen = co_await store.read([](Txn& txn) { return count_notes(txn); });
    CHECK(seen > i);
  }
}

std::unique_ptr<sql::Driver> in_memory() {
  return sqlite::open_sqlite_with({.path = ":memory:"}, notes_schema);
}

void spawn(sim::SimLoop& loop, awaitable<void> coroutine) {
  boost::asio::co_spawn(loop.get_executor(), std::move(coroutine), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

awaitable<void> count_into(Store& store, std::int64_t& out) {
  out = co_await store.read([](Txn& txn) { return count_notes(txn); });
}

Trace run(std::uint64_t seed) {
  sim::SimLoop loop(seed);
  Store store(in_memory(), {.waiters = loop.get_executor(), .runner = loop.get_executor()});
  int alive = 0;
  for (int number = 0; number < 10; ++number) spawn(loop, write_some(store, number, alive));
  loop.run_until_idle();
  CHECK(alive == 0);
  Trace trace{.order = loop.order_hash(), .commits = store.stats().commits};
  spawn(loop, count_into(store, trace.notes));
  loop.run_until_idle();
  return trace;
}

}  // namespace

TEST_CASE("store: on the simulator's executor a seed decides the batches, and repeats them") {
  std::set<std::uint64_t> commits;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Trace trace = run(seed);
    CHECK(trace == run(seed));
    CHECK(trace.notes == 50);
    commits.insert(trace.commits);
  }
  CHECK(commits.size() > 1);
}

TEST_CASE("store: a crash of the simulated process leaves no frame behind") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int steps = 0; steps < 60; ++steps) {
      int alive = 0;
      sim::SimLoop loop(seed);
      auto store = std::make_unique<Store>(
          in_memory(),
          store::StoreOptions{.waiters = loop.get_executor(), .runner = loop.get_executor()});
      for (int number = 0; number < 4; ++number) spawn(loop, write_some(*store, number, alive));
      for (int i = 0; i < steps && loop.run_one(); ++i) {
      }
      store->abandon();
      loop.drop_all();
      CHECK(alive == 0);
      store.reset();
    }
  }
}

TEST_CASE("store: an exception that a waiter lets through leaves no other waiter behind") {
  sim::SimLoop loop(0);
  Store store(in_memory(), {.waiters = loop.get_executor(), .runner = loop.get_executor()});
  boost::asio::co_spawn(loop.get_executor(), write_note(store, "a"),
                        [](std::exception_ptr) { throw std::logic_error("from the completion"); });
  int alive = 0;
  spawn(loop, write_some(store, 1, alive));
  CHECK_THROWS_AS(loop.run_until_idle(), std::logic_error);
  loop.run_until_idle();
  CHECK(alive == 0);
  std::int64_t notes = 0;
  spawn(loop, count_into(store, notes));
  loop.run_until_idle();
  CHECK(notes == 1 + 5);
}
