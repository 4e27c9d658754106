// Owns: a TOML text as a plain tree with lines. The only source that knows toml++ is toml_tree.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/base/result.hpp>

namespace holdfast::app {

enum class ConfigError { not_toml = 1, unreadable };
boost::system::error_code make_error_code(ConfigError error);

struct TomlNode;
using TomlTable = std::map<std::string, TomlNode>;
using TomlArray = std::vector<TomlNode>;

/// A float, a date or a time: no key takes one.
struct TomlOther {};

struct TomlNode {
  std::variant<TomlOther, std::string, std::int64_t, bool, TomlArray, TomlTable> value;
  unsigned line = 0;
};

/// `not_toml` with the line and what is wrong there, but never the text that stands there: it may
/// be a secret that somebody forgot to quote.
Result<TomlNode> parse_toml(std::string_view text);

}  // namespace holdfast::app

template <>
struct boost::system::is_error_code_enum<holdfast::app::ConfigError> : std::true_type {};
