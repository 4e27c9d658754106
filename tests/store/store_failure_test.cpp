// What waiters are told when the disk fails, the queue is full, or the store goes away.
#include <array>
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>

#include "store/store_world.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using store::Store;
using store::StoreBusy;
using store::StoreInDoubt;
using store::StoreUnavailable;
using store::Txn;

awaitable<void> count_into(Store& store, std::int64_t& out) {
  out = co_await store.read([](Txn& txn) { return count_notes(txn); });
}

// Says when its frame is destroyed, and whether it was resumed first.
struct FrameLife {
  int destroyed = 0;
  int resumed = 0;
};
struct InFrame {
  FrameLife& life;
  ~InFrame() { ++life.destroyed; }
};

awaitable<void> write_and_tell(Store& store, std::string text, FrameLife& life) {
  const InFrame in_frame{life};
  co_await write_note(store, std::move(text));
  ++life.resumed;
}

awaitable<void> write_at_gate(Store& store, std::promise<void>& entered,
                              std::shared_future<void> opened, FrameLife& life) {
  const InFrame in_frame{life};
  co_await store.write([&entered, opened = std::move(opened)](Txn& txn) {
    entered.set_value();
    opened.wait();
    add_note(txn, "gate");
  });
  ++life.resumed;
}

awaitable<void> write_twice(Store& store, int& written) {
  co_await write_note(store, "first");
  ++written;
  co_await write_note(store, "second");
  ++written;
}

// Catches what the store throws and writes again, as an engine would.
awaitable<void> write_after_failure(Store& store, FaultVfs& disk, bool& failed) {
  try {
    co_await write_note(store, "a");
  } catch (const StoreUnavailable& unavailable) {
    failed = unavailable.cause() == sql::Cause::full;
  }
  disk.make_room();
  co_await write_note(store, "a");
}

