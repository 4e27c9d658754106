// Owns: how a run's numbers are printed: a table for people, one JSON object for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::tools {

class Report {
 public:
  /// `key` is the name in JSON; `label` is what people read.
  void add(std::string key, std::string label, std::uint64_t value);
  void add(std::string key, std::string label, double value, int decimals);
  void print(bool as_json) const;

  struct Line {
    std::string key;
    std::string label;
    std::string value;
  };
  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::vector<Line> lines_;
};

}  // namespace holdfast::tools
