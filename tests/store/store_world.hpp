// Owns: a store with a one-table schema and its executor, for the tests of the store's core.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/store/store.hpp>

#include "sqlite/opening.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {

using boost::asio::awaitable;

enum class Runner { own_thread, lent };

inline constexpr const char* notes_schema[] = {
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE children (parent INTEGER NOT NULL REFERENCES parents (id)"
    "  DEFERRABLE INITIALLY DEFERRED) STRICT"};

inline void add_note(store::Txn& txn, std::string_view text) {
  auto& insert = txn.db().prepare("INSERT INTO notes (text) VALUES ($1)");
  insert.bind_text(1, text);
  insert.step();
}

inline std::int64_t count_notes(store::Txn& txn) {
  auto& select = txn.db().prepare("SELECT count(*) FROM notes");
  if (!select.step()) return -1;
  return select.get_int(0);
}

/// What became of one coroutine.
struct Ending {
  bool ended = false;
  std::exception_ptr error;

  template <class Error>
  bool is() const {
    return !what<Error>().empty();
  }
  /// The message, when it ended with an Error.
  template <class Error>
  std::string what() const {
    if (!error) return {};
    try {
      std::rethrow_exception(error);
    } catch (const Error& caught) {
      return caught.what();
    } catch (...) {
      return {};
    }
  }
  bool good() const { return ended && !error; }
};

class World {
 public:
  explicit World(Runner runner, store::StoreOptions options = {})
      : disk_("world"), options_(std::move(options)), runner_(runner) {
    reopen();
  }

  /// Closes the store and opens it again.
  void reopen() {
    store_.reset();
    options_.waiters = io.get_executor();
    if (runner_ == Runner::lent && !options_.runner) options_.runner = io.get_executor();
    store_ = std::make_unique<store::Store>(driver(), options_);
  }
  std::unique_ptr<sql::Driver> driver() {
    return sqlite::open_sqlite_with(
        {.path = folder_ / "notes.db", .vfs = disk_.name(), .mark = false}, notes_schema);
  }
  void close() { store_.reset(); }

  store::Store& store() { return *store_; }
  FaultVfs& disk() { return disk_; }

  /// Starts the coroutine; its ending is known once run() has returned.
  std::shared_ptr<Ending> spawn(awaitable<void> coroutine) {
    auto ending = std::make_shared<Ending>();
    boost::asio::co_spawn(io, std::move(coroutine), [ending](std::exception_ptr error) {
      ending->ended = true;
      ending->error = std::move(error);
    });
    return ending;
  }
  /// Runs until every coroutine has ended.
  void run() {
    io.restart();
    io.run();
  }
  std::int64_t count() {
    std::int64_t out = -1;
    auto ending = spawn(count_into(store(), out));
    run();
    CHECK(ending->good());
    return out;
  }

 private:
  static awaitable<void> count_into(store::Store& store, std::int64_t& out) {
    out = co_await store.read([](store::Txn& txn) { return count_notes(txn); });
  }

  TempFolder folder_;
  FaultVfs disk_;
  store::StoreOptions options_;
  Runner runner_;

 public:
  boost::asio::io_context io;

 private:
  std::unique_ptr<store::Store> store_;
};

/// Adds one note.
inline awaitable<void> write_note(store::Store& store, std::string text) {
  co_await store.write([text = std::move(text)](store::Txn& txn) { add_note(txn, text); });
}

/// Adds a note, then throws: its note must not stay.
inline awaitable<void> write_and_throw(store::Store& store, std::string text) {
  co_await store.write([text = std::move(text)](store::Txn& txn) {
    add_note(txn, text);
    throw std::runtime_error("thrown by " + text);
  });
}

}  // namespace holdfast::test
