// Owns: what can be told of a store's files before SQLite opens them: that the database has one
// name only, and that its write-ahead log is not damaged before its end. Must never: open the
// database file (closing it would drop SQLite's own locks on it, which POSIX ties to the process),
// or change anything.
#pragma once

#include <string>

namespace holdfast::sqlite {

/// SQLite finds the log, and we the lock, by the database's name: under a second name (a hard link,
/// a file mounted by itself) it would be another store with the same pages. Throws
/// sql::Failure{busy} naming what is wrong; a file that is not there yet is well.
void refuse_other_names(const std::string& database, const std::string& store);

/// SQLite takes the log up to the first frame that does not check and forgets the rest, as it must
/// for a commit that was being written when the power went. Throws sql::Failure{corrupt} naming the
/// frame when commits stand behind it: they were made after everything before them was synced, so
/// that is no torn end. Damage to the very last commit looks like a torn end and is taken for one;
/// the store's mark may still tell.
void refuse_damaged_log(const std::string& database, const std::string& store);

}  // namespace holdfast::sqlite
