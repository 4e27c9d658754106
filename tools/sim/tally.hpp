// Owns: how often things happened, by table and name, over many seeds.
// Must never: forget a name that never happened: a zero is what the tables are read for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::campaign {

class Tally {
 public:
  using Table = std::map<std::string, std::uint64_t, std::less<>>;

  /// The name is in the table, though it may never happen.
  void expect(std::string_view table, std::string_view name) { at(table, name) += 0; }
  void count(std::string_view table, std::string_view name, std::uint64_t times = 1) {
    at(table, name) += times;
  }
  void add(const Tally& other);
  const std::map<std::string, Table, std::less<>>& tables() const { return tables_; }

 private:
  std::uint64_t& at(std::string_view table, std::string_view name);
  std::map<std::string, Table, std::less<>> tables_;
};

}  // namespace holdfast::campaign
