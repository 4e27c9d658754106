#include <holdfast/sqlite/sqlite.hpp>

#include <utility>

#include <sqlite3.h>

#include "sqlite/opening.hpp"
#include "sqlite/schema.hpp"

namespace holdfast::sqlite {

std::unique_ptr<sql::Driver> open_sqlite(SqliteOptions options) {
  return open_sqlite_with(std::move(options), migrations());
}

void expect_one_thread() {
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1'200, 400);
  stop_counting_memory();
}

void stop_counting_memory() { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

}  // namespace holdfast::sqlite
