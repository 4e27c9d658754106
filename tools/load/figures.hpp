// Owns: the figures of a run, under the names that programs read.
#pragma once

#include <cstdint>
#include <optional>

#include "books.hpp"
#include "drive.hpp"
#include "support/process.hpp"
#include "support/report.hpp"

namespace holdfast::load {

/// What was used between the first submission and the last ending.
struct Used {
  /// The engine ran in this process, so what it used is known: else it is null.
  bool is_ours = true;
  tools::ProcessUse before;
  tools::ProcessUse after;
  std::uint64_t row_writes = 0;
  std::uint64_t commits = 0;
  std::uint64_t steps = 0;
  std::uint64_t chain_calls = 0;
  std::uint64_t http_requests = 0;
  std::uint64_t faults = 0;
  std::optional<double> restart_ms;
  std::uint64_t db_bytes = 0;  ///< the store's file, closed
};

/// `moved`: the chain's books, as `audit` left them.
tools::Report figures(Driven& driven, std::span<const Moved> moved, const Audit& audit,
                      const Used& used);

}  // namespace holdfast::load
