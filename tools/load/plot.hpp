// Owns: one plot as an inline SVG: a line over an axis, with ticks a person can read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::load {

struct Point {
  double x = 0;
  double y = 0;
};

struct Plot {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::vector<Point> points;  ///< by ascending x
  bool log_x = false;         ///< x above zero only
};

/// Round numbers, at most seven, the first at or below zero and the last at or above `most`.
std::vector<double> ticks(double most);
/// 1500 → "1.5k"; at most three digits and a letter.
std::string short_number(double value);
/// Text as it may stand between tags.
std::string escaped(std::string_view text);
/// An <svg> element with no reference to anything outside it.
std::string svg(const Plot& plot);

}  // namespace holdfast::load
