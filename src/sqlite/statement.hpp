// Owns: one prepared statement of SQLite's.
// Must never: guess: a column of another type than asked for is a misuse, not a zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include <holdfast/ports/sql.hpp>

namespace holdfast::sqlite {

/// What statements and their connection share. Lives as long as the connection.
class SqliteStatement;
struct Handle {
  sqlite3* db = nullptr;
  bool in_write = false;  ///< between begin_write and its end
  std::vector<SqliteStatement*> running = {};  ///< stepped and not reset; seldom more than two
};

/// Copies `sql` into `out`, which outlives the statement, and prepares it for long use.
class SqliteStatement final : public sql::Statement {
 public:
  SqliteStatement(Handle& handle, std::string_view sql);
  ~SqliteStatement() override;
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void bind_null(int at) override;
  void bind_int(int at, std::int64_t value) override;
  void bind_text(int at, std::string_view value) override;
  void bind_blob(int at, ByteView value) override;

  /// After the last row the statement is reset: it holds no lock, and another step runs it again.
  bool step() override;
  void reset() override;

  bool is_null(int column) const override;
  std::int64_t get_int(int column) const override;
  std::string_view get_text(int column) const override;
  ByteView get_blob(int column) const override;

  const std::string& text() const { return text_; }
  /// Reset, with every parameter NULL again: no pointer of an earlier use is left behind.
  void renew();

 private:
  void map_parameters();
  int parameter(int at) const;
  void bound(int rc) const;
  void need(int column, int type, const char* type_name) const;
  [[noreturn]] void misuse(const std::string& what) const;

  Handle& handle_;
  std::string text_;
  sqlite3_stmt* stmt_ = nullptr;
  int columns_ = 0;
  bool running_ = false;  ///< stepped and not reset: the handle lists it
  std::vector<int> parameters_;  ///< SQLite's index of `$1`, `$2`, …
};

}  // namespace holdfast::sqlite
