// Statements, transactions, and how a commit fails.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "sqlite/opening.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using sql::Cause;
using test::FileKind;
using test::TempFolder;

constexpr const char* schema[] = {
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE, data BLOB) STRICT;"
    "CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE children (parent INTEGER NOT NULL REFERENCES parents (id)"
    "  DEFERRABLE INITIALLY DEFERRED) STRICT"};

std::unique_ptr<sql::Connection> open(const std::string& path, const std::string& vfs = "") {
  return sqlite::open_sqlite_with({.path = path, .vfs = vfs}, schema)->open_writer();
}

void insert(sql::Connection& db, std::string_view text) {
  auto& statement = db.prepare("INSERT INTO notes (text) VALUES ($1)");
  statement.bind_text(1, text);
  statement.step();
}

std::int64_t count(sql::Connection& db) {
  auto& statement = db.prepare("SELECT count(*) FROM notes");
  REQUIRE(statement.step());
  return statement.get_int(0);
}

template <class Action>
Cause cause_of(Action action) {
  try {
    action();
  } catch (const sql::Failure& failure) {
    return failure.cause();
  }
  FAIL("nothing failed");
  std::abort();
}

// What a crash at this moment would leave: the files, copied by another process, since this one
// must not open them beside SQLite.
std::string after_crash(const TempFolder& folder) {
  const std::string from = folder / "a.db";
  const std::string to = folder / "after.db";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::error_code error;
    for (const char* part : {"", "-wal"}) {
      std::filesystem::copy_file(from + part, to + part,
                                 std::filesystem::copy_options::overwrite_existing, error);
      if (error) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
  return to;
}
std::int64_t count_after_crash(const TempFolder& folder) {
  return count(*open(after_crash(folder)));
}

}  // namespace

TEST_CASE("sqlite: values come back as they were bound, an empty one is not NULL") {
  const auto db = open(":memory:");
  const std::array<Byte, 3> bytes{0, 1, 255};
  auto& insert = db->prepare("INSERT INTO notes (id, text, data) VALUES ($1, $2, $3)");
  insert.bind_int(1, 7);
  insert.bind_text(2, {});
  insert.bind_blob(3, bytes);
  CHECK_FALSE(insert.step());
  CHECK(db->last_rowid() == 7);
  insert.reset();
  insert.bind_int(1, 8);
  insert.bind_null(2);
  insert.bind_blob(3, {});
  CHECK_FALSE(insert.step());
  CHECK(db->changes() == 1);
  CHECK(db->total_changes() == 2);

  auto& select = db->prepare("SELECT id, text, data FROM notes ORDER BY id");
  REQUIRE(select.step());
  CHECK(select.get_int(0) == 7);
  CHECK_FALSE(select.is_null(1));
  CHECK(select.get_text(1).empty());
  CHECK(std::ranges::equal(select.get_blob(2), bytes));
  REQUIRE(select.step());
  CHECK(select.is_null(1));
  CHECK_FALSE(select.is_null(2));
  CHECK(select.get_blob(2).empty());
  CHECK_FALSE(select.step());
}

TEST_CASE("sqlite: $2 means the second value even where it is written first") {
  const auto db = open(":memory:");
  auto& statement = db->prepare("SELECT $2, $1, $2");
  statement.bind_int(1, 1);
  statement.bind_int(2, 2);
  REQUIRE(statement.step());
  CHECK(statement.get_int(0) == 2);
  CHECK(statement.get_int(1) == 1);
  CHECK(statement.get_int(2) == 2);
}

TEST_CASE("sqlite: a statement is cached by its text, wherever the text lies") {
  const auto db = open(":memory:");
  std::string text = "SELECT 1";
  auto& first = db->prepare(text);
  const std::string copy = text;
  CHECK(&db->prepare(copy) == &first);
  text.back() = '2';  // the same address says something else now
  auto& second = db->prepare(text);
  CHECK(&second != &first);
  REQUIRE(second.step());
  CHECK(second.get_int(0) == 2);
}

TEST_CASE("sqlite: a prepared statement comes back reset and without old values") {
  const auto db = open(":memory:");
  constexpr std::string_view sql = "SELECT $1 UNION ALL SELECT $1";
  auto& statement = db->prepare(sql);
  statement.bind_int(1, 5);
  REQUIRE(statement.step());
  REQUIRE(db->prepare(sql).step());
  CHECK(statement.is_null(0));
}

TEST_CASE("sqlite: misuse is told, not guessed around") {
  const auto db = open(":memory:");
  CHECK(cause_of([&] { db->prepare("SELECT nonsense"); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare("SELECT 1; SELECT 2"); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare(""); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare("SELECT ?"); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare("SELECT $name"); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare("SELECT \"text\""); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare("SELECT $1").bind_int(2, 0); }) == Cause::misuse);
  CHECK(cause_of([&] { db->prepare("SELECT $2").bind_int(1, 0); }) == Cause::misuse);
  auto& statement = db->prepare("SELECT 'text', NULL");
  REQUIRE(statement.step());
  CHECK(cause_of([&] { (void)statement.get_int(0); }) == Cause::misuse);
  CHECK(cause_of([&] { (void)statement.get_text(1); }) == Cause::misuse);
  CHECK(cause_of([&] { (void)statement.is_null(2); }) == Cause::misuse);
}

TEST_CASE("sqlite: a constraint that fails changes nothing and leaves the transaction open") {
  const auto db = open(":memory:");
  db->begin_write();
  insert(*db, "a");
  CHECK(cause_of([&] { insert(*db, "a"); }) == Cause::constraint);
  insert(*db, "b");
  db->commit();
  CHECK(count(*db) == 2);
}

