#include "coverage.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::campaign {

namespace {

struct Never {
  std::string_view table;
  std::string_view name;
  std::string_view why;
};

constexpr Never nevers[] = {
    // NOLINT(*-avoid-c-arrays): a table
    {"numbers", "reserved > reconciliation_required",
     "a number that nothing was signed for is its delivery's, or given back with the next round"},
};

}  // namespace

std::string_view why_never(std::string_view table, std::string_view name) {
  const auto* const at = std::find_if(std::begin(nevers), std::end(nevers), [&](const Never& one) {
    return one.table == table && one.name == name;
  });
  return at == std::end(nevers) ? std::string_view() : at->why;
}

std::vector<std::string> missing(const Tally& tally) {
  std::vector<std::string> out;
  for (const auto& [table, names] : tally.tables()) {
    for (const auto& [name, times] : names) {
      if (times == 0 && why_never(table, name).empty()) {
        out.emplace_back(table).append(": ").append(name);
      }
    }
  }
  return out;
}

}  // namespace holdfast::campaign
