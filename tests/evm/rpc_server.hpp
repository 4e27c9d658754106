// A small HTTP server on a loopback port that says exactly what a test tells it to, byte by byte.
// It runs on the test's own io_context, so a test decides in which order things happen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/json/value.hpp>

namespace holdfast::tests {

class RpcServer {
 public:
  struct Request {
    int connection = 0;  ///< counted from 0 in the order they were accepted
    std::string head;
    boost::json::value body;
  };
  struct Reply {
    std::string bytes;    ///< written as they are; nothing written and not closed: it hangs
    bool close = false;   ///< after writing
    bool reset = false;   ///< with a TCP reset instead
  };
  using Script = std::function<Reply(const Request&)>;

  /// `tls` may be null. Listens on 127.0.0.1.
  RpcServer(boost::asio::io_context& context, Script script,
            boost::asio::ssl::context* tls = nullptr);
  ~RpcServer();

  std::uint16_t port() const;
  /// "http://127.0.0.1:port" or https.
  std::string url() const;
  /// Every request so far.
  const std::vector<Request>& seen() const;
  int connections() const;
  /// Connections the server has not seen end.
  int open_connections() const;
  void script(Script next);
  /// Closes every connection, as a server does with idle ones.
  void hang_up();
  /// Accepts no more.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// "HTTP/1.1 200 OK" with a length and this body.
RpcServer::Reply http_ok(const std::string& body);
/// Any status; `fields` are whole lines with their ends.
RpcServer::Reply http_reply(int status, const std::string& body, const std::string& fields = "");
/// Answers every call, batched or not, with its own method and parameters as the result.
RpcServer::Reply echo(const RpcServer::Request& request);
/// The answer object of one call.
boost::json::value result_of(const boost::json::value& call, boost::json::value result);

}  // namespace holdfast::tests
