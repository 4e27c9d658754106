// Group commit: who shares a commit, whose failure is whose, and what a waiter may rely on.
#include <csignal>
#include <future>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "store/store_world.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using store::Store;
using store::Txn;

enum class TestError { refused = 1 };
boost::system::error_code make_error_code(TestError error) {
  return {static_cast<int>(error), boost::system::generic_category()};
}

// Keeps the runner inside a step until the test lets it go on.
struct Gate {
  std::promise<void> entered;
  std::promise<void> open;
};

awaitable<void> write_at_gate(Store& store, Gate& gate) {
  co_await store.write([&gate, opened = gate.open.get_future().share()](Txn& txn) {
    gate.entered.set_value();
    opened.wait();
    add_note(txn, "gate");
  });
}

awaitable<void> write_durably(Store& store, FaultVfs& disk, std::string text, int& woken) {
  co_await write_note(store, std::move(text));
  ++woken;
  CHECK(disk.unsynced(FileKind::wal) == 0);
}

awaitable<void> count_into(Store& store, std::int64_t& out) {
  out = co_await store.read([](Txn& txn) { return count_notes(txn); });
}

awaitable<void> refuse_step(Store& store, bool after_writing) {
  const auto answer = co_await store.write([after_writing](Txn& txn) -> Result<int> {
    if (after_writing) add_note(txn, "too late");
    return holdfast::refuse(TestError::refused, "no");
  });
  CHECK(answer.has_error());
  CHECK(answer.error().detail == "no");
}

awaitable<void> write_in_read(Store& store) {
  co_await store.read([](Txn& txn) { add_note(txn, "from a read"); });
}

awaitable<void> return_many_kinds(Store& store) {
  const auto owned =
      co_await store.write([](Txn&) { return std::make_unique<std::string>("moved"); });
  CHECK(*owned == "moved");
  const Result<void> nothing = co_await store.write([](Txn&) { return Result<void>(); });
  CHECK(nothing.has_value());
  CHECK(co_await store.read([](Txn&) { return true; }));
}

// A child without parents: a deferred foreign key, seen at the commit only.
awaitable<void> break_foreign_key(Store& store) {
  co_await store.write([](Txn& txn) {
    add_note(txn, "orphan");
    txn.db().prepare("INSERT INTO children (parent) VALUES (1)").step();
  });
}

// Runs the coroutine in a process of its own and says by which signal it died; zero: it did not.
template <class Coroutine, class... Args>
int signal_of(Coroutine coroutine, Args... args) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    World world(Runner::lent);
    world.spawn(coroutine(world.store(), args...));
    world.run();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("store: writes that wait together share one commit") {
  World world(Runner::lent);
  for (int i = 0; i < 100; ++i) world.spawn(write_note(world.store(), std::to_string(i)));
  world.run();
  CHECK(world.store().stats().commits == 1);
  CHECK(world.store().stats().steps == 100);
  CHECK(world.count() == 100);
}

TEST_CASE("store: writes that come while a batch runs share the next commit") {
  World world(Runner::own_thread);
  Gate gate;
  world.spawn(write_at_gate(world.store(), gate));
  world.io.poll();
  gate.entered.get_future().wait();
  for (int i = 0; i < 100; ++i) world.spawn(write_note(world.store(), std::to_string(i)));
  world.io.poll();
  CHECK(world.store().stats().queued == 100);
  gate.open.set_value();
  world.run();
  CHECK(world.store().stats().commits == 2);
  CHECK(world.count() == 101);
}

TEST_CASE("store: a batch has a limit") {
  World few(Runner::lent, {.max_batch = 4});
  for (int i = 0; i < 10; ++i) few.spawn(write_note(few.store(), std::to_string(i)));
  few.run();
  CHECK(few.store().stats().commits == 3);
}

TEST_CASE("store: one commit per step can be asked for") {
  World world(Runner::lent, {.commit_per_step = true});
  for (int i = 0; i < 10; ++i) world.spawn(write_note(world.store(), std::to_string(i)));
  world.run();
  CHECK(world.store().stats().commits == 10);
  CHECK(world.count() == 10);
}

