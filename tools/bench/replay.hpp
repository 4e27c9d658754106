// Owns: the SQL of one payment as a pattern, out of a tape of several, and running it for as many
// more as are wanted: the same statements in the same order, each payment with values of its own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/ports/sql.hpp>

#include "tape.hpp"

namespace holdfast::bench {

/// A value of the pattern: the same for all payments, counting up with them, or new for each (and
/// then the same wherever that payment has it).
struct Value {
  int at = 0;
  enum class Kind { null, number, text, blob } kind = Kind::null;
  std::int64_t number = 0;
  std::int64_t step = 0;  ///< added for each payment
  std::string text;
  Bytes blob;
  std::uint64_t fresh = 0;  ///< not 0: which of the values that each payment has for itself
};

class Pattern {
 public:
  /// `tape` ends with three payments, one after the other, of `writes` writes each. Throws
  /// runtime_error with a sentence when they did not run the same statements, or a number does not
  /// count up evenly.
  Pattern(const Tape& tape, std::size_t writes);

  std::size_t writes() const { return steps_.size(); }
  std::size_t statements() const;
  /// Finds the statements on this connection, which outlives this.
  void prepare(sql::Connection& db);
  /// Runs one write of payment `number`, counted from the one after the tape: 1, 2, …; inside a
  /// transaction.
  void run(std::size_t write, std::uint64_t number);

 private:
  struct Step {
    std::string sql;
    std::vector<Value> values;
    int steps = 0;
    sql::Statement* statement = nullptr;
  };
  std::vector<std::vector<Step>> steps_;
};

}  // namespace holdfast::bench
