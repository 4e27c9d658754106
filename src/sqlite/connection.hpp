// Owns: one connection to SQLite and its statements.
// Must never: say that a commit did not happen when it may come back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sqlite3.h>

#include <holdfast/ports/sql.hpp>
#include <holdfast/sqlite/sqlite.hpp>
#include "sqlite/lock_file.hpp"
#include "sqlite/statement.hpp"

namespace holdfast::sqlite {

class SqliteConnection final : public sql::Connection {
 public:
  /// Opens the file with these SQLITE_OPEN_ flags and sets what every connection needs. Checks
  /// nothing yet: see opening.hpp. `lock` may be empty; it is let go after the file is closed.
  SqliteConnection(const SqliteOptions& options, int flags, std::string store,
                   std::unique_ptr<LockFile> lock);
  ~SqliteConnection() override;
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  sql::Statement& prepare(std::string_view sql) override;
  void execute(const char* sql) override;

  void begin_write() override;
  void commit() override;
  /// Also resets every statement that still runs, in or out of a transaction: none of them keeps
  /// an old snapshot alive.
  void rollback() override;
  void savepoint() override;
  void release_savepoint() override;
  void rollback_to_savepoint() override;

  std::vector<std::string> own_check() override;

  std::int64_t changes() const override;
  std::int64_t total_changes() const override;
  std::int64_t last_rowid() const override;

  /// The one integer or text that a statement gives, for pragmas.
  std::int64_t integer_of(const char* sql);
  std::string text_of(const char* sql);
  bool is_read_only() const;
  /// SQLite's primary result code of the newest call that failed.
  int last_code() const;
  const std::string& store() const { return store_; }

 private:
  void configure(const SqliteOptions& options);
  void control(const char* sql);
  void reset_running();
  bool could_not_append(sql::Cause cause) const;
  bool writes_after_commit_page() const;

  std::unique_ptr<LockFile> lock_;
  std::string store_;
  Handle handle_;

  // Statements are nearly always asked for by the same literal: its address finds them, the text
  // proves it. Both maps are bounded: the text of a statement is never built at run time.
  std::unordered_map<std::string_view, std::unique_ptr<SqliteStatement>> by_text_;
  std::unordered_map<const char*, SqliteStatement*> by_address_;
};

}  // namespace holdfast::sqlite
