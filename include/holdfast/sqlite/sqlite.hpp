// Owns: opening a store on SQLite.
#pragma once

#include <memory>
#include <string>

#include <holdfast/ports/sql.hpp>

namespace holdfast::sqlite {

struct SqliteOptions {
  std::string path;         ///< a file, or ":memory:" (then the reader shares nothing: tests only)
  std::string vfs;          ///< SQLite's name of a VFS; empty: the default one
  bool lock = true;         ///< flock on "<path>.lock", with our pid inside; off in the simulator
  bool read_only = false;   ///< open_writer refuses; no lock is taken
  std::int64_t busy_ms = 2000;
};

/// Opens nothing yet. open_writer() takes the lock, opens, checks the application id, schema version
/// and header, migrates, and sets WAL + synchronous=FULL. It throws sql::Failure with a sentence:
/// locked (naming the owner's pid), from a newer version, not a holdfast store, damaged, read-only.
std::unique_ptr<sql::Driver> open_sqlite(SqliteOptions options);

}  // namespace holdfast::sqlite
