// Which files are opened as a store, which are refused, and with what sentence.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include <sqlite3.h>

#include <doctest/doctest.h>

#include "sqlite/opening.hpp"
#include "sqlite/schema.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using test::FileKind;
using test::TempFolder;

constexpr const char* schema_1[] = {
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT) STRICT"};
constexpr const char* schema_2[] = {schema_1[0], "ALTER TABLE notes ADD COLUMN more TEXT"};
constexpr const char* schema_broken[] = {schema_1[0],
                                         "CREATE TABLE half (a INTEGER) STRICT; SELECT nonsense"};

sqlite::SqliteOptions at(const std::string& path, const std::string& vfs = "") {
  return {.path = path, .vfs = vfs};
}

std::unique_ptr<sql::Connection> open(const std::string& path,
                                      sqlite::Migrations schema = schema_1) {
  return sqlite::open_sqlite_with(at(path), schema)->open_writer();
}

// The failure of `action`, which must fail.
template <class Action>
sql::Failure failure_of(Action action) {
  try {
    action();
  } catch (const sql::Failure& failure) {
    return failure;
  }
  FAIL("nothing failed");
  std::abort();
}

std::int64_t number(sql::Connection& db, std::string_view sql) {
  auto& statement = db.prepare(sql);
  REQUIRE(statement.step());
  return statement.get_int(0);
}

