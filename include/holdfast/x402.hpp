// Owns: the one include of a C++ server that sells by x402 with the engine in its own process. See
// tests/embedding/shop_server.cpp for a whole one.
#pragma once

#include <holdfast/http/x402_shop.hpp>

namespace holdfast {
namespace x402 = http::x402;
}  // namespace holdfast
