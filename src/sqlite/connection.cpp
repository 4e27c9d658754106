#include "sqlite/connection.hpp"

#include <utility>

#include <holdfast/base/ensure.hpp>
#include "sqlite/failure.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::size_t most_statements = 1000;
constexpr std::size_t most_addresses = 4000;

}  // namespace

SqliteConnection::SqliteConnection(const SqliteOptions& options, int flags, std::string store,
                                   std::unique_ptr<LockFile> lock)
    : lock_(std::move(lock)), store_(std::move(store)) {
  const char* vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  // One thread at a time is the port's rule, so SQLite's own mutexes are not needed.
  const int all_flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int rc = sqlite3_open_v2(options.path.c_str(), &handle_.db, all_flags, vfs);
  try {
    if (rc != SQLITE_OK) throw_failure(handle_.db, rc, "open " + store_);
    configure(options);
  } catch (...) {
    sqlite3_close(handle_.db);
    throw;
  }
}

SqliteConnection::~SqliteConnection() {
  by_address_.clear();
  by_text_.clear();
  ensure(sqlite3_close(handle_.db) == SQLITE_OK, "a statement outlived its connection");
}

void SqliteConnection::configure(const SqliteOptions& options) {
  sqlite3* db = handle_.db;
  // The file may have been made by somebody who means harm: its schema may run nothing of ours.
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  // "name" is a column and nothing else, never a string by mistake.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_busy_timeout(db, static_cast<int>(options.busy_ms));
  sqlite3_wal_autocheckpoint(db, options.checkpoint_pages);
  execute("PRAGMA cell_size_check = ON");
  execute("PRAGMA temp_store = MEMORY");
  // Some builds overwrite what is deleted; nothing that is deleted here is a secret.
  execute("PRAGMA secure_delete = OFF");
}

sql::Statement& SqliteConnection::prepare(std::string_view sql) {
  const auto known = by_address_.find(sql.data());
  if (known != by_address_.end() && known->second->text() == sql) {
    known->second->renew();
    return *known->second;
  }
  auto at = by_text_.find(sql);
  if (at == by_text_.end()) {
    if (by_text_.size() >= most_statements) {
      throw sql::Failure(sql::Cause::misuse, "more than " + std::to_string(most_statements) +
                                                 " statements: is SQL text built at run time?");
    }
    auto made = std::make_unique<SqliteStatement>(handle_, sql);
    const std::string_view key = made->text();
    at = by_text_.emplace(key, std::move(made)).first;
  }
  if (by_address_.size() >= most_addresses) by_address_.clear();
  by_address_[sql.data()] = at->second.get();
  at->second->renew();
  return *at->second;
}

void SqliteConnection::execute(const char* sql) {
  const int rc = sqlite3_exec(handle_.db, sql, nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) throw_failure(handle_.db, rc, "run \"" + std::string(sql) + "\"");
}

void SqliteConnection::control(const char* sql) { prepare(sql).step(); }

void SqliteConnection::reset_running() {
  while (!handle_.running.empty()) handle_.running.back()->reset();
}

void SqliteConnection::begin_write() {
  ensure(!handle_.in_write, "a write transaction began inside another");
  control("BEGIN IMMEDIATE");
  handle_.in_write = true;
}

// How COMMIT fails, and what is left on disk then. In WAL mode it appends the changed pages to the
// log, the last one marked as the commit, and syncs the log; whatever fails there, SQLite rolls the
// transaction back in memory.
//  - no transaction any more (a failed statement ended it): COMMIT is not even tried.
//  - busy, constraint (a deferred foreign key): refused before anything was appended.
//  - full (a quota included): a page could not be appended. The commit page is the last one and
//  counts only when it is
//    whole, so nothing happened. A sync that ran out of space is an I/O error, not this. Only on a
//    device that needs padding after the commit page may the failure lie behind it.
//  - all else: the pages may be in the log or reach it later, and recovery after a crash takes
//    what it finds there.
void SqliteConnection::commit() {
  ensure(handle_.in_write, "a commit without a transaction");
  reset_running();
  const bool open = sqlite3_get_autocommit(handle_.db) == 0;
  try {
    control("COMMIT");
  } catch (const sql::Failure& failure) {
    using sql::Cause;
    const bool still_open = sqlite3_get_autocommit(handle_.db) == 0;
    const bool refused =
        still_open && (failure.cause() == Cause::busy || failure.cause() == Cause::constraint);
    const bool full = could_not_append(failure.cause()) && !writes_after_commit_page();
    rollback();
    if (!open || refused || full) throw;
    throw sql::Failure(Cause::in_doubt, failure.what());
  }
  handle_.in_write = false;
}

bool SqliteConnection::could_not_append(sql::Cause cause) const {
  if (last_code() == SQLITE_FULL) return true;
  return cause == sql::Cause::full &&
         sqlite3_extended_errcode(handle_.db) == SQLITE_IOERR_WRITE;  // over a quota
}

bool SqliteConnection::writes_after_commit_page() const {
  sqlite3_file* file = nullptr;
  const int rc = sqlite3_file_control(handle_.db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (rc != SQLITE_OK || file == nullptr || file->pMethods == nullptr) return true;
  const int device = file->pMethods->xDeviceCharacteristics(file);
  return (device & SQLITE_IOCAP_POWERSAFE_OVERWRITE) == 0;
}

void SqliteConnection::rollback() {
  reset_running();
  handle_.in_write = false;
  if (sqlite3_get_autocommit(handle_.db) != 0) return;
  // A rollback that meets an I/O error still ends the transaction; the file heals on the next use.
  sqlite3_exec(handle_.db, "ROLLBACK", nullptr, nullptr, nullptr);
  ensure(sqlite3_get_autocommit(handle_.db) != 0, "a transaction could not be rolled back");
}

void SqliteConnection::savepoint() { control("SAVEPOINT step"); }
void SqliteConnection::release_savepoint() { control("RELEASE step"); }

void SqliteConnection::rollback_to_savepoint() {
  reset_running();
  control("ROLLBACK TO step");
}

std::vector<std::string> SqliteConnection::own_check() {
  std::vector<std::string> out;
  SqliteStatement statement(handle_, "PRAGMA quick_check(100)");
  while (statement.step()) {
    if (statement.get_text(0) != "ok") out.emplace_back(statement.get_text(0));
  }
  return out;
}

std::int64_t SqliteConnection::changes() const { return sqlite3_changes64(handle_.db); }
std::int64_t SqliteConnection::total_changes() const { return sqlite3_total_changes64(handle_.db); }
std::int64_t SqliteConnection::last_rowid() const { return sqlite3_last_insert_rowid(handle_.db); }

std::int64_t SqliteConnection::integer_of(const char* sql) {
  SqliteStatement statement(handle_, sql);
  return statement.step() ? statement.get_int(0) : 0;
}

std::string SqliteConnection::text_of(const char* sql) {
  SqliteStatement statement(handle_, sql);
  return statement.step() ? std::string(statement.get_text(0)) : std::string();
}

int SqliteConnection::last_code() const { return sqlite3_extended_errcode(handle_.db) & 0xff; }

bool SqliteConnection::is_read_only() const { return sqlite3_db_readonly(handle_.db, "main") == 1; }

}  // namespace holdfast::sqlite
