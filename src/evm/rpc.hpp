// Owns: the one call the EVM chain makes: a JSON-RPC method with parameters, answered or not.
// Must never: let a URL with credentials, or a node's raw text, out of this wing.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <holdfast/ports/outcome.hpp>

namespace holdfast::evm {

class Rpc {
 public:
  virtual ~Rpc() = default;

  /// `ok` is the member "result" (null included). `refused` is the node's own error object, its
  /// kind from the catalogue (node_errors.hpp), its message bounded and cleaned. `not_sent` when
  /// the request provably never left; everything else is `unknown`.
  virtual boost::asio::awaitable<ports::Outcome<boost::json::value>> call(
      std::string method, boost::json::array params) = 0;
};

}  // namespace holdfast::evm
