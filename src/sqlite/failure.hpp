// Owns: what SQLite's result codes mean to the store, and the sentence that goes with one.
#pragma once

#include <string>
#include <string_view>

#include <sqlite3.h>

#include <holdfast/ports/sql.hpp>

namespace holdfast::sqlite {

/// `rc` is an extended result code; `system_errno` the VFS's last error, zero when unknown.
sql::Cause cause_of(int rc, int system_errno);

/// "SQLite could not <doing>: <its own message> (code N)". Its messages name tables and columns,
/// never values.
std::string sentence_of(sqlite3* db, int rc, std::string_view doing);

/// Throws sql::Failure with the cause and the sentence of `rc`.
[[noreturn]] void throw_failure(sqlite3* db, int rc, std::string_view doing);

}  // namespace holdfast::sqlite
