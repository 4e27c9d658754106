// Owns: the JSON-RPC 2.0 client over HTTP and HTTPS: one endpoint, a few kept-alive connections,
// and one batch request for everything that is asked in one turn of the loop.
// Must never: say `not_sent` once a byte of a request was written, take an answer for another
// call's, or print more of its URL than scheme, host and port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>

#include <holdfast/base/result.hpp>
#include <holdfast/ports/clock.hpp>

#include "evm/rpc.hpp"

namespace holdfast::evm {

/// All of them are faults of the configuration: a retry is useless.
enum class RpcError {
  bad_url = 1,
  bad_ca_file,  ///< not readable, or without a certificate
  bad_limit,
};
boost::system::error_code make_error_code(RpcError error);

/// Addresses of a host name, as text; empty when there is none.
using AddressesFound = std::function<void(std::vector<std::string>)>;
/// Starts looking a host name up and returns at once; answers once, later, on the client's
/// executor. It may take for ever: nothing waits for it beyond an exchange's deadline.
using Lookup = std::function<void(std::string host, AddressesFound found)>;

struct HttpRpcOptions {
  std::string url{};                 ///< http(s)://[user:password@]host[:port][/path][?query]
  std::int64_t deadline_ms = 5000;   ///< one exchange: name, connection, TLS, request, answer
  std::size_t max_connections = 4;
  std::size_t max_batch_calls = 100;
  std::size_t max_batch_bytes = 512UL * 1024;          ///< of one request with several calls
  std::size_t max_call_bytes = 1024UL * 1024;  ///< of a single call; a larger one is not sent
  std::size_t max_answer_bytes = 32UL * 1024 * 1024;  ///< an answer's body; a larger one is unknown
  std::size_t max_waiting_calls = 10'000;  ///< beyond them calls are not sent
  bool verify_tls = true;  ///< certificate and host name; never off but for a test bench
  std::string ca_file{};  ///< PEM; trusted instead of the system's store when given
  Lookup lookup{};  ///< the system's resolver when empty
};

/// Since the start. Plain numbers, read on the executor.
struct HttpRpcCounters {
  std::uint64_t calls = 0;  ///< asked for
  std::uint64_t requests = 0;  ///< HTTP requests begun, repeats included
  std::uint64_t connections = 0;  ///< opened
  std::uint64_t repeats = 0;  ///< requests repeated because an idle connection had died
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t errors = 0;  ///< calls that ended not_sent or unknown
  std::uint64_t rate_limited = 0;  ///< exchanges and single answers that asked for fewer calls
};

/// Used on its executor only. Whoever awaits `call` may be cancelled or dropped at any time; what
/// was sent is sent, and its answer is then read and thrown away.
class HttpRpc final : public RpcClient {
 public:
  /// Opens no connection yet. `clock` must outlive the client. Errors: RpcError.
  static Result<std::unique_ptr<HttpRpc>> open(boost::asio::any_io_executor executor,
                                               ports::Clock& clock, HttpRpcOptions options);
  /// As `close`. The executor must still be there: dropped frames are unwound on it.
  ~HttpRpc() override;
  HttpRpc(const HttpRpc&) = delete;
  HttpRpc& operator=(const HttpRpc&) = delete;

  /// As Rpc::call says. A call waits for a connection, or for a pause the endpoint asked for, at
  /// most one deadline and is then `not_sent`; its exchange takes at most another deadline. After
  /// `close`: `not_sent`. Every call is safe to repeat as far as this client is concerned: what a
  /// node does with the same signed bytes twice is what it does with them once.
  boost::asio::awaitable<ports::Outcome<boost::json::value>> call(
      std::string method, boost::json::array params) override;

  /// Drops whoever is waiting without resuming them, and all connections. For teardown.
  void close() override;

  const HttpRpcCounters& counters() const;
  const std::string& name() const override;
  std::uint64_t connections() const override { return counters().connections; }
  std::int64_t held_back_ms() const override;

 private:
  class Core;
  explicit HttpRpc(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::evm

template <>
struct boost::system::is_error_code_enum<holdfast::evm::RpcError> : std::true_type {};
