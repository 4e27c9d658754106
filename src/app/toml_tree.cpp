#include "app/toml_tree.hpp"

#include <algorithm>

#include <toml++/toml.h>

#include "evm/revert.hpp"

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

/// How much of `rest`, which begins with a quote, is one text in TOML: quotes included, and all of
/// it where the text does not end. One in three quotes may have line ends in it, and one or two
/// more quotes at its end.
std::size_t quoted_size(std::string_view rest) {
  const char quote = rest.front();
  const bool is_long = rest.starts_with(std::string(3, quote));
  const std::string_view closing = rest.substr(0, is_long ? 3 : 1);
  for (std::size_t at = closing.size(); at < rest.size(); ++at) {
    if (rest[at] == '\n' && !is_long) return at;
    if (rest[at] == '\\' && quote == '"') {
      ++at;
    } else if (rest.substr(at).starts_with(closing)) {
      at += closing.size();
      for (int more = 0; is_long && more < 2 && rest.substr(at).starts_with(quote); ++more) ++at;
      return at;
    }
  }
  return rest.size();
}

constexpr std::size_t longest_sentence = 300;  // bytes, for people; what a file chose is in it
constexpr int most_dots = 32;
constexpr int most_open = 32;

// What is wrong with a text that nests far deeper than any configuration of ours; empty when
// nothing is. toml++ has no limit for the parts of a key, and one of 256 for brackets within
// brackets, each of which may hold such a key again: trees that are then destroyed by recursion,
// which would end the process.
std::string nested_too_deep(std::string_view text) {
  unsigned line = 1;
  int dots = 0;
  int open = 0;
  const auto at_line = [&] { return "line " + std::to_string(line) + ": "; };
  while (!text.empty()) {
    const char c = text.front();
    std::size_t size = 1;
    if (c == '"' || c == '\'') size = quoted_size(text);
    if (c == '#') size = std::min(text.find('\n'), text.size());
    const auto line_ends = std::ranges::count(text.substr(0, size), '\n');
    if (line_ends > 0) dots = 0;
    if (c == '.' && ++dots > most_dots) return at_line() + "a key has more than 32 parts";
    if (c == '[' || c == '{') ++open;
    if (c == ']' || c == '}') --open;
    if (open > most_open) return at_line() + "brackets stand within more than 32 others";
    line += static_cast<unsigned>(line_ends);
    text.remove_prefix(size);
  }
  return {};
}

}  // namespace

boost::system::error_code make_error_code(ConfigError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

Result<TomlNode> parse_toml(std::string_view text) {
  if (std::string sentence = nested_too_deep(text); !sentence.empty()) {
    return refuse(ConfigError::not_toml, std::move(sentence));
  }
  try {
    return to_node(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const std::string what = without_quotations(error.description());
    return refuse(ConfigError::not_toml, "line " + std::to_string(error.source().begin.line) +
                                             ": " +
                                             evm::printable(as_bytes(what), longest_sentence));
  }
}

}  // namespace holdfast::app
