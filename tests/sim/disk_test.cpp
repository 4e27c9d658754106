// What SQLite finds on the simulated disk: all that was committed, after whatever end.
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <holdfast/sqlite/sqlite.hpp>

#include "sim/disk.hpp"

using namespace holdfast;

namespace {

std::unique_ptr<sql::Connection> open_on(const sim::SimDisk& disk) {
  sqlite::SqliteOptions options;
  options.path = "pay.db";
  options.vfs = disk.name();
  options.lock = options.mark = false;
  options.checkpoint_pages = 8;
  return sqlite::open_sqlite(options)->open_writer();
}

std::int64_t rows(sql::Connection& db) {
  sql::Statement& count = db.prepare("SELECT count(*) FROM marks");
  REQUIRE(count.step());
  const std::int64_t out = count.get_int(0);
  count.reset();
  return out;
}

void commit_row(sql::Connection& db, std::int64_t number) {
  db.begin_write();
  sql::Statement& add = db.prepare("INSERT INTO marks (n, filler) VALUES ($1, randomblob(3000))");
  add.bind_int(1, number);
  add.step();
  add.reset();
  db.commit();
}

void make_table(sql::Connection& db) {
  db.begin_write();
  db.execute("CREATE TABLE marks (n INTEGER PRIMARY KEY, filler BLOB) STRICT");
  db.commit();
}

}  // namespace

TEST_CASE("sim: whatever was committed is there after a power cut at any write or sync") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    sim::SimDisk disk("power", seed);
    sim::Chance chance(seed);
    std::int64_t committed = 0;
    {
      auto db = open_on(disk);
      make_table(*db);
      disk.freeze_in(1 + chance.below(120));
      try {
        for (;;) {
          commit_row(*db, committed + 1);
          ++committed;
        }
      } catch (const sql::Failure&) {
        REQUIRE(disk.frozen());
      }
    }
    disk.cut_power();
    auto db = open_on(disk);
    CHECK(db->own_check().empty());
    // The commit under way may have come through.
    const std::int64_t found = rows(*db);
    CHECK(found >= committed);
    CHECK(found <= committed + 1);
  }
}

TEST_CASE("sim: a process that dies loses nothing that it wrote") {
  sim::SimDisk disk("kill", 7);
  {
    auto db = open_on(disk);
    make_table(*db);
    commit_row(*db, 1);
    disk.freeze();
  }
  disk.restart();
  CHECK(rows(*open_on(disk)) == 1);
  CHECK(disk.counts().power_cuts == 0);
}

TEST_CASE("sim: a full disk refuses writes, and takes them again when there is room") {
  sim::SimDisk disk("full", 3);
  auto db = open_on(disk);
  make_table(*db);
  disk.fill(true);
  CHECK_THROWS_AS(commit_row(*db, 1), sql::Failure);
  db->rollback();
  disk.fill(false);
  commit_row(*db, 1);
  CHECK(rows(*db) == 1);
  CHECK(disk.counts().full > 0);
}

TEST_CASE("sim: what a failed sync left out is read until the power goes, and not after it") {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    sim::SimDisk disk("sync", seed);
    {
      auto db = open_on(disk);
      make_table(*db);
      commit_row(*db, 1);
      disk.fail_next_sync();
      try {
        commit_row(*db, 2);
        FAIL("a commit whose sync fails says so");
      } catch (const sql::Failure& failure) {
        CHECK(failure.cause() == sql::Cause::in_doubt);
      }
      disk.freeze();
    }
    disk.cut_power();
    auto db = open_on(disk);
    CHECK(db->own_check().empty());
    const std::int64_t found = rows(*db);
    CHECK(found >= 1);
    lost += found == 1 ? 1 : 0;
  }
  CHECK(lost > 0);
  CHECK(lost < 40);
}

TEST_CASE("sim: the same seed leaves the same disk") {
  const auto left = [](std::uint64_t seed) {
    sim::SimDisk disk("same", seed);
    {
      auto db = open_on(disk);
      make_table(*db);
      for (int i = 1; i <= 20; ++i) commit_row(*db, i);
      disk.freeze();
    }
    disk.cut_power();
    return disk.image();
  };
  CHECK(left(5) == left(5));
  CHECK(left(5) != left(6));
}

TEST_CASE("sim: a backup put back is the store of then") {
  sim::SimDisk disk("backup", 9);
  sim::SimDisk::Image backup;
  {
    auto db = open_on(disk);
    make_table(*db);
    commit_row(*db, 1);
    backup = disk.image();
    commit_row(*db, 2);
    disk.freeze();
  }
  disk.put_back(backup);
  CHECK(rows(*open_on(disk)) == 1);
}

TEST_CASE("sim: two connections keep out of each other's way") {
  sim::SimDisk disk("two", 11);
  auto one = open_on(disk);
  make_table(*one);
  auto two = open_on(disk);
  one->begin_write();
  CHECK_THROWS_AS(two->begin_write(), sql::Failure);
  one->rollback();
  commit_row(*two, 1);
  CHECK(rows(*one) == 1);
}
