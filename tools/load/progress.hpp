// Owns: the one line a person watches while payments run.
#pragma once

#include <string>

#include "drive.hpp"

namespace holdfast::load {

/// Without a line end. `before` is the moment shown last.
std::string progress_line(const Moment& now, const Moment& before, const Driven& driven);

}  // namespace holdfast::load