TEST_CASE("sqlite: a savepoint takes back its own changes only") {
  const auto db = open(":memory:");
  db->begin_write();
  insert(*db, "a");
  db->savepoint();
  insert(*db, "b");
  db->rollback_to_savepoint();
  db->release_savepoint();
  db->savepoint();
  insert(*db, "c");
  db->release_savepoint();
  db->commit();
  CHECK(count(*db) == 2);
  db->begin_write();
  insert(*db, "d");
  db->rollback();
  db->rollback();  // without a transaction: nothing
  CHECK(count(*db) == 2);
}

TEST_CASE("sqlite: a row left unread does not keep an old snapshot after a commit") {
  const TempFolder folder;
  const auto db = open(folder / "a.db");
  db->begin_write();
  insert(*db, "a");
  insert(*db, "b");
  REQUIRE(db->prepare("SELECT text FROM notes").step());
  db->commit();
  // A snapshot still held would keep the log from being emptied.
  auto& checkpoint = db->prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  REQUIRE(checkpoint.step());
  CHECK(checkpoint.get_int(0) == 0);
  CHECK(checkpoint.get_int(1) == 0);
}

TEST_CASE("sqlite: a broken deferred foreign key refuses the commit, and nothing happened") {
  const auto db = open(":memory:");
  db->begin_write();
  insert(*db, "a");
  db->prepare("INSERT INTO children (parent) VALUES (1)").step();
  CHECK(cause_of([&] { db->commit(); }) == Cause::constraint);
  CHECK(count(*db) == 0);
  db->begin_write();
  insert(*db, "a");
  db->commit();
  CHECK(count(*db) == 1);
}

TEST_CASE("sqlite: after a failed sync the commit is in doubt: gone now, back after a crash") {
  const TempFolder folder;
  test::FaultVfs disk("in-doubt");
  const auto db = open(folder / "a.db", disk.name());
  disk.fail_sync(FileKind::wal, 1);
  db->begin_write();
  insert(*db, "a");
  CHECK(cause_of([&] { db->commit(); }) == Cause::in_doubt);
  CHECK(count(*db) == 0);
  CHECK(count_after_crash(folder) == 1);
}

TEST_CASE("sqlite: a write that fails with the device is in doubt as well") {
  const TempFolder folder;
  test::FaultVfs disk("bad-write");
  const auto db = open(folder / "a.db", disk.name());
  disk.fail_write(FileKind::wal, 1, SQLITE_IOERR_WRITE);
  db->begin_write();
  insert(*db, "a");
  CHECK(cause_of([&] { db->commit(); }) == Cause::in_doubt);
}

TEST_CASE("sqlite: a disk that fills up at any page of a commit leaves nothing of it") {
  for (int nth = 1; nth <= 4; ++nth) {
    CAPTURE(nth);
    const TempFolder folder;
    test::FaultVfs disk("full");
    const auto db = open(folder / "a.db", disk.name());
    const auto before = disk.writes(FileKind::wal);
    disk.fail_write(FileKind::wal, nth, SQLITE_FULL, 1, true);
    db->begin_write();
    insert(*db, "a");  // two pages, each with a header of its own
    CHECK(cause_of([&] { db->commit(); }) == Cause::full);
    CHECK(disk.writes(FileKind::wal) == before + static_cast<std::uint64_t>(nth));
    CHECK(count(*db) == 0);
    CHECK(count_after_crash(folder) == 0);
    // Room again: the same connection goes on.
    db->begin_write();
    insert(*db, "b");
    db->commit();
    CHECK(count(*db) == 1);
    CHECK(count_after_crash(folder) == 1);
  }
}

TEST_CASE("sqlite: opening carries a log that a crash has left into the database, durably") {
  const TempFolder folder;
  test::FaultVfs disk("left-log");
  std::string left;
  {
    const auto db = open(folder / "a.db");
    db->begin_write();
    insert(*db, "a");
    db->commit();
    left = after_crash(folder);
  }
  const auto db = open(left, disk.name());
  CHECK(disk.writes(FileKind::database) > 0);
  CHECK(disk.unsynced(FileKind::database) == 0);
  CHECK(count(*db) == 1);
}

TEST_CASE("sqlite: whoever goes on after SQLite ended the transaction is stopped") {
  const TempFolder folder;
  test::FaultVfs disk("ended");
  const auto db = sqlite::open_sqlite_with(
                      {.path = folder / "a.db", .vfs = disk.name(), .cache_kib = 40}, schema)
                      ->open_writer();
  const std::string big(3000, 'x');
  db->begin_write();
  // The small cache spills into the log long before the commit, and the disk is full.
  disk.fill_up();
  const Cause cause = cause_of([&] {
    for (int i = 0; i < 1000; ++i) insert(*db, big + std::to_string(i));
  });
  CHECK(cause == Cause::full);
  disk.make_room();
  CHECK(cause_of([&] { insert(*db, "alone"); }) == Cause::io);
  CHECK(cause_of([&] { db->commit(); }) == Cause::io);
  CHECK(count(*db) == 0);
  db->begin_write();
  insert(*db, "a");
  db->commit();
  CHECK(count(*db) == 1);
}

TEST_CASE("sqlite: closing on a dead disk is quiet, and what was committed is there afterwards") {
  const TempFolder folder;
  test::FaultVfs disk("dead");
  auto db = open(folder / "a.db", disk.name());
  db->begin_write();
  insert(*db, "a");
  db->commit();
  db->begin_write();
  insert(*db, "b");
  disk.freeze();
  db.reset();
  disk.heal();
  CHECK(count(*open(folder / "a.db", disk.name())) == 1);
}
