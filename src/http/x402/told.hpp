// Owns: the last word about a success: whether its answer went out.
// Must never: fail a connection because the store cannot take that word now.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <holdfast/engine/engine.hpp>

namespace holdfast::http::x402 {

/// What cannot be noted leaves the success as offered: nobody else is told while this engine lives.
boost::asio::awaitable<void> told(engine::Engine& engine, domain::IntentId id, bool written);

}  // namespace holdfast::http::x402
