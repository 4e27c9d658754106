#include "app/toml_tree.hpp"

#include <sstream>

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
  } else {
    std::ostringstream other;
    node.visit([&](const auto& leaf) { other << leaf; });
    out.value = other.str();
  }
  return out;
}

}  // namespace

boost::system::error_code make_error_code(ConfigError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

Result<TomlNode> parse_toml(std::string_view text) {
  try {
    return to_node(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return refuse(ConfigError::not_toml, "line " + std::to_string(error.source().begin.line) +
                                             ": " + std::string(error.description()));
  }
}

}  // namespace holdfast::app
