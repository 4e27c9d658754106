#include "sqlite/statement.hpp"

#include <charconv>
#include <utility>

#include "sqlite/failure.hpp"

namespace holdfast::sqlite {

namespace {

constexpr int most_parameters = 999;

// SQLite tells an empty value from NULL by the pointer.
constexpr const char* nothing = "";

bool only_space(const char* text) {
  while (*text == ' ' || *text == '\n' || *text == '\t' || *text == ';') ++text;
  return *text == '\0';
}

}  // namespace

SqliteStatement::SqliteStatement(Handle& handle, std::string_view sql)
    : handle_(handle), text_(sql) {
  const char* tail = nullptr;
  const int rc = sqlite3_prepare_v3(handle_.db, text_.c_str(), static_cast<int>(text_.size()) + 1,
                                    SQLITE_PREPARE_PERSISTENT, &stmt_, &tail);
  if (rc != SQLITE_OK) throw_failure(handle_.db, rc, "prepare \"" + text_ + "\"");
  try {
    if (stmt_ == nullptr || !only_space(tail)) misuse("is not exactly one statement");
    map_parameters();
  } catch (...) {
    sqlite3_finalize(stmt_);
    throw;
  }
  columns_ = sqlite3_column_count(stmt_);
}

SqliteStatement::~SqliteStatement() {
  reset();
  sqlite3_finalize(stmt_);
}

// To SQLite `$2` is a name, numbered by where it first appears; the port's numbers are meant.
void SqliteStatement::map_parameters() {
  const int count = sqlite3_bind_parameter_count(stmt_);
  for (int index = 1; index <= count; ++index) {
    const char* name = sqlite3_bind_parameter_name(stmt_, index);
    const std::string_view digits = name != nullptr ? std::string_view(name).substr(1) : "";
    int number = 0;
    const auto read = std::from_chars(digits.begin(), digits.end(), number);
    const bool whole = read.ec == std::errc{} && read.ptr == digits.end();
    if (name == nullptr || name[0] != '$' || !whole || number < 1 || number > most_parameters) {
      misuse("has a parameter that is not $1, $2, …");
    }
    const auto at = static_cast<std::size_t>(number);
    if (parameters_.size() < at) parameters_.resize(at, 0);
    parameters_[at - 1] = index;
  }
}

void SqliteStatement::misuse(const std::string& what) const {
  throw sql::Failure(sql::Cause::misuse, "\"" + text_ + "\" " + what);
}

int SqliteStatement::parameter(int at) const {
  const bool known = at >= 1 && static_cast<std::size_t>(at) <= parameters_.size() &&
                     parameters_[static_cast<std::size_t>(at) - 1] != 0;
  if (!known) misuse("has no parameter $" + std::to_string(at));
  return parameters_[static_cast<std::size_t>(at) - 1];
}

void SqliteStatement::bound(int rc) const {
  if (rc != SQLITE_OK) throw_failure(handle_.db, rc, "bind a parameter of \"" + text_ + "\"");
}

void SqliteStatement::bind_null(int at) { bound(sqlite3_bind_null(stmt_, parameter(at))); }

void SqliteStatement::bind_int(int at, std::int64_t value) {
  bound(sqlite3_bind_int64(stmt_, parameter(at), value));
}

void SqliteStatement::bind_text(int at, std::string_view value) {
  const char* data = value.empty() ? nothing : value.data();
  bound(sqlite3_bind_text64(stmt_, parameter(at), data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteStatement::bind_blob(int at, ByteView value) {
  const void* data = value.empty() ? static_cast<const void*>(nothing) : value.data();
  bound(sqlite3_bind_blob64(stmt_, parameter(at), data, value.size(), SQLITE_STATIC));
}

bool SqliteStatement::step() {
  // Some failures make SQLite roll the whole transaction back by itself. Whoever goes on after one
  // would write outside of it, each statement a commit of its own.
  if (handle_.in_write && sqlite3_get_autocommit(handle_.db) != 0) {
    throw sql::Failure(sql::Cause::io, "the transaction ended with an earlier failure");
  }
  if (!std::exchange(running_, true)) handle_.running.push_back(this);
  const int rc = sqlite3_step(stmt_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) {
    reset();
    return false;
  }
  const std::string sentence = sentence_of(handle_.db, rc, "run \"" + text_ + "\"");
  const int system_errno = (rc & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(handle_.db) : 0;
  reset();
  throw sql::Failure(cause_of(rc, system_errno), sentence);
}

void SqliteStatement::reset() {
  if (!std::exchange(running_, false)) return;
  std::erase(handle_.running, this);
  sqlite3_reset(stmt_);
}

void SqliteStatement::renew() {
  reset();
  sqlite3_clear_bindings(stmt_);
}

void SqliteStatement::need(int column, int type, const char* type_name) const {
  if (column < 0 || column >= columns_) misuse("has no column " + std::to_string(column));
  if (sqlite3_column_type(stmt_, column) != type) {
    misuse("has no " + std::string(type_name) + " in column " + std::to_string(column));
  }
}

bool SqliteStatement::is_null(int column) const {
  if (column < 0 || column >= columns_) misuse("has no column " + std::to_string(column));
  return sqlite3_column_type(stmt_, column) == SQLITE_NULL;
}

std::int64_t SqliteStatement::get_int(int column) const {
  need(column, SQLITE_INTEGER, "integer");
  return sqlite3_column_int64(stmt_, column);
}

std::string_view SqliteStatement::get_text(int column) const {
  need(column, SQLITE_TEXT, "text");
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(stmt_, column));
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column))};
}

ByteView SqliteStatement::get_blob(int column) const {
  need(column, SQLITE_BLOB, "blob");
  const auto* data = static_cast<const Byte*>(sqlite3_column_blob(stmt_, column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column))};
}

}  // namespace holdfast::sqlite
