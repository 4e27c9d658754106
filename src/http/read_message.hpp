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
