#include "app/toml_tree.hpp"

#include <toml++/toml.h>

namespace holdfast::app {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.config"; }
  std::string message(int value) const override {
    return static_cast<ConfigError>(value) == ConfigError::not_toml ? "not_toml" : "unreadable";
  }
};

TomlNode to_node(const toml::node& node) {
  TomlNode out;
  out.line = node.source().begin.line;
  if (const auto* table = node.as_table()) {
    TomlTable members;
    for (const auto& [key, member] : *table) members[std::string(key.str())] = to_node(member);
    out.value = std::move(members);
  } else if (const auto* array = node.as_array()) {
    TomlArray items;
    for (const auto& item : *array) items.push_back(to_node(item));
    out.value = std::move(items);
  } else if (const auto text = node.value_exact<std::string>()) {
    out.value = *text;
  } else if (const auto flag = node.value_exact<bool>()) {
    out.value = *flag;
  } else if (const auto number = node.value_exact<std::int64_t>()) {
    out.value = *number;
  }
  return out;
}

// toml++ quotes what it met: a character, which helps, or all of it, which may be a key. Whatever
// is longer than a character is left out.
std::string without_quotations(std::string_view description) {
  constexpr std::size_t longest_shown = 4;  // one character in UTF-8
  std::string out;
  for (;;) {
    const std::size_t open = description.find('\'');
    out += description.substr(0, open);
    if (open == description.npos) return out;
    description.remove_prefix(open + 1);
    const std::size_t close = description.find('\'');
    const std::string_view quoted = description.substr(0, close);
    out += quoted.size() <= longest_shown ? "'" + std::string(quoted) + "'" : "(not shown)";
    if (close == description.npos) return out;
    description.remove_prefix(close + 1);
  }
}

constexpr int most_dots = 32;

// The line with more dots outside quotes than any key of ours has by far; zero when there is none.
// toml++ limits nested values and not dotted keys, whose tables it then destroys by recursion: a
// line of 40 KB would end the process.
unsigned line_nested_too_deep(std::string_view text) {
  unsigned line = 1;
  int dots = 0;
  char quote = 0;
  bool comment = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
      comment = false;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"' && !text.substr(at + 1).starts_with('\n')) ++at;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == '.' && ++dots > most_dots) {
      return line;
    }
  }
  return 0;
}

}  // namespace

boost::system::error_code make_error_code(ConfigError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

Result<TomlNode> parse_toml(std::string_view text) {
  if (const unsigned line = line_nested_too_deep(text)) {
    return refuse(ConfigError::not_toml,
                  "line " + std::to_string(line) + ": a key has more than 32 parts");
  }
  try {
    return to_node(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return refuse(ConfigError::not_toml, "line " + std::to_string(error.source().begin.line) +
                                             ": " + without_quotations(error.description()));
  }
}

}  // namespace holdfast::app
