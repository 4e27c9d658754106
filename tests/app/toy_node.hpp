// Owns: the two ends of HTTP that these tests bring: a node that is not what the configuration says
// (one answer a connection, all from one function), and a client for one GET.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace holdfast::test {

class ToyNode {
 public:
  struct Answer {
    std::string content_type;
    std::string body;
  };
  /// Called on the node's own thread with a request's body.
  using Script = std::function<Answer(const std::string& body)>;

  explicit ToyNode(Script script);
  ~ToyNode();
  ToyNode(const ToyNode&) = delete;
  ToyNode& operator=(const ToyNode&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void serve();
  void answer(int connection) const;

  Script script_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

/// Answers every JSON-RPC call, alone or in a batch, with this result.
ToyNode::Script always(std::string result);
/// A proxy's page, whatever is asked.
ToyNode::Script html_page();

struct HttpAnswer {
  int status = 0;
  std::string body;
};
/// Waits for at most ten seconds; throws when there is no whole answer.
HttpAnswer http_get(std::uint16_t port, const std::string& target, const std::string& token);

/// A port on which nobody listens, as far as can be known.
std::uint16_t closed_port();

}  // namespace holdfast::test
