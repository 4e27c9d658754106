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
  /// What this run cannot know: null in JSON.
  void add_unknown(std::string key, std::string label);
  void print(bool as_json) const;

  struct Line {
    std::string key;
    std::string label;
    std::string value;  ///< a number, or null
  };
  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::vector<Line> lines_;
};

}  // namespace holdfast::tools
