#include "store_probe.hpp"

#include <sqlite3.h>

#include <memory>
#include <stdexcept>

#include <holdfast/base/bytes.hpp>

namespace holdfast::cases {
namespace {

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

std::string text_of(sqlite3_stmt* statement, int column) {
  const int size = sqlite3_column_bytes(statement, column);
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return "";
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const Byte*>(sqlite3_column_blob(statement, column));
      return to_0x({bytes, static_cast<std::size_t>(size)});
    }
    default: {
      const auto* text = static_cast<const void*>(sqlite3_column_text(statement, column));
      return {static_cast<const char*>(text), static_cast<std::size_t>(size)};
    }
  }
}

}  // namespace

std::vector<Row> StoreProbe::rows(const std::string& sql) const {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path_.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, Close> db(raw);
  if (opened != SQLITE_OK) throw std::runtime_error("the store cannot be opened");
  sqlite3_busy_timeout(raw, 5'000);
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(raw, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(raw));
  }
  const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
  std::vector<Row> out;
  int step = 0;
  while ((step = sqlite3_step(prepared)) == SQLITE_ROW) {
    Row& row = out.emplace_back();
    for (int i = 0; i < sqlite3_column_count(prepared); ++i) row.push_back(text_of(prepared, i));
  }
  if (step != SQLITE_DONE) throw std::runtime_error(sql + ": " + sqlite3_errmsg(raw));
  return out;
}

std::int64_t StoreProbe::number(const std::string& sql) const {
  const auto found = rows(sql);
  return found.empty() || found.front().front().empty() ? 0 : std::stoll(found.front().front());
}

bool StoreProbe::has_attempt(const std::string& hash) const {
  return number("SELECT count(*) FROM attempts WHERE hash = x'" + hash.substr(2) + "'") > 0;
}

}  // namespace holdfast::cases