void add_note(sql::Connection& db) {
  db.begin_write();
  db.prepare("INSERT INTO notes (text) VALUES ('x')").step();
  db.commit();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("sqlite: a new file becomes a store of the newest schema version") {
  const TempFolder folder;
  const auto db = open(folder / "a.db", schema_2);
  CHECK(number(*db, "PRAGMA user_version") == 2);
  CHECK(number(*db, "PRAGMA application_id") == 0x686f6c64);
  CHECK(number(*db, "PRAGMA synchronous") == 2);
  CHECK(number(*db, "PRAGMA foreign_keys") == 1);
  CHECK(number(*db, "PRAGMA trusted_schema") == 0);
  CHECK(number(*db, "PRAGMA cell_size_check") == 1);
  auto& mode = db->prepare("PRAGMA journal_mode");
  REQUIRE(mode.step());
  CHECK(mode.get_text(0) == "wal");
}

TEST_CASE("sqlite: an older store is migrated and keeps its rows") {
  const TempFolder folder;
  add_note(*open(folder / "a.db"));
  const auto db = open(folder / "a.db", schema_2);
  CHECK(number(*db, "PRAGMA user_version") == 2);
  CHECK(number(*db, "SELECT count(more IS NULL) FROM notes") == 1);
}

TEST_CASE("sqlite: a migration that fails leaves the version before it, whole") {
  const TempFolder folder;
  open(folder / "a.db");
  const auto failure = failure_of([&] { open(folder / "a.db", schema_broken); });
  CHECK(failure.cause() == sql::Cause::misuse);
  CHECK(contains(failure.what(), "the store a.db could not be brought to schema version 2"));
  const auto db = open(folder / "a.db");
  CHECK(number(*db, "PRAGMA user_version") == 1);
  CHECK(number(*db, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0);
}

TEST_CASE("sqlite: a store from a newer version is refused, naming both versions") {
  const TempFolder folder;
  open(folder / "a.db", schema_2);
  for (const bool writing : {true, false}) {
    const auto failure = failure_of([&] {
      const auto driver = sqlite::open_sqlite_with(at(folder / "a.db"), schema_1);
      writing ? driver->open_writer() : driver->open_reader();
    });
    CHECK(failure.cause() == sql::Cause::corrupt);
    CHECK(std::string(failure.what()) ==
          "the store a.db has schema version 2, from a newer holdfast: this one knows versions "
          "up to 1");
  }
}

TEST_CASE("sqlite: a file that is no database is refused and left as it is") {
  const TempFolder folder;
  const std::string garbage(5000, 'g');
  std::ofstream(folder / "a.db") << garbage;
  const auto failure = failure_of([&] { open(folder / "a.db"); });
  CHECK(failure.cause() == sql::Cause::corrupt);
  CHECK(std::string(failure.what()) ==
        "the store a.db is not a holdfast store: the file is no SQLite database");
  CHECK(test::content_of(folder / "a.db") == garbage);
}

TEST_CASE("sqlite: another application's database is refused and left as it is") {
  const TempFolder folder;
  for (const char* mark : {"", "PRAGMA application_id = 7;"}) {
    const std::string path = folder / (std::string(mark).empty() ? "a.db" : "b.db");
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &other) == SQLITE_OK);
    const std::string script = std::string(mark) + "CREATE TABLE theirs (a)";
    REQUIRE(sqlite3_exec(other, script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(other);
    const std::string before = test::content_of(path);

    const auto failure = failure_of([&] { open(path); });
    CHECK(failure.cause() == sql::Cause::corrupt);
    CHECK(contains(failure.what(), "is not a holdfast store: the file belongs to another"));
    CHECK(test::content_of(path) == before);
  }
}

TEST_CASE("sqlite: a truncated store is refused as damaged") {
  const TempFolder folder;
  {
    const auto db = open(folder / "a.db");
    db->begin_write();
    auto& insert = db->prepare("INSERT INTO notes (text) VALUES ($1)");
    const std::string text(3000, 't');
    insert.bind_text(1, text);
    for (int i = 0; i < 20; ++i) insert.step();
    db->commit();
  }
  std::filesystem::resize_file(folder / "a.db", 12'288);
  const auto failure = failure_of([&] { open(folder / "a.db"); });
  CHECK(failure.cause() == sql::Cause::corrupt);
  CHECK(contains(failure.what(), "the store a.db is damaged"));
}

TEST_CASE("sqlite: a header with our mark and no tables is refused as damaged") {
  const TempFolder folder;
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open((folder / "a.db").c_str(), &other) == SQLITE_OK);
  sqlite3_exec(other, "PRAGMA application_id = 0x686f6c64; PRAGMA user_version = 1", nullptr,
               nullptr, nullptr);
  sqlite3_close(other);
  const auto failure = failure_of([&] { open(folder / "a.db"); });
  CHECK(contains(failure.what(), "is damaged: it has schema version 1 and no tables"));
}

TEST_CASE("sqlite: a reader sees the newest commit, never writes, and needs no lock") {
  const TempFolder folder;
  const auto driver = sqlite::open_sqlite_with(at(folder / "a.db"), schema_1);
  const auto missing = failure_of([&] { driver->open_reader(); });
  CHECK(contains(missing.what(), "could not open the store a.db"));

  const auto writer = driver->open_writer();
  const auto reader = driver->open_reader();
  CHECK(number(*reader, "SELECT count(*) FROM notes") == 0);
  add_note(*writer);
  CHECK(number(*reader, "SELECT count(*) FROM notes") == 1);
  const auto failure = failure_of([&] { reader->execute("DELETE FROM notes"); });
  CHECK(failure.cause() == sql::Cause::read_only);
}

TEST_CASE("sqlite: an older store is not read before it is migrated") {
  const TempFolder folder;
  open(folder / "a.db");
  const auto failure =
      failure_of([&] { sqlite::open_sqlite_with(at(folder / "a.db"), schema_2)->open_reader(); });
  CHECK(contains(failure.what(), "has schema version 1 and is read as version 2"));
}

TEST_CASE("sqlite: options that say read-only open no writer") {
  const TempFolder folder;
  auto options = at(folder / "a.db");
  options.read_only = true;
  const auto driver = sqlite::open_sqlite_with(options, schema_1);
  CHECK(failure_of([&] { driver->open_writer(); }).cause() == sql::Cause::read_only);
  CHECK_FALSE(std::filesystem::exists(folder / "a.db.lock"));
}

TEST_CASE("sqlite: opening again makes durable what it found before anything is done with it") {
  const TempFolder folder;
  test::FaultVfs disk("settling");
  const auto options = at(folder / "a.db", disk.name());
  add_note(*sqlite::open_sqlite_with(options, schema_1)->open_writer());
  const auto writes = disk.writes(FileKind::wal);
  const auto syncs = disk.syncs(FileKind::wal);
  const auto db = sqlite::open_sqlite_with(options, schema_1)->open_writer();
  CHECK(disk.writes(FileKind::wal) > writes);
  CHECK(disk.syncs(FileKind::wal) > syncs);
  CHECK(disk.unsynced(FileKind::wal) == 0);
}

TEST_CASE("sqlite: a disk that fails while opening is told, and the store opens afterwards") {
  const TempFolder folder;
  test::FaultVfs disk("failing");
  const auto options = at(folder / "a.db", disk.name());
  add_note(*sqlite::open_sqlite_with(options, schema_1)->open_writer());
  disk.fail_sync(FileKind::wal, 1);
  const auto failure =
      failure_of([&] { sqlite::open_sqlite_with(options, schema_1)->open_writer(); });
  CHECK(failure.cause() == sql::Cause::in_doubt);
  const auto db = sqlite::open_sqlite_with(options, schema_1)->open_writer();
  CHECK(number(*db, "SELECT count(*) FROM notes") == 1);
}

TEST_CASE("sqlite: a store in memory needs no file and no lock") {
  const auto driver = sqlite::open_sqlite_with(at(":memory:"), schema_1);
  const auto one = driver->open_writer();
  const auto two = driver->open_writer();
  add_note(*one);
  CHECK(number(*one, "SELECT count(*) FROM notes") == 1);
  CHECK(number(*two, "SELECT count(*) FROM notes") == 0);
  CHECK(number(*driver->open_reader(), "SELECT count(*) FROM notes") == 0);
  CHECK(driver->name() == "the store in memory");
}

TEST_CASE("sqlite: the refs an old store had found are kept, with their chain") {
  const TempFolder folder;
  const std::string path = folder / "old.db";
  {
    auto db = open(path, sqlite::migrations().first(7));
    db->execute(
        "INSERT INTO accounts (row, chain, address, epoch) VALUES (1, 'c', 'a', 1);"
        "INSERT INTO refs_found (ref, account, sequence, tx_hash, at_ms) VALUES"
        " (zeroblob(32), 1, 7, zeroblob(32), 5)");
  }
  auto db = open(path, sqlite::migrations());
  CHECK(number(*db, "SELECT sequence FROM refs_found WHERE chain = 'c' AND account = 1") == 7);
  db->execute(
      "INSERT INTO refs_found SELECT chain, ref, randomblob(32), account, 8, 6 FROM refs_found");
  CHECK(number(*db, "SELECT count(*) FROM refs_found WHERE ref = zeroblob(32)") == 2);
}

TEST_CASE("sqlite: an old store's slots are told their standing, and keep their rows") {
  const TempFolder folder;
  const std::string path = folder / "old.db";
  {
    auto db = open(path, sqlite::migrations().first(4));
    db->execute(
        "INSERT INTO accounts (row, chain, address, epoch) VALUES (1, 'c', 'a', 1);"
        "INSERT INTO slots (row, account, sequence, state, handed_over, consumed_by, created_ms,"
        " updated_ms) VALUES (3, 1, 0, 'released', 0, NULL, 1, 2),"
        " (4, 1, 0, 'consumed', 0, zeroblob(32), 1, 2), (5, 1, 1, 'broadcast', 1, NULL, 1, 2)");
  }
  auto db = open(path, sqlite::migrations());
  CHECK(number(*db, "SELECT count(*) FROM slots") == 3);
  CHECK(number(*db, "SELECT row FROM slots WHERE standing = 'released'") == 3);
  CHECK(number(*db, "SELECT row FROM slots WHERE standing = 'consumed'") == 4);
  CHECK(number(*db, "SELECT row FROM slots WHERE standing = 'open' AND handed_over = 1") == 5);
  CHECK(number(*db,
               "SELECT count(*) FROM sqlite_schema WHERE tbl_name = 'slots'"
               " AND type = 'index'") == 4);
}
