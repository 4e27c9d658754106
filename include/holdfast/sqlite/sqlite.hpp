// Owns: opening a store on SQLite.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <holdfast/ports/sql.hpp>

namespace holdfast::sqlite {

struct SqliteOptions {
  /// A file, or ":memory:" (then the reader shares nothing: tests only).
  std::string path = {};
  std::string vfs = {};    ///< SQLite's name of a VFS; empty: the default one
  bool lock = true;        ///< flock on "<path>.lock", with our pid inside; off in the simulator
  /// The watermark in "<path>.mark": a store that is behind it was put back from a backup.
  bool mark = true;
  bool read_only = false;  ///< open_writer refuses; no lock is taken
  std::int64_t busy_ms = 2000;
  /// A commit that leaves this many pages in the write-ahead log also carries them into the file.
  /// Zero: only closing does.
  int checkpoint_pages = 4096;
  std::int64_t cache_kib = 65'536;  ///< pages kept in memory, per connection
};

/// Opens nothing yet. open_writer() takes the lock, opens, checks the application id, schema
/// version and header, migrates, and sets WAL + synchronous=FULL. It throws sql::Failure with a
/// sentence: locked (naming the owner's pid), reached by a second name, from a newer version, not a
/// holdfast store, damaged (naming where, as far as it is known), read-only. What it has opened is
/// settled: nothing it reads can be undone by a crash, and nothing that an earlier owner left in
/// doubt can come back.
std::unique_ptr<sql::Driver> open_sqlite(SqliteOptions options);

/// For a program of our own, once, at the start of main: SQLite stops counting the memory it takes,
/// which costs it a lock at every allocation. It is a setting of the whole process, so an embedder
/// decides; it does nothing when SQLite was used before.
void stop_counting_memory();

/// For a process with one thread only, as the simulator's: SQLite takes no locks, and keeps more
/// small memory at hand. Before the first connection. Source: sqlite3_config.
void expect_one_thread();

}  // namespace holdfast::sqlite
