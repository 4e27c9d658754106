// Owns: writing down which SQL a store runs, with what was bound, write by write.
// Must never: change what runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/ports/sql.hpp>

namespace holdfast::bench {

struct Bound {
  int at = 0;
  std::variant<std::monostate, std::int64_t, std::string, Bytes> value;
};

/// One execution of one statement.
struct Ran {
  std::string sql;
  std::vector<Bound> bound;
  int steps = 0;
};

/// What ran between one BEGIN and its COMMIT.
using TapedWrite = std::vector<Ran>;

struct Tape {
  std::vector<TapedWrite> writes;
};

/// A driver whose writing connection notes everything on `tape`, which outlives it.
std::unique_ptr<sql::Driver> taping(std::unique_ptr<sql::Driver> driver, Tape& tape);

}  // namespace holdfast::bench