awaitable<void> busy_loop(Store& store, int number, std::atomic<int>& thrown) {
  for (int i = 0; i < 40; ++i) {
    const std::string text = std::to_string(number) + "/" + std::to_string(i);
    if (i % 10 == 3) {
      try {
        co_await write_and_throw(store, text);
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
    co_await write_note(store, text);
    const auto seen = co_await store.read([](Txn& txn) { return count_notes(txn); });
    CHECK(seen > i);
  }
}

}  // namespace

TEST_CASE("store: a full disk fails the batch, and the store goes on when there is room") {
  for (const Runner runner : {Runner::lent, Runner::own_thread}) {
    World world(runner);
    world.disk().fill_up();
    bool failed = false;
    const auto ending = world.spawn(write_after_failure(world.store(), world.disk(), failed));
    world.run();
    CHECK(failed);
    CHECK(ending->good());
    CHECK(world.store().usable());
    CHECK(world.count() == 1);
  }
}

TEST_CASE("store: trouble is told until something was written; a commit of nothing says nothing") {
  World world(Runner::lent);
  CHECK_FALSE(world.store().trouble().has_value());
  world.disk().fill_up();
  world.spawn(write_note(world.store(), "a"));
  world.run();
  REQUIRE(world.store().trouble().has_value());
  CHECK(world.store().trouble()->cause == sql::Cause::full);
  const auto nothing = world.spawn(world.store().write([](Txn&) {}));
  world.run();
  CHECK(nothing->good());
  CHECK(world.store().trouble().has_value());
  world.disk().make_room();
  world.spawn(write_note(world.store(), "a"));
  world.run();
  CHECK_FALSE(world.store().trouble().has_value());
}

TEST_CASE("store: a failure of the environment is told to every waiter of the batch") {
  World world(Runner::lent);
  world.disk().fill_up();
  std::vector<std::shared_ptr<Ending>> endings;
  endings.reserve(3);
  for (int i = 0; i < 3; ++i) {
    endings.push_back(world.spawn(write_note(world.store(), std::to_string(i))));
  }
  std::int64_t seen = -1;
  const auto read = world.spawn(count_into(world.store(), seen));
  world.run();
  for (const auto& ending : endings) {
    CHECK(ending->what<StoreUnavailable>().starts_with("the store notes.db: SQLite could not"));
  }
  CHECK(read->good());  // reading needs no room
  CHECK(seen == 0);
  CHECK(world.store().stats().commits == 0);
}

TEST_CASE("store: a commit in doubt is told to the whole batch and to everybody after it") {
  for (const Runner runner : {Runner::lent, Runner::own_thread}) {
    World world(runner);
    world.disk().fail_sync(FileKind::wal, 1);
    const auto first = world.spawn(write_note(world.store(), "a"));
    const auto second = world.spawn(write_note(world.store(), "b"));
    std::int64_t seen = -1;
    const auto read = world.spawn(count_into(world.store(), seen));
    world.run();
    CHECK(first->what<StoreInDoubt>().starts_with(
        "the store notes.db does not know whether its newest commit is on disk"));
    CHECK(second->is<StoreInDoubt>());
    CHECK(read->is<StoreInDoubt>());
    CHECK_FALSE(world.store().usable());

    const auto later = world.spawn(write_note(world.store(), "c"));
    const auto later_read = world.spawn(count_into(world.store(), seen));
    world.run();
    CHECK(later->is<StoreInDoubt>());
    CHECK(later_read->is<StoreInDoubt>());
    CHECK(seen == -1);

    world.reopen();  // which settles the doubt, one way or the other
    CHECK(world.store().usable());
    const auto after = world.spawn(write_note(world.store(), "d"));
    world.run();
    CHECK(after->good());
  }
}

TEST_CASE("store: a full queue refuses at once, and takes more when it has run") {
  World world(Runner::lent, {.max_queued = 2});
  std::vector<std::shared_ptr<Ending>> endings;
  endings.reserve(4);
  for (int i = 0; i < 4; ++i) {
    endings.push_back(world.spawn(write_note(world.store(), std::to_string(i))));
  }
  world.run();
  CHECK(endings[0]->good());
  CHECK(endings[1]->good());
  CHECK(endings[2]->what<StoreBusy>() ==
        "the store notes.db has 2 operations waiting, its limit: try again later");
  CHECK(endings[3]->is<StoreBusy>());
  const auto later = world.spawn(write_note(world.store(), "later"));
  world.run();
  CHECK(later->good());
}

TEST_CASE("store: a cancelled waiter still learns what became of its write") {
  World world(Runner::lent);
  boost::asio::cancellation_signal signal;
  int written = 0;
  std::exception_ptr error;
  boost::asio::co_spawn(world.io, write_twice(world.store(), written),
                        boost::asio::bind_cancellation_slot(
                            signal.slot(), [&](std::exception_ptr ended) { error = ended; }));
  world.io.poll_one();  // the coroutine has queued its first write
  CHECK(world.store().stats().queued == 1);
  signal.emit(boost::asio::cancellation_type::all);
  world.run();
  CHECK(written == 1);
  REQUIRE(error);
  CHECK_THROWS_AS(std::rethrow_exception(error), boost::system::system_error);
  CHECK(world.count() == 1);
}

TEST_CASE("store: waiters abandoned while queued are unwound, never resumed, and write nothing") {
  World world(Runner::lent);
  FrameLife life;
  for (int i = 0; i < 5; ++i) {
    world.spawn(write_and_tell(world.store(), std::to_string(i), life));
  }
  for (int i = 0; i < 5; ++i) world.io.poll_one();
  REQUIRE(world.store().stats().queued == 5);
  world.store().abandon();
  world.run();
  CHECK(life.destroyed == 5);
  CHECK(life.resumed == 0);
  CHECK(world.count() == 0);
}

TEST_CASE("store: a waiter abandoned while its step runs is unwound; the step finishes") {
  World world(Runner::own_thread);
  FrameLife life;
  std::promise<void> entered;
  std::promise<void> opened;
  world.spawn(write_at_gate(world.store(), entered, opened.get_future().share(), life));
  world.io.poll();
  entered.get_future().wait();
  world.store().abandon();
  world.run();
  CHECK(life.destroyed == 1);
  CHECK(life.resumed == 0);
  opened.set_value();
  CHECK(world.count() == 1);
}

TEST_CASE("store: a waiter abandoned between its commit and its turn is unwound") {
  boost::asio::io_context runner;
  World world(Runner::lent, {.runner = runner.get_executor()});
  FrameLife life;
  world.spawn(write_and_tell(world.store(), "a", life));
  world.io.poll();
  runner.run();  // committed, the completion is posted
  world.store().abandon();
  world.run();
  CHECK(life.destroyed == 1);
  CHECK(life.resumed == 0);
}

TEST_CASE("store: closing keeps what is committed and refuses what still waits") {
  boost::asio::io_context runner;
  World world(Runner::lent, {.runner = runner.get_executor()});
  const auto committed = world.spawn(write_note(world.store(), "a"));
  world.io.poll();
  runner.run();
  runner.restart();
  const auto waiting = world.spawn(write_note(world.store(), "b"));
  world.io.poll();
  world.close();
  runner.run();  // the turn that was posted finds the store closed
  world.run();
  CHECK(committed->good());
  CHECK(waiting->what<StoreUnavailable>() == "the store notes.db was closed before this was begun");
  world.reopen();
  runner.restart();
  const auto reader = world.driver();
  CHECK_THROWS_AS(reader->open_writer(), sql::Failure);  // owned again
}

TEST_CASE("store: closing waits for the batch that runs") {
  boost::asio::thread_pool pool(1);
  for (const Runner runner : {Runner::own_thread, Runner::lent}) {
    store::StoreOptions options;
    if (runner == Runner::lent) options.runner = pool.get_executor();
    World world(runner, options);
    FrameLife life;
    std::promise<void> entered;
    std::promise<void> opened;
    world.spawn(write_at_gate(world.store(), entered, opened.get_future().share(), life));
    const auto other = world.spawn(write_note(world.store(), "b"));
    world.io.poll();
    entered.get_future().wait();
    std::atomic<bool> closing{false};
    std::atomic<bool> opening{false};
    std::thread opener([&] {
      while (!closing) std::this_thread::yield();
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      opening = true;
      opened.set_value();
    });
    closing = true;
    world.close();
    CHECK(opening);
    opener.join();
    world.run();
    CHECK(life.resumed == 1);
    CHECK((other->good() || other->is<StoreUnavailable>()));
    world.reopen();
    CHECK(world.count() == (other->good() ? 2 : 1));
  }
}

TEST_CASE("store: an executor that goes away takes the parked frames with it") {
  FrameLife life;
  {
    World world(Runner::own_thread);
    for (int i = 0; i < 5; ++i) {
      world.spawn(write_and_tell(world.store(), std::to_string(i), life));
    }
    world.io.poll();
    world.close();  // completions are posted, nobody runs them
  }
  CHECK(life.destroyed == 5);
}

TEST_CASE("store: a store that cannot be opened says why") {
  World world(Runner::lent);
  try {
    const Store second(world.driver(), {.waiters = world.io.get_executor()});
    FAIL("opened twice");
  } catch (const StoreUnavailable& unavailable) {
    CHECK(unavailable.cause() == sql::Cause::busy);
    CHECK(std::string(unavailable.what()).starts_with("the store notes.db is in use by process"));
  }
}

TEST_CASE("store: many coroutines write, throw and read at once on the store's own thread") {
  World world(Runner::own_thread);
  std::atomic<int> thrown{0};
  std::vector<std::shared_ptr<Ending>> endings;
  endings.reserve(50);
  for (int number = 0; number < 50; ++number) {
    endings.push_back(world.spawn(busy_loop(world.store(), number, thrown)));
  }
  world.run();
  for (const auto& ending : endings) CHECK(ending->good());
  CHECK(thrown == 50 * 4);
  CHECK(world.count() == 50 * 40);
  CHECK(world.store().stats().commits < 50 * 40);
}
