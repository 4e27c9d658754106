#include <holdfast/sqlite/sqlite.hpp>

#include <utility>

#include "sqlite/opening.hpp"
#include "sqlite/schema.hpp"

namespace holdfast::sqlite {

std::unique_ptr<sql::Driver> open_sqlite(SqliteOptions options) {
  return open_sqlite_with(std::move(options), migrations());
}

}  // namespace holdfast::sqlite
