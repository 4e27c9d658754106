#include "evm/http_rpc_connection.hpp"
#include "base/kill_point.hpp"

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include "evm/http_rpc.hpp"

namespace holdfast::evm {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t read_size = 64UL * 1024;

/// Nobody but a cancellation ends an operation so, and a cancellation is not an answer.
void rethrow_cancellation(error_code error) {
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
}

std::string tls_trouble(SSL* ssl, error_code error) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict == X509_V_OK) return "the TLS handshake failed: " + error.message();
  return std::string("the server's certificate is refused: ") +
         X509_verify_cert_error_string(verdict);
}

}  // namespace

/// A plain socket, or one with TLS over it; both cancel an operation for itself.
struct HttpConnection::Stream {
  Stream(const asio::any_io_executor& executor, asio::ssl::context* context) : socket(executor) {
    if (context != nullptr)
      tls = std::make_unique<asio::ssl::stream<tcp::socket&>>(socket, *context);
  }

  asio::awaitable<std::size_t> read(asio::mutable_buffer into, error_code& error) {
    auto token = asio::redirect_error(asio::use_awaitable, error);
    if (tls) return tls->async_read_some(into, token);
    return socket.async_read_some(into, token);
  }
  asio::awaitable<std::size_t> write(asio::const_buffer all, error_code& error) {
    auto token = asio::redirect_error(asio::use_awaitable, error);
    if (tls) return asio::async_write(*tls, all, token);
    return asio::async_write(socket, all, token);
  }

  tcp::socket socket;
  std::unique_ptr<asio::ssl::stream<tcp::socket&>> tls;
  std::vector<char> buffer = std::vector<char>(read_size);
};

HttpConnection::HttpConnection(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
HttpConnection::~HttpConnection() = default;

asio::awaitable<std::unique_ptr<HttpConnection>> HttpConnection::open(
    asio::any_io_executor executor, asio::ssl::context* tls, const Endpoint& endpoint,
    tcp::endpoint address, std::string& trouble) {
  auto stream = std::make_unique<Stream>(executor, tls);
  error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  co_await stream->socket.async_connect(address, token);
  rethrow_cancellation(error);
  if (error) {
    trouble = "no connection: " + error.message();
    co_return nullptr;
  }
  error_code ignored;
  std::ignore = stream->socket.set_option(tcp::no_delay(true), ignored);
  if (stream->tls) {
    SSL* const ssl = stream->tls->native_handle();
    error_code not_an_address;
    asio::ip::make_address(endpoint.host, not_an_address);
    // Server name indication is for names only (RFC 6066, section 3).
    if (not_an_address) SSL_set_tlsext_host_name(ssl, endpoint.host.c_str());
    if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE) {
      stream->tls->set_verify_callback(asio::ssl::host_name_verification(endpoint.host));
    }
    co_await stream->tls->async_handshake(asio::ssl::stream_base::client, token);
    rethrow_cancellation(error);
    if (error) {
      trouble = tls_trouble(ssl, error);
      co_return nullptr;
    }
  }
  co_return std::unique_ptr<HttpConnection>(new HttpConnection(std::move(stream)));
}

asio::awaitable<ExchangeEnd> HttpConnection::exchange(const std::string& request,
                                                      std::size_t body_limit,
                                                      ExchangeProgress& progress) {
  error_code error;
  progress.doing = "writing the request";
  progress.request_begun = true;
  progress.bytes_sent += co_await stream_->write(asio::buffer(request), error);
  rethrow_cancellation(error);
  if (error) co_return ExchangeEnd{{}, "the request was not written: " + error.message()};

  HOLDFAST_KILL_POINT_IF(request.find("eth_sendRawTransaction") != std::string::npos, "KP4");
  progress.doing = "waiting for the answer";
  HttpAnswerReader reader(body_limit);
  while (true) {
    const std::size_t count = co_await stream_->read(asio::buffer(stream_->buffer), error);
    rethrow_cancellation(error);
    progress.bytes_received += count;
    auto state = HttpAnswerReader::State::more;
    if (count > 0) state = reader.put({stream_->buffer.data(), count});
    // Over TLS only a proper end counts as one; a cut connection (stream_truncated) does not.
    if (state == HttpAnswerReader::State::more && error == asio::error::eof) state = reader.end();
    if (state == HttpAnswerReader::State::done) co_return ExchangeEnd{reader.take(), {}};
    if (state == HttpAnswerReader::State::bad) co_return ExchangeEnd{{}, reader.trouble()};
    if (error) co_return ExchangeEnd{{}, "no whole answer: " + error.message()};
  }
}

bool HttpConnection::quiet() const {
  std::array<char, 1> byte{};
  const auto socket = stream_->socket.native_handle();
  const auto got = ::recv(socket, byte.data(), byte.size(), MSG_PEEK | MSG_DONTWAIT);
  // Bytes that wait here are no answer of ours: a close, a TLS alert, or a peer out of step.
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

Result<std::unique_ptr<asio::ssl::context>> client_tls(bool verify, const std::string& ca_file) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  if (!verify) {
    context->set_verify_mode(asio::ssl::verify_none);
    return context;
  }
  context->set_verify_mode(asio::ssl::verify_peer);
  error_code error;
  if (ca_file.empty()) {
    std::ignore = context->set_default_verify_paths(error);
  } else {
    std::ignore = context->load_verify_file(ca_file, error);
  }
  if (error) {
    return refuse(RpcError::bad_ca_file,
                  ca_file.empty() ? "the system's certificate store cannot be read"
                                  : "the RPC CA file cannot be read or holds no PEM certificate");
  }
  return context;
}

}  // namespace holdfast::evm
