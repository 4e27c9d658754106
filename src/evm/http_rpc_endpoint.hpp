// Owns: an RPC endpoint's URL, taken apart: what is dialled, what is sent, what may be shown.
// Must never: let user, password, path or query out in a text; any of them may be the secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/result.hpp>

namespace holdfast::evm {

/// Texts that must not be seen, in the forms a server may echo them.
class Secrets {
 public:
  /// Kept when it has at least four bytes: a shorter one hides nothing, and taking it out would
  /// make a riddle of every message.
  void add(std::string_view text);
  /// `text` with every secret in it replaced. To be done before a text is cut: half a secret is no
  /// longer found.
  std::string scrub(std::string_view text) const;

 private:
  std::vector<std::string> texts_;  // longest first: one may contain another
};

struct Endpoint {
  bool tls = false;
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 0;
  std::string
      host_field;  ///< for the Host field: with brackets, and the port where it is not usual
  std::string target;  ///< path and query, as they go into the request line
  std::string authorization;  ///< the Authorization field's value; empty for none
  std::string shown;  ///< scheme://host:port, all that may ever be printed
  Secrets secrets;
};

/// http or https, with a host, at most 2048 bytes, no fragment.
/// Errors: RpcError::bad_url, with a sentence that echoes nothing of the URL.
Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace holdfast::evm
