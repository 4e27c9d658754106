// Owns: a web server that sells one page by x402, with Beast and the engine in its own process.
//   GET /page   without payment: 402 and what it costs; with one: 200 and the page, once
// Must never: touch engine or shop but by `Engine::call`: they run on a strand of their own.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/x402.hpp>

namespace line_server {

struct Page {
  holdfast::x402::Offer offer;
  std::string text;
};

/// Accepts until the acceptor is closed. Acceptor, engine, shop and page outlive all connections.
boost::asio::awaitable<void> sell(boost::asio::ip::tcp::acceptor& acceptor,
                                  holdfast::engine::Engine& engine, holdfast::x402::Shop& shop,
                                  const Page& page);

}  // namespace line_server
