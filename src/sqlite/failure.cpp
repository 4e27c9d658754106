#include "sqlite/failure.hpp"

#include <cerrno>

namespace holdfast::sqlite {

using sql::Cause;

sql::Cause cause_of(int rc, int system_errno) {
  switch (rc & 0xff) {
    case SQLITE_CONSTRAINT: return Cause::constraint;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // gave up after many tries to lock the write-ahead log
      return Cause::busy;
    case SQLITE_FULL: return Cause::full;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return Cause::read_only;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT: return Cause::corrupt;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      // A quota, and a full disk met by the shared-memory file, are told as I/O errors.
      if (system_errno == ENOSPC || system_errno == EDQUOT) return Cause::full;
      return Cause::io;
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_NOLFS: return Cause::io;
    default: return Cause::misuse;
  }
}

std::string sentence_of(sqlite3* db, int rc, std::string_view doing) {
  const char* message = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
  std::string out = "SQLite could not ";
  out += doing;
  out += ": ";
  out += message;
  out += " (code " + std::to_string(rc) + ")";
  return out;
}

void throw_failure(sqlite3* db, int rc, std::string_view doing) {
  const bool from_system = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
  const int system_errno = from_system && db != nullptr ? sqlite3_system_errno(db) : 0;
  throw sql::Failure(cause_of(rc, system_errno), sentence_of(db, rc, doing));
}

}  // namespace holdfast::sqlite
