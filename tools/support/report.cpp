#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

#include <unistd.h>

namespace holdfast::tools {

void Report::add(std::string key, std::string label, std::uint64_t value) {
  lines_.push_back({std::move(key), std::move(label), std::to_string(value)});
}

void Report::add(std::string key, std::string label, double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  lines_.push_back({std::move(key), std::move(label), text.str()});
}

void Report::add_unknown(std::string key, std::string label) {
  lines_.push_back({std::move(key), std::move(label), "null"});
}

void Report::print(bool as_json) const {
  if (as_json) {
    const char* before = "{";
    for (const Line& line : lines_) {
      std::cout << before << '"' << line.key << "\": " << line.value;
      before = ", ";
    }
    std::cout << "}\n";
    return;
  }
  // The line that told a person of the progress may still stand where the table begins.
  if (::isatty(STDERR_FILENO) == 1) std::cerr << "\r\x1b[K";
  std::size_t width = 0;
  for (const Line& line : lines_) width = std::max(width, line.label.size());
  for (const Line& line : lines_) {
    std::cout << std::left << std::setw(static_cast<int>(width)) << line.label << "  " << std::right
              << std::setw(10) << (line.value == "null" ? "-" : line.value) << '\n';
  }
}

}  // namespace holdfast::tools
