// Owns: one run with the engine in this process: store, load, crash where it is asked for, the
// comparison with the chain's books, the report.
#pragma once

#include <string>

#include "drive.hpp"
#include "options.hpp"

namespace holdfast::load {

/// The exit code: 0 when each payment was paid once, or ended as its record says.
int run_local(const Options& options, const std::string& command, const Drive::Shown& show);

}  // namespace holdfast::load
