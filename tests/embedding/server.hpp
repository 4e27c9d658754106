// Owns: the server that was there before holdfast: plain Asio, one line asked, one line answered.
//   PAY <payee> <amount> <key>   ->  OK <intent id> <state>   or   NO <sentence>
//   STATE <intent id>            ->  OK <state>               or   NO <sentence>
// Must never: touch the engine but by `Engine::call`: it runs on a strand of its own.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <holdfast/engine/engine.hpp>

namespace line_server {

/// Accepts until the acceptor is closed. Each connection is its own coroutine; acceptor and engine
/// outlive them all.
boost::asio::awaitable<void> serve(boost::asio::ip::tcp::acceptor& acceptor,
                                   holdfast::engine::Engine& engine);

}  // namespace line_server
