// Owns: the lock that makes one process the owner of a store: flock on a file beside the database.
// Must never: open the database file (closing it would drop SQLite's own locks on it, which POSIX
// ties to the process), or delete the lock file (two owners could then hold two files of one name).
#pragma once

#include <string>

namespace holdfast::sqlite {

/// Held while it lives; the system takes it back when the process ends, however it ends.
class LockFile {
 public:
  /// Locks "<database>.lock" without waiting and writes our pid into it. A database reached through
  /// a symbolic link is locked where it really is. Throws sql::Failure: busy (naming the owner's
  /// pid), read_only, io. `store` begins the sentences.
  LockFile(const std::string& database, const std::string& store);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace holdfast::sqlite
