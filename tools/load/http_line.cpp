#include "http_line.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/system_error.hpp>
#include <boost/url/parse.hpp>

#include "http/read_message.hpp"
#include "support/arguments.hpp"

namespace holdfast::load {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds patience{30};
constexpr std::size_t usual_answer = 4'096;
constexpr std::uint64_t longest_answer = 16UL << 20U;

}  // namespace

HttpPlace place_of(const std::string& text) {
  const auto url = boost::urls::parse_uri(text);
  const bool good = url && url->scheme() == "http" && !url->host().empty() &&
                    !url->has_userinfo() && (url->path().empty() || url->path() == "/");
  if (!good) throw tools::UsageError("--target is http://host:port, not '" + text + "'");
  const std::string host = url->host_address();
  return {host == "localhost" ? "127.0.0.1" : host,
          url->has_port() ? std::string(url->port()) : std::string("80")};
}

/// One timer runs on from exchange to exchange, and looks at the time when it fires: to set one for
/// each is dearer than the rest of what is done for an exchange here.
struct HttpLine::Wire : std::enable_shared_from_this<HttpLine::Wire> {
  // Room for a whole answer: an empty buffer is read into by half a kilobyte.
  explicit Wire(const asio::any_io_executor& executor) : socket(executor), timer(executor) {
    buffer.reserve(usual_answer);
  }

  void arm() {
    ends = std::chrono::steady_clock::now() + patience;
    is_busy = true;
    if (!is_watched) watch();
  }
  void watch() {
    is_watched = true;
    timer.expires_at(ends);
    timer.async_wait([weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (!self || error) return;
      self->is_watched = false;
      if (!self->is_busy) return;
      if (self->ends > std::chrono::steady_clock::now()) return self->watch();
      self->is_late = true;
      error_code ignored;
      std::ignore = self->socket.close(ignored);
    });
  }
  void check(error_code error) const {
    if (is_late) error = asio::error::timed_out;
    if (error) throw boost::system::system_error(error);
  }

  tcp::socket socket;
  asio::steady_timer timer;
  beast::flat_buffer buffer;
  std::chrono::steady_clock::time_point ends;
  bool is_busy = false;
  bool is_watched = false;
  bool is_late = false;
};

HttpLine::HttpLine(const asio::any_io_executor& executor, HttpPlace place, std::string token)
    : executor_(executor), place_(std::move(place)) {
  common_ = " HTTP/1.1\r\nHost: " + place_.host + "\r\n";
  if (!token.empty()) common_ += "Authorization: Bearer " + token + "\r\n";
}

HttpLine::~HttpLine() = default;

asio::awaitable<HttpAnswer> HttpLine::get(std::string target) {
  return exchange("GET " + target + common_ + "\r\n");
}

asio::awaitable<HttpAnswer> HttpLine::post(const std::string& target,
                                           const std::string& idempotency_key,
                                           const std::string& json) {
  std::string request;
  request.reserve(common_.size() + target.size() + idempotency_key.size() + json.size() + 128);
  request.append("POST ").append(target).append(common_);
  request.append("Idempotency-Key: ").append(idempotency_key);
  request.append("\r\nContent-Type: application/json\r\nContent-Length: ");
  request.append(std::to_string(json.size())).append("\r\n\r\n").append(json);
  return exchange(std::move(request));
}

asio::awaitable<std::shared_ptr<HttpLine::Wire>> HttpLine::connected() {
  if (auto wire = std::move(wire_)) {
    wire->arm();
    co_return wire;
  }
  auto wire = std::make_shared<Wire>(executor_);
  wire->arm();
  const tcp::endpoint to(asio::ip::make_address(place_.host),
                         static_cast<std::uint16_t>(std::stoul(place_.port)));
  error_code error;
  co_await wire->socket.async_connect(to, asio::redirect_error(asio::use_awaitable, error));
  wire->check(error);
  wire->socket.set_option(tcp::no_delay(true));
  co_return wire;
}

asio::awaitable<HttpAnswer> HttpLine::exchange(std::string request) {
  const auto wire = co_await connected();  // an exchange that fails takes it along
  error_code error;
  co_await asio::async_write(wire->socket, asio::buffer(request),
                             asio::redirect_error(asio::use_awaitable, error));
  wire->check(error);
  http::response_parser<http::string_body> parser;
  parser.body_limit(longest_answer);
  error = co_await holdfast::http::read_message(wire->socket, wire->buffer, parser);
  wire->check(error);
  wire->is_busy = false;
  HttpAnswer out{parser.get().result_int(), std::move(parser.get().body())};
  if (parser.get().keep_alive()) wire_ = wire;
  co_return out;
}

}  // namespace holdfast::load
