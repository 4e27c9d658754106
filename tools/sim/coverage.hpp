// Owns: which rows of the tables have never happened, and why some of them cannot happen here.
// Must never: excuse a row without a reason that holds for the engine, not for the workload.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally.hpp"

namespace holdfast::campaign {

/// Why this row never happens on the simulated machine; empty: it may.
std::string_view why_never(std::string_view table, std::string_view name);

/// The rows that have not happened and may, each with its table's name.
std::vector<std::string> missing(const Tally& tally);

}  // namespace holdfast::campaign
