#include "http_line.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/parse.hpp>

#include "support/arguments.hpp"

namespace holdfast::load {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds patience{30};
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

struct HttpLine::Wire {
  explicit Wire(const asio::any_io_executor& executor) : stream(executor) {}
  beast::tcp_stream stream;
  beast::flat_buffer buffer;
};

HttpLine::HttpLine(const asio::any_io_executor& executor, HttpPlace place, std::string token)
    : executor_(executor), place_(std::move(place)), token_(std::move(token)) {}

HttpLine::~HttpLine() = default;

asio::awaitable<HttpAnswer> HttpLine::get(std::string target) {
  return exchange(false, std::move(target), {}, {});
}

asio::awaitable<HttpAnswer> HttpLine::post(std::string target, std::string idempotency_key,
                                           std::string json) {
  return exchange(true, std::move(target), std::move(idempotency_key), std::move(json));
}

asio::awaitable<HttpAnswer> HttpLine::exchange(bool posts, std::string target, std::string key,
                                               std::string body) {
  auto wire = std::move(wire_);  // an exchange that fails takes it along
  if (!wire) {
    wire = std::make_unique<Wire>(executor_);
    wire->stream.expires_after(patience);
    const asio::ip::tcp::endpoint to(asio::ip::make_address(place_.host),
                                     static_cast<std::uint16_t>(std::stoul(place_.port)));
    co_await wire->stream.async_connect(to, asio::use_awaitable);
    wire->stream.socket().set_option(asio::ip::tcp::no_delay(true));
  }
  http::request<http::string_body> request(posts ? http::verb::post : http::verb::get, target, 11);
  request.set(http::field::host, place_.host);
  if (!token_.empty()) request.set(http::field::authorization, "Bearer " + token_);
  if (posts) {
    request.set("Idempotency-Key", key);
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(body);
    request.prepare_payload();
  }
  wire->stream.expires_after(patience);
  co_await http::async_write(wire->stream, request, asio::use_awaitable);
  http::response_parser<http::string_body> parser;
  parser.body_limit(longest_answer);
  co_await http::async_read(wire->stream, wire->buffer, parser, asio::use_awaitable);
  HttpAnswer out{parser.get().result_int(), std::move(parser.get().body())};
  if (parser.get().keep_alive()) wire_ = std::move(wire);
  co_return out;
}

}  // namespace holdfast::load
