// Owns: the HTTP face of one engine: payments, operators' and health endpoints, metrics.
// Must never: decide about a payment; every answer is the engine's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/http/x402_options.hpp>
#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/entropy.hpp>

namespace holdfast::http {

/// Times are milliseconds of real time: they guard sockets, not payments.
struct Options {
  std::string address = "127.0.0.1";  ///< an IPv4 or IPv6 address to listen on
  std::uint16_t port = 8402;          ///< 0: one that is free, see `Server::port`
  std::size_t max_body_bytes = 1'048'576;   ///< over: 413
  std::uint32_t max_header_bytes = 16'384;  ///< request line included; over: 431
  std::int64_t read_timeout_ms = 10'000;  ///< from a request's first byte to its last; over: 408
  std::int64_t write_timeout_ms = 30'000;  ///< for the client to take an answer
  std::int64_t idle_timeout_ms = 60'000;  ///< between requests on one connection
  std::size_t max_connections = 1'024;  ///< over: 503 and closed at once
  std::int64_t key_refresh_ms = 2'000;  ///< how old the keys may be, as other processes change them
  /// False: who brings no key is the caller "(anyone)" with every scope. On a loopback address
  /// only.
  bool require_keys = true;
  X402Options x402 = {};
};

/// Lives on the engine's executor: constructed, called and destroyed there. Executor, engine, clock
/// and entropy outlive it, and the engine outlives every answer in progress: `stop` first.
class Server {
 public:
  Server(boost::asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
         ports::Entropy& entropy, Options options);
  /// Drops every connection. Frames in progress end by way of the executor and touch nothing of
  /// this server's owner but the engine call they wait for.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Reads the keys and listens. Throws std::runtime_error with a sentence (the address is taken,
  /// is none, or is not loopback while no keys are required), and what the store throws.
  boost::asio::awaitable<void> start();
  /// The port listened on; zero before `start`.
  std::uint16_t port() const;
  /// Stops accepting, closes idle connections, ends long polls with what they have, lets answers in
  /// progress finish for `deadline_ms` of the clock and then drops them. Afterwards no frame of the
  /// server is left. Returns how many answers were cut short. Safe to call again.
  boost::asio::awaitable<std::size_t> stop(std::int64_t deadline_ms);
  std::size_t connections() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::http
