// Owns: how an enumerator and its one text are paired, so that SQL, JSON and logs spell it alike.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <holdfast/base/ensure.hpp>

namespace holdfast::domain {

template <class Enum>
struct EnumText {
  Enum value;
  std::string_view text;
};

template <class Enum, std::size_t N>
std::string_view text_of(const EnumText<Enum> (&table)[N], Enum value) {
  for (const EnumText<Enum>& row : table) {
    if (row.value == value) return row.text;
  }
  ensure(false, "an enumerator has no text");
  return {};
}

template <class Enum, std::size_t N>
std::optional<Enum> enum_of(const EnumText<Enum> (&table)[N], std::string_view text) {
  for (const EnumText<Enum>& row : table) {
    if (row.text == text) return row.value;
  }
  return std::nullopt;
}

}  // namespace holdfast::domain
