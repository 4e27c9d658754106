// Owns: reading a message to its end through Beast's parser, from bytes that come in any pieces.
// Must never: give the parser a last chunk in pieces that it cannot take.
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/error.hpp>

namespace holdfast::http {

/// The header alone, in place of beast::http::async_read_some, and with its errors: what is
/// buffered already costs no turn of the executor. `header_limit` where it is longer than `most`:
/// Beast's own limit is on what it could not take apart yet, which any number of short headers
/// passes.
template <class Stream, class Parser>
boost::asio::awaitable<boost::system::error_code> read_header(Stream& stream,
                                                              boost::beast::flat_buffer& buffer,
                                                              Parser& parser, std::size_t most) {
  namespace beast = boost::beast;
  constexpr std::size_t largest_read = 65'536;
  boost::system::error_code error;
  std::size_t size = 0;
  bool wants_more = buffer.size() == 0;
  parser.eager(false);
  while (!error && !parser.is_header_done()) {
    if (!wants_more) {
      const std::size_t taken = parser.put(buffer.data(), error);
      buffer.consume(taken);
      size += taken;
      wants_more = error == beast::http::error::need_more;
      if (wants_more) error = {};
      if (size > most) error = beast::http::error::header_limit;
      continue;
    }
    const std::size_t room = beast::read_size(buffer, largest_read);
    if (room == 0) co_return beast::http::error::buffer_overflow;
    buffer.commit(co_await stream.async_read_some(
        buffer.prepare(room), boost::asio::redirect_error(boost::asio::use_awaitable, error)));
    wants_more = false;
    if (error != boost::asio::error::eof) continue;
    error = beast::http::error::end_of_stream;
    if (parser.got_some()) parser.put_eof(error);
  }
  co_return error;
}

/// In place of beast::http::async_read, and with its errors. That one ends the process where the
/// last chunk of an empty body comes as "0\r\n" and then one byte: Beast before 1.86 asserts that a
/// last chunk it has seen the beginning of has grown to five bytes (boostorg/beast, pull request
/// 2861). So it is not shown one of four.
template <class Stream, class Parser>
boost::asio::awaitable<boost::system::error_code> read_message(Stream& stream,
                                                               boost::beast::flat_buffer& buffer,
                                                               Parser& parser) {
  namespace beast = boost::beast;
  constexpr std::string_view seen_in_part = "0\r\n";
  constexpr std::size_t shortest_last_chunk = 5;
  constexpr std::size_t largest_read = 65'536;
  boost::system::error_code error;
  std::size_t wanted = 1;
  parser.eager(true);
  while (!error && !parser.is_done()) {
    if (buffer.size() >= wanted) {
      buffer.consume(parser.put(buffer.data(), error));
      wanted = 1;
      if (error != beast::http::error::need_more) continue;
      error = {};
      wanted = buffer.size() + 1;
      const auto* begin = static_cast<const char*>(buffer.data().data());
      const bool in_chunks = parser.is_header_done() && parser.chunked();
      if (in_chunks && std::string_view(begin, buffer.size()) == seen_in_part) {
        wanted = shortest_last_chunk;
      }
    }
    const std::size_t room = beast::read_size(buffer, largest_read);
    if (room == 0) co_return beast::http::error::buffer_overflow;
    buffer.commit(co_await stream.async_read_some(
        buffer.prepare(room), boost::asio::redirect_error(boost::asio::use_awaitable, error)));
    if (error != boost::asio::error::eof) continue;
    error = beast::http::error::end_of_stream;
    if (parser.got_some()) parser.put_eof(error);
  }
  co_return error;
}

}  // namespace holdfast::http
