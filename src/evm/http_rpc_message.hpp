// Owns: one HTTP/1.1 exchange as text: the request to write, and the answer read from bytes as they
// come. No input or output happens here (the name "sans-io" is used for it).
// Must never: buffer more than the limits it was given.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evm/http_rpc_endpoint.hpp"

namespace holdfast::evm {

/// A POST with this JSON body, ready to be written. Compression is not asked for: an answer's size
/// must be known before it is read.
std::string http_request(const Endpoint& endpoint, std::string_view body);

struct HttpAnswer {
  unsigned status = 0;
  bool keep_alive = false;  ///< the connection may carry another exchange
  std::optional<std::string> retry_after;
  std::string body;
};

class HttpAnswerReader {
 public:
  enum class State { more, done, bad };

  explicit HttpAnswerReader(std::size_t body_limit);
  ~HttpAnswerReader();
  HttpAnswerReader(const HttpAnswerReader&) = delete;
  HttpAnswerReader& operator=(const HttpAnswerReader&) = delete;

  /// Takes bytes from the connection.
  State put(std::string_view bytes);
  /// The server closed its side: done only for an answer that ends so.
  State end();
  /// After `bad`: what was wrong, in words of ours.
  const std::string& trouble() const;
  /// After `done`.
  HttpAnswer take();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Milliseconds that a Retry-After field asks for: seconds, or a date (RFC 9110, section 10.2.3)
/// counted from `wall_ms`. Between 0 and 30 s; empty when it is neither.
std::optional<std::int64_t> retry_after_ms(std::string_view field, std::int64_t wall_ms);

}  // namespace holdfast::evm
