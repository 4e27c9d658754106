// Owns: the addresses of one host, looked up beside the calls and kept for a minute.
// Must never: make a call wait for a name that is known already, or for longer than the call has:
// looking a name up cannot be cancelled, so only the wait for it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/parking.hpp>

#include "evm/http_rpc.hpp"

namespace holdfast::evm {

class HostAddresses : public std::enable_shared_from_this<HostAddresses> {
 public:
  using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;
  static constexpr std::int64_t kept_ms = 60'000;

  /// A host that is an address already is never looked up.
  HostAddresses(boost::asio::any_io_executor executor, ports::Clock& clock, std::string host,
                std::uint16_t port, Lookup lookup);

  /// In the order they should be tried; empty when the name has none. What is known is given at
  /// once, however old; when it is older than `kept_ms` a new look-up is begun beside it. Waits
  /// only while nothing is known; cancellable.
  static boost::asio::awaitable<Addresses> get(std::shared_ptr<HostAddresses> self);
  /// This address did not take a connection: it is tried last from now on.
  void failed(const boost::asio::ip::tcp::endpoint& address);
  /// This one did: it is tried first.
  void worked(const boost::asio::ip::tcp::endpoint& address);
  /// Drops who waits.
  void abandon() { waiting_.abandon(); }

 private:
  void look_up();
  void found(const std::vector<std::string>& addresses);

  ports::Clock& clock_;
  std::string host_;
  std::uint16_t port_;
  Lookup lookup_;
  bool fixed_ = false;
  bool looking_ = false;
  std::int64_t known_since_ms_ = 0;
  Addresses known_;
  ports::WaitList waiting_;
};

}  // namespace holdfast::evm
