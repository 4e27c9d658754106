// Owns: what a file must be to be opened as a store, and the migrations that bring it up to date.
// Must never: change a file that is not a store of ours, or one that a newer version has written.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <holdfast/ports/sql.hpp>
#include <holdfast/sqlite/sqlite.hpp>

namespace holdfast::sqlite {

/// SQL scripts; the first makes schema version 1 from nothing, each next the version after.
using Migrations = std::span<const char* const>;

/// As open_sqlite, with another schema than ours: for tests. The scripts must outlive the driver.
std::unique_ptr<sql::Driver> open_sqlite_with(SqliteOptions options, Migrations migrations);

}  // namespace holdfast::sqlite
