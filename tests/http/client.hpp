// Owns: a client that sends whatever bytes a test wants and reads what comes back, over a blocking
// socket with a time limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

namespace holdfast::testing {

struct HttpAnswer {
  unsigned status = 0;  ///< 0: the connection ended without an answer
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  /// Empty when it is not there. In any case.
  std::string header(std::string_view name) const;
  /// The body; throws when it is no JSON.
  boost::json::value json() const;
  /// A member of the body's object, as text; "null" for null, empty when it is not there.
  std::string at(std::string_view name) const;
};

class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;

  /// False when the other side is gone.
  bool send(std::string_view bytes);
  /// Ends the sending side; answers can still be read.
  void finish_sending();
  /// The next whole answer. `head`: it has no body.
  HttpAnswer read(bool head = false);
  /// Is there anything to read, at the latest after `ms`?
  bool hears_within(int ms);
  /// True when the other side closed, having sent nothing more.
  bool is_closed();
  bool reset_seen() const { return reset_; }

 private:
  bool more();

  int socket_ = -1;
  std::string buffer_;
  bool reset_ = false;
};

/// A request's text; Content-Length and Content-Type are added for a body.
std::string request_text(std::string_view method, std::string_view path, std::string_view token,
                         std::string_view key, std::string_view body,
                         std::string_view more_headers = {});

}  // namespace holdfast::testing
