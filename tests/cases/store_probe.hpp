// Owns: reading the store's file beside the engine or after it, without any code of the engine's.
// Must never: write to it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace holdfast::cases {

using Row = std::vector<std::string>;  ///< numbers in decimal, blobs in hex behind 0x, NULL empty

class StoreProbe {
 public:
  explicit StoreProbe(std::string path) : path_(std::move(path)) {}

  /// All rows of a statement. Throws std::runtime_error with SQLite's words.
  std::vector<Row> rows(const std::string& sql) const;
  /// The first column of the first row as a number; 0 when there is none.
  std::int64_t number(const std::string& sql) const;
  /// Whether an attempt with this hash is committed.
  bool has_attempt(const std::string& hash) const;

 private:
  std::string path_;
};

}  // namespace holdfast::cases
