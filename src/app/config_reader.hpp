// Owns: reading one table of the configuration: each key by name, type and limits; all problems
// together at the end, with line and key; a key nobody asked for is a problem.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/uint256.hpp>

#include "app/toml_tree.hpp"

namespace holdfast::app {

struct Problem {
  unsigned line = 0;
  std::string key;       ///< in full: "chain.1.rpc_url"
  std::string sentence;  ///< never the value: it may be a secret
};
using Problems = std::vector<Problem>;

class ConfigReader {
 public:
  /// `table` may be null: then every key has its default.
  ConfigReader(const TomlTable* table, unsigned line, std::string path, Problems& problems)
      : table_(table), line_(line), path_(std::move(path)), problems_(problems) {}

  std::string text(const std::string& key, const std::string& otherwise,
                   std::size_t longest = 1024);
  std::optional<std::string> maybe_text(const std::string& key, std::size_t longest = 1024);
  std::int64_t number(const std::string& key, std::int64_t otherwise, std::int64_t least,
                      std::int64_t most);
  std::optional<std::int64_t> maybe_number(const std::string& key, std::int64_t least,
                                           std::int64_t most);
  bool flag(const std::string& key, bool otherwise);
  /// A decimal string, as amounts are everywhere.
  U256 amount(const std::string& key, const U256& otherwise);
  /// One of these words.
  std::string word(const std::string& key, const std::string& otherwise,
                   const std::vector<std::string>& words);
  std::vector<std::string> texts(const std::string& key);

  ConfigReader table(const std::string& key);
  /// `[[key]]`: a reader for each, in order.
  std::vector<ConfigReader> tables(const std::string& key);
  /// As above; none at all is the problem `missing`.
  std::vector<ConfigReader> some_tables(const std::string& key, std::string missing);

  bool has(const std::string& key) const { return table_ != nullptr && table_->contains(key); }
  void problem(const std::string& key, std::string sentence);
  /// Keys that no call above asked for.
  void refuse_unknown_keys();

 private:
  const TomlNode* take(const std::string& key);
  unsigned line_of(const std::string& key) const;
  std::string full(const std::string& key) const;
  template <class T>
  const T* take_as(const std::string& key, std::string_view kind);

  const TomlTable* table_;
  unsigned line_;
  std::string path_;
  Problems& problems_;
  std::set<std::string> asked_;
};

}  // namespace holdfast::app
