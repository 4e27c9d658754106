// Owns: lists for people: columns as wide as their longest cell.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

namespace holdfast::app {

/// A member as a cell: text as it is, null as "-".
inline std::string cell(const boost::json::value& of, std::string_view name) {
  const boost::json::object* object = of.if_object();
  const boost::json::value* value = object == nullptr ? nullptr : object->if_contains(name);
  if (value == nullptr || value->is_null()) return "-";
  if (const boost::json::string* text = value->if_string()) return std::string(*text);
  if (const std::int64_t* number = value->if_int64()) return std::to_string(*number);
  if (const std::uint64_t* number = value->if_uint64()) return std::to_string(*number);
  return "?";
}

using Rows = std::vector<std::vector<std::string>>;

inline std::vector<std::string> table_lines(const Rows& rows) {
  std::vector<std::string> lines;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

inline void print_table(const Rows& rows) {
  for (const std::string& line : table_lines(rows)) std::printf("%s\n", line.c_str());
}

}  // namespace holdfast::app
