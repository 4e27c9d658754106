#include "evm/http_rpc_message.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <time.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace holdfast::evm {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t header_limit = 16 * 1024;
constexpr std::int64_t longest_pause_ms = 30'000;

std::string in_words(boost::system::error_code error, std::size_t body_limit) {
  if (error == http::error::body_limit) {
    return "the answer is larger than " + std::to_string(body_limit) + " bytes";
  }
  if (error == http::error::header_limit) return "the answer's header is larger than 16 KiB";
  if (error == http::error::partial_message) return "the answer was cut off";
  if (error == http::error::end_of_stream) return "the connection was closed before an answer";
  return "the answer is not HTTP";
}

}  // namespace

struct HttpAnswerReader::Parser {
  explicit Parser(std::size_t limit) : body_limit(limit) {
    parser.header_limit(header_limit);
    parser.body_limit(limit);
    parser.eager(true);
  }

  State after(boost::system::error_code error) {
    if (error) {
      trouble = in_words(error, body_limit);
      return State::bad;
    }
    return parser.is_done() ? State::done : State::more;
  }

  std::size_t body_limit;
  http::response_parser<http::string_body> parser;
  std::string unread;  // what the parser has not taken yet: part of a header or of a chunk's
  // Bytes of `unread` before any are shown to the parser again. Beast before 1.86 ends the process
  // where the last chunk of an empty body comes as "0\r\n" and then one byte: it asserts that a
  // last chunk it has seen the beginning of has grown to five (boostorg/beast, pull request 2861).
  std::size_t wanted = 0;
  bool surplus = false;  // bytes behind the answer: the connection is not to be used again
  std::string trouble;
};

std::string http_request(const Endpoint& endpoint, std::string_view body) {
  std::string out = "POST " + endpoint.target + " HTTP/1.1\r\nHost: " + endpoint.host_field +
                    "\r\nUser-Agent: holdfast\r\nAccept: application/json\r\n"
                    "Content-Type: application/json\r\n";
  if (!endpoint.authorization.empty()) out += "Authorization: " + endpoint.authorization + "\r\n";
  out += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  out += body;
  return out;
}

HttpAnswerReader::HttpAnswerReader(std::size_t body_limit)
    : parser_(std::make_unique<Parser>(body_limit)) {}
HttpAnswerReader::~HttpAnswerReader() = default;

HttpAnswerReader::State HttpAnswerReader::put(std::string_view bytes) {
  Parser& state = *parser_;
  state.unread += bytes;
  if (state.unread.size() < state.wanted) return State::more;
  std::string_view rest = state.unread;
  boost::system::error_code error;
  state.wanted = 0;
  while (!rest.empty() && !state.parser.is_done()) {
    const std::size_t taken =
        state.parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    rest.remove_prefix(taken);
    if (error == http::error::need_more) {
      error = {};
      const bool in_chunks = state.parser.is_header_done() && state.parser.chunked();
      if (in_chunks && rest == "0\r\n") state.wanted = 5;
      break;
    }
    if (error) return state.after(error);
  }
  state.surplus = state.parser.is_done() && !rest.empty();
  state.unread.erase(0, state.unread.size() - rest.size());
  return state.after(error);
}

HttpAnswerReader::State HttpAnswerReader::end() {
  boost::system::error_code error;
  if (!parser_->parser.got_some()) {
    error = http::error::end_of_stream;
  } else {
    parser_->parser.put_eof(error);
  }
  return parser_->after(error);
}

const std::string& HttpAnswerReader::trouble() const { return parser_->trouble; }

HttpAnswer HttpAnswerReader::take() {
  auto& message = parser_->parser.get();
  HttpAnswer out;
  out.status = message.result_int();
  out.keep_alive = parser_->parser.keep_alive() && !parser_->surplus;
  if (const auto field = message.find(http::field::retry_after); field != message.end()) {
    out.retry_after = std::string(field->value());
  }
  out.body = std::move(message.body());
  return out;
}

std::optional<std::int64_t> retry_after_ms(std::string_view field, std::int64_t wall_ms) {
  std::int64_t seconds = 0;
  const std::string text(field);
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ptr == end && read.ec == std::errc() && seconds >= 0) {
    return std::min(seconds, longest_pause_ms / 1000) * 1000;
  }
  if (read.ptr == end && read.ec == std::errc::result_out_of_range) return longest_pause_ms;
  tm date{};
  const char* const rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  const std::int64_t until_ms = std::int64_t{timegm(&date)} * 1000;
  return std::clamp<std::int64_t>(until_ms - wall_ms, 0, longest_pause_ms);
}

}  // namespace holdfast::evm
