// The only source of this floor that knows Beast, which reads requests; answers are written as they
// stand in message.cpp.
#include "http/session.hpp"

#include <array>
#include <chrono>
#include <tuple>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/read_message.hpp"

namespace holdfast::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t most_buffered = 65'536;
constexpr std::size_t first_read = 4'096;
/// A refused request's body up to this size is read and forgotten, and the connection kept.
constexpr std::uint64_t forgettable_body = 16'384;
constexpr std::int64_t linger_ms = 2'000;
constexpr std::size_t linger_bytes = 8U << 20U;

using Parser = beast::http::request_parser<beast::http::string_body>;

Request request_of(const Parser& parser) {
  const auto& message = parser.get();
  Request request;
  request.method = message.method_string();
  request.target = message.target();
  request.headers.reserve(8);
  for (const auto& field : message) {
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  // What the headers say as a whole is known only when they came whole.
  request.has_body =
      parser.is_header_done() && (parser.chunked() || parser.content_length().value_or(0) > 0);
  request.http_1_0 = message.version() < 11;
  return request;
}

Problem problem_of_reading(error_code error, bool late, const Options& options) {
  using beast::http::error;
  if (late) {
    return {
        408, "request_timeout",
        "the request was not complete after " + std::to_string(options.read_timeout_ms) + " ms"};
  }
  if (error == error::header_limit || error == error::buffer_overflow) {
    return {431, "header_too_large",
            "the request line and headers are more than " +
                std::to_string(options.max_header_bytes) + " bytes"};
  }
  if (error == error::body_limit) {
    return {413, "body_too_large",
            "the body is more than " + std::to_string(options.max_body_bytes) + " bytes"};
  }
  if (error == error::bad_content_length || error == error::multiple_content_length) {
    return {400, "bad_header", "Content-Length: must be one number, and come without chunks"};
  }
  if (error == error::bad_transfer_encoding) {
    return {400, "bad_header", "Transfer-Encoding: must come once and without Content-Length"};
  }
  if (error == error::partial_message) {
    return {400, "bad_request", "the request ended before it was complete"};
  }
  return {400, "bad_request", "this is not a well-formed HTTP/1.1 request"};
}

/// Something a client did that an answer can tell it about; not a connection that is gone.
bool is_answerable(error_code error) {
  return error.category() ==
             beast::http::make_error_code(beast::http::error::body_limit).category() &&
         error != beast::http::error::end_of_stream;
}

}  // namespace

/// What is read of one connection. `parser` is new for each request.
struct Session::Reader {
  beast::flat_buffer buffer{most_buffered};
  std::optional<Parser> parser;
  bool is_first = true;
};

Session::Session(tcp::socket socket, Api& api, const Options& options)
    : socket_(std::move(socket)),
      ends_(socket_.get_executor()),
      timer_(socket_.get_executor()),
      api_(api),
      options_(options) {}

asio::awaitable<void> Session::run(std::shared_ptr<Session> self, std::shared_ptr<void>) {
  // However it ends, by cancellation too: the timer would keep the socket open.
  struct End {
    Session& session;
    ~End() { session.close(); }
  } const end{*self};
  Reader reader;
  while (!self->last_) {
    if (reader.buffer.size() == 0 && !co_await self->wait_for_bytes(reader)) break;
    reader.is_first = false;
    if (!co_await self->serve(reader)) break;
  }
}

void Session::close() {
  disarm();
  watched_until_.reset();
  timer_.cancel();
  error_code ignored;
  std::ignore = socket_.shutdown(tcp::socket::shutdown_both, ignored);
  std::ignore = socket_.close(ignored);
}

void Session::finish() {
  last_ = true;
  error_code ignored;
  if (may_close_) std::ignore = socket_.cancel(ignored);
}

asio::awaitable<bool> Session::wait_for_bytes(Reader& reader) {
  error_code error;
  may_close_ = true;
  arm(reader.is_first ? options_.read_timeout_ms : options_.idle_timeout_ms);
  const std::size_t count = co_await socket_.async_read_some(
      reader.buffer.prepare(first_read), asio::redirect_error(asio::use_awaitable, error));
  disarm();
  may_close_ = false;
  reader.buffer.commit(count);
  co_return !error && count > 0;
}

asio::awaitable<bool> Session::serve(Reader& reader) {
  Parser& parser = reader.parser.emplace();
  parser.header_limit(options_.max_header_bytes);
  parser.body_limit(options_.max_body_bytes);
  arm(options_.read_timeout_ms);
  const error_code error =
      co_await read_header(socket_, reader.buffer, parser, options_.max_header_bytes);
  Exchange exchange = api_.begin(request_of(parser));
  exchange.is_gone = [this] { return peer_is_gone(); };
  if (error) {
    co_await refuse_unread(reader, exchange, error);
    co_return false;
  }
  if (auto refusal = co_await api_.admit(exchange)) {
    const auto length = parser.content_length().value_or(0);
    const bool waits = exchange.request.header("Expect").has_value();
    const bool forgettable = !parser.chunked() && length <= forgettable_body && !waits;
    if (!parser.is_done() && !forgettable) {
      co_await deliver(reader, exchange, *refusal, false);
      co_await linger();
      co_return false;
    }
    if (!co_await read_body(reader, exchange)) co_return false;
    co_return co_await deliver(reader, exchange, *refusal, parser.keep_alive());
  }
  if (!co_await read_body(reader, exchange)) co_return false;
  const bool keep_alive = parser.keep_alive();
  reader.parser.reset();  // an answer may take a minute: keep only what it needs
  const Response response = co_await api_.answer(exchange);
  co_return co_await deliver(reader, exchange, response, keep_alive);
}

