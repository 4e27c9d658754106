// Owns: one connection to an endpoint, plain or TLS, and the exchanges on it, one at a time.
// Must never: set a deadline of its own (it is on the whole exchange, see http_rpc.cpp), or take a
// cancellation for a failure of the other side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "evm/http_rpc_endpoint.hpp"
#include "evm/http_rpc_message.hpp"

namespace holdfast::evm {

/// How far an exchange has come. It belongs to whoever started it and outlives a deadline.
struct ExchangeProgress {
  const char* doing = "waiting for the host's address";  ///< for "no answer while …"
  bool request_begun = false;      ///< a byte of the request may have left; never goes back
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;  ///< of the answer
};

/// An answer, or what went wrong in words that name nothing secret.
struct ExchangeEnd {
  std::optional<HttpAnswer> answer;
  std::string trouble;
};

class HttpConnection {
 public:
  /// Connects and, for https, shakes hands; empty and `trouble` set when it fails. All operations
  /// are cancellable. `tls` may be null for http.
  static boost::asio::awaitable<std::unique_ptr<HttpConnection>> open(
      boost::asio::any_io_executor executor, boost::asio::ssl::context* tls,
      const Endpoint& endpoint, boost::asio::ip::tcp::endpoint address, std::string& trouble);

  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Writes `request` and reads one answer. Cancellable; a connection that was cancelled or gave no
  /// answer is of no further use.
  boost::asio::awaitable<ExchangeEnd> exchange(const std::string& request, std::size_t body_limit,
                                               ExchangeProgress& progress);
  /// Between exchanges: the other side has neither closed nor said anything out of turn, as far as
  /// this side knows now.
  bool quiet() const;

 private:
  struct Stream;
  explicit HttpConnection(std::unique_ptr<Stream> stream);

  std::unique_ptr<Stream> stream_;
};

/// TLS 1.2 or later; `verify` checks the chain against `ca_file`, or the system's store when that
/// is empty. Errors: RpcError::bad_ca_file.
Result<std::unique_ptr<boost::asio::ssl::context>> client_tls(bool verify,
                                                              const std::string& ca_file);

}  // namespace holdfast::evm
