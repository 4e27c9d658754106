// Owns: reading [x402].
// Must never: let a facilitator be open to everybody and pay everybody's gas without an end.
#pragma once

#include "app/config.hpp"

namespace holdfast::app {

void read_x402(ConfigReader in, http::Options& out);

}  // namespace holdfast::app