asio::awaitable<bool> Session::read_body(Reader& reader, Exchange& exchange) {
  Parser& parser = *reader.parser;
  if (!parser.is_done() && exchange.request.header("Expect")) {
    if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
    arm(options_.read_timeout_ms);
  }
  error_code error;
  if (!parser.is_done() && !late_) {
    error = co_await read_message(socket_, reader.buffer, parser);
  }
  if (error || !parser.is_done()) {
    co_await refuse_unread(reader, exchange, error);
    co_return false;
  }
  disarm();
  exchange.request.body = std::move(parser.get().body());
  co_return true;
}

asio::awaitable<void> Session::refuse_unread(Reader& reader, const Exchange& exchange,
                                             error_code error) {
  if (!late_ && !is_answerable(error)) co_return;
  const Problem problem = problem_of_reading(error, late_, options_);
  co_await deliver(reader, exchange, api_.refuse(exchange, problem), false);
  co_await linger();
}

asio::awaitable<bool> Session::deliver(Reader& reader, const Exchange& exchange,
                                       const Response& response, bool keep_alive) {
  Delivery delivery;
  delivery.keep_alive = keep_alive && !last_;
  delivery.head_only = exchange.request.method == "HEAD";
  delivery.http_1_0 = exchange.request.http_1_0;
  delivery.wall_ms = api_.wall_ms();
  // Where the other side is gone already, what is told once is kept for who asks next.
  const bool is_gone = response.success_of && peer_is_gone();
  const bool written = !is_gone && co_await write(to_wire(response, delivery));
  if (response.success_of) {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await api_.told(response, written);
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  }
  reader.parser.reset();
  co_return (written && delivery.keep_alive);
}

// Its end of the connection is closed, so it waits for no answer. Bytes that it sent before hide
// it.
bool Session::peer_is_gone() {
  std::array<char, 1> byte{};
  error_code error;
  std::ignore = socket_.non_blocking(true, error);
  if (error) return true;
  const std::size_t count = socket_.receive(asio::buffer(byte), tcp::socket::message_peek, error);
  return error != asio::error::would_block && (error || count == 0);
}

asio::awaitable<bool> Session::write(std::string bytes) {
  arm(options_.write_timeout_ms);
  error_code error;
  co_await asio::async_write(socket_, asio::buffer(bytes),
                             asio::redirect_error(asio::use_awaitable, error));
  disarm();
  co_return !error;
}

asio::awaitable<void> Session::linger() {
  error_code error;
  std::ignore = socket_.shutdown(tcp::socket::shutdown_send, error);
  std::array<char, first_read> forgotten{};
  may_close_ = true;
  arm(linger_ms);
  for (std::size_t read = 0; !error && !last_ && read < linger_bytes;) {
    read += co_await socket_.async_read_some(asio::buffer(forgotten),
                                             asio::redirect_error(asio::use_awaitable, error));
  }
  disarm();
}

void Session::arm(std::int64_t ms) {
  late_ = false;
  armed_ = true;
  ends_.expires_after(std::chrono::milliseconds(ms));
  if (!watched_until_ || ends_.expiry() < *watched_until_) watch_until(ends_.expiry());
}

void Session::disarm() {
  armed_ = false;
  late_ = false;
}

void Session::watch_until(Time until) {
  watched_until_ = until;
  timer_.expires_at(until);
  timer_.async_wait([self = shared_from_this(), until](error_code error) {
    // Of an earlier watch that another took the place of, perhaps.
    if (error || self->watched_until_ != until) return;
    self->watched_until_.reset();
    if (!self->armed_) return;
    if (self->ends_.expiry() > until) return self->watch_until(self->ends_.expiry());
    self->late_ = true;
    error_code ignored;
    std::ignore = self->socket_.cancel(ignored);
  });
}

void turn_away(tcp::socket& socket, std::int64_t wall_ms) {
  Delivery delivery;
  delivery.wall_ms = wall_ms;
  const std::string bytes = to_wire(
      response_of({503, "too_many_connections", "too many connections are open; try again", 1}),
      delivery);
  error_code ignored;
  std::ignore = socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(bytes), ignored);
  std::ignore = socket.shutdown(tcp::socket::shutdown_both, ignored);
  std::ignore = socket.close(ignored);
}

}  // namespace holdfast::http