TEST_CASE("store: nobody is woken before the commit is synced") {
  World world(Runner::lent);
  const auto syncs = world.disk().syncs(FileKind::wal);
  int woken = 0;
  for (int i = 0; i < 5; ++i) {
    world.spawn(write_durably(world.store(), world.disk(), std::to_string(i), woken));
  }
  world.run();
  CHECK(woken == 5);
  CHECK(world.disk().syncs(FileKind::wal) > syncs);
}

TEST_CASE("store: a read sees every write queued before it, in the same batch too") {
  World world(Runner::lent);
  std::int64_t seen = -1;
  world.spawn(write_note(world.store(), "a"));
  world.spawn(count_into(world.store(), seen));
  world.spawn(write_note(world.store(), "b"));
  world.run();
  CHECK(seen >= 1);
  CHECK(world.store().stats().commits == 1);
  CHECK(world.store().stats().reads == 1);
}

TEST_CASE("store: reads alone open no write transaction") {
  World world(Runner::lent);
  const auto writes = world.disk().writes(FileKind::wal);
  CHECK(world.count() == 0);
  CHECK(world.disk().writes(FileKind::wal) == writes);
  CHECK(world.store().stats().commits == 0);
}

TEST_CASE("store: a step that throws takes back its own changes only, and tells its own waiter") {
  World world(Runner::lent);
  std::vector<std::shared_ptr<Ending>> endings;
  endings.reserve(10);
  for (int i = 0; i < 10; ++i) {
    endings.push_back(world.spawn(i == 3 || i == 7
                                      ? write_and_throw(world.store(), std::to_string(i))
                                      : write_note(world.store(), std::to_string(i))));
  }
  world.run();
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    const Ending& ending = *endings[static_cast<std::size_t>(i)];
    CHECK(ending.good() == (i != 3 && i != 7));
  }
  CHECK(endings[3]->what<std::runtime_error>() == "thrown by 3");
  CHECK(endings[7]->what<std::runtime_error>() == "thrown by 7");
  CHECK(world.count() == 8);
  CHECK(world.store().stats().rollbacks == 1);
  CHECK(world.store().stats().commits == 1);
}

TEST_CASE("store: a step that throws alone leaves nothing") {
  World world(Runner::lent);
  const auto ending = world.spawn(write_and_throw(world.store(), "a"));
  world.run();
  CHECK(ending->what<std::runtime_error>() == "thrown by a");
  CHECK(world.count() == 0);
}

TEST_CASE("store: a violated constraint is its own step's failure") {
  World world(Runner::lent);
  const auto first = world.spawn(write_note(world.store(), "same"));
  const auto second = world.spawn(write_note(world.store(), "same"));
  world.run();
  CHECK(first->good());
  REQUIRE(second->is<sql::Failure>());
  CHECK(world.count() == 1);
}

TEST_CASE("store: a constraint seen only at the commit is still its own step's failure") {
  World world(Runner::lent);
  const auto before = world.spawn(write_note(world.store(), "a"));
  const auto breaks = world.spawn(break_foreign_key(world.store()));
  const auto after = world.spawn(write_note(world.store(), "b"));
  world.run();
  CHECK(before->good());
  CHECK(breaks->is<sql::Failure>());
  CHECK(after->good());
  CHECK(world.count() == 2);
}

TEST_CASE("store: a refusal is an answer, and changes nothing for anybody") {
  World world(Runner::lent);
  const auto refused = world.spawn(refuse_step(world.store(), false));
  const auto written = world.spawn(write_note(world.store(), "a"));
  world.run();
  CHECK(refused->good());
  CHECK(written->good());
  CHECK(world.store().stats().rollbacks == 0);
  CHECK(world.count() == 1);
}

TEST_CASE("store: a step that refuses after it has written stops the process") {
  CHECK(signal_of(refuse_step, false) == 0);
  CHECK(signal_of(refuse_step, true) == SIGABRT);
}

TEST_CASE("store: a read that writes stops the process") {
  CHECK(signal_of(write_in_read) == SIGABRT);
}

TEST_CASE("store: steps return nothing, results, and what can only be moved") {
  World world(Runner::own_thread);
  const auto ending = world.spawn(return_many_kinds(world.store()));
  world.run();
  CHECK(ending->good());
}
