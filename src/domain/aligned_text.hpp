// Owns: printing a rule table as aligned columns, the form the golden files pin.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::domain {

/// Rows of equally many cells; every column as wide as its widest cell, two spaces between, no
/// spaces at a line's end.
class AlignedText {
 public:
  using Row = std::vector<std::string>;

  explicit AlignedText(Row head) { add(std::move(head)); }

  void add(Row row) { rows_.push_back(std::move(row)); }

  std::string str() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        out += row[i];
        if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 2, ' ');
      }
      out += '\n';
    }
    return out;
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace holdfast::domain
