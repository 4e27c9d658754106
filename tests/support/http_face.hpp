// Owns: the two ends of HTTP/1.1 that the fault proxy, the scripted node and the cases use, on
// plain blocking sockets: a server with a thread a connection, in which a fault is simply code that
// waits or closes, and a client. Nothing of the HTTP code under test is in it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpMessage {
  std::string start_line;
  HttpHeaders headers;
  std::string body;

  /// Of the first header of this name, in any case; empty when there is none.
  std::string header(const std::string& name) const;
};

/// What becomes of a request.
struct HttpReply {
  enum class How {
    answer,
    close,  ///< the connection ends without a byte of an answer
    reset,  ///< the same, with a TCP reset
    hang,  ///< nothing at all until the other end goes
  } how = How::answer;
  int status = 200;
  std::string content_type = "application/json";
  HttpHeaders headers;
  std::string body;
  std::int64_t drip_ms = 0;  ///< over zero: the body in sixteen pieces with this pause between
};

class HttpFace {
 public:
  /// Called on the connection's own thread: several at once.
  using Handler = std::function<HttpReply(const HttpMessage& request)>;

  /// Listens on a free loopback port.
  explicit HttpFace(Handler handler);
  ~HttpFace();
  HttpFace(const HttpFace&) = delete;
  HttpFace& operator=(const HttpFace&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// For handlers: returns early when the face closes.
  void wait_ms(std::int64_t ms);
  /// Ends every thread; handlers run no more after it.
  void stop();

 private:
  struct Served {
    std::thread thread;
    std::atomic<bool> ended = false;
  };

  void accept_all();
  void reap();
  void serve(int fd);
  bool write_reply(int fd, const HttpReply& reply);

  Handler handler_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
  std::set<int> open_;
  std::list<Served> threads_;
  std::thread acceptor_;
};

/// A client that keeps its connection, for one thread.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, std::int64_t patience_ms = 30'000)
      : port_(port), patience_ms_(patience_ms) {}
  ~HttpClient() { disconnect(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  struct Answer {
    int status = 0;  ///< zero: there was no whole answer
    HttpMessage message;
  };
  Answer ask(const std::string& method, const std::string& target, const HttpHeaders& headers,
             const std::string& body);

 private:
  bool connect();
  void disconnect();

  std::uint16_t port_;
  std::int64_t patience_ms_;
  int fd_ = -1;
  std::string rest_;  // read beyond the last answer
};

}  // namespace holdfast::test
