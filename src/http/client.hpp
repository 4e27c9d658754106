// Owns: one request to a running holdfast, for the command-line verbs that write while a server
// owns the store. Must never: print the token, or follow a redirect with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/base/result.hpp>

namespace holdfast::http {

enum class ClientError { bad_url = 1, no_answer };
boost::system::error_code make_error_code(ClientError error);

struct ClientRequest {
  std::string method;           ///< GET, POST, DELETE
  std::string target;           ///< "/v1/keys"
  std::string body;             ///< JSON; empty: none
  std::string idempotency_key;  ///< needed on POST
};
struct ClientAnswer {
  unsigned status = 0;
  std::string body;  ///< at most 1 MiB
};

/// Blocks for at most `deadline_ms`. `server` is "http://host:port": a loopback or a trusted
/// network, for there is no TLS here. Errors name the server, never the token.
Result<ClientAnswer> ask_server(const std::string& server, std::string_view token,
                                const ClientRequest& request, std::int64_t deadline_ms = 10'000);

}  // namespace holdfast::http

template <>
struct boost::system::is_error_code_enum<holdfast::http::ClientError> : std::true_type {};
