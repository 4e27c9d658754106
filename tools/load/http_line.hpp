// Owns: one kept-alive connection to a running holdfast, one request after another.
// Must never: print the token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace holdfast::load {

struct HttpPlace {
  std::string host;
  std::string port;
};
/// Of "http://host[:port]", a numeric address or "localhost". Throws tools::UsageError.
HttpPlace place_of(const std::string& url);

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

class HttpLine {
 public:
  /// `token` may be empty: then none is sent.
  HttpLine(const boost::asio::any_io_executor& executor, HttpPlace place, std::string token);
  ~HttpLine();
  HttpLine(const HttpLine&) = delete;
  HttpLine& operator=(const HttpLine&) = delete;

  /// Connects when it is not connected. Throws boost::system::system_error when there is no whole
  /// answer within 30 s; the next call then begins with a connection of its own.
  boost::asio::awaitable<HttpAnswer> get(std::string target);
  boost::asio::awaitable<HttpAnswer> post(const std::string& target,
                                          const std::string& idempotency_key,
                                          const std::string& json);

 private:
  struct Wire;
  boost::asio::awaitable<std::shared_ptr<Wire>> connected();
  boost::asio::awaitable<HttpAnswer> exchange(std::string request);
  boost::asio::any_io_executor executor_;
  HttpPlace place_;
  std::string common_;  ///< of every request: what stands behind its target
  std::shared_ptr<Wire> wire_;
};

}  // namespace holdfast::load
