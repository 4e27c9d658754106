#include "toy_node.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::test {
namespace {

namespace json = boost::json;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void set_patience(int of, time_t seconds) {
  const timeval patience{.tv_sec = seconds, .tv_usec = 0};
  ::setsockopt(of, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

// A socket bound to a free loopback port.
int bound_socket(std::uint16_t& port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (made < 0 || ::bind(made, any, size) != 0 || ::getsockname(made, any, &size) != 0) {
    throw std::runtime_error("no loopback port");
  }
  port = ntohs(address.sin_port);
  return made;
}

std::size_t content_length(const std::string& head) {
  static const std::string name = "Content-Length: ";
  const std::size_t at = head.find(name);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + name.size()));
}

json::value answered(const json::value& call, const std::string& result) {
  return {{"jsonrpc", "2.0"}, {"id", call.at("id")}, {"result", result}};
}

}  // namespace

ToyNode::ToyNode(Script script) : script_(std::move(script)) {
  listening_ = bound_socket(port_);
  if (::listen(listening_, 16) != 0) throw std::runtime_error("nobody can listen");
  thread_ = std::thread([this] { serve(); });
}

ToyNode::~ToyNode() {
  ::shutdown(listening_, SHUT_RDWR);  // accept() returns
  thread_.join();
  ::close(listening_);
}

void ToyNode::serve() {
  for (;;) {
    const int connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    set_patience(connection, 5);
    answer(connection);
    ::close(connection);
  }
}

void ToyNode::answer(int connection) const {
  std::string request;
  std::array<char, 4096> buffer;
  std::size_t head = std::string::npos;
  while (head == std::string::npos || request.size() < head + 4 + content_length(request)) {
    const ssize_t size = ::read(connection, buffer.data(), buffer.size());
    if (size <= 0) return;
    request.append(buffer.data(), static_cast<std::size_t>(size));
    head = request.find("\r\n\r\n");
  }
  const Answer made = script_(request.substr(head + 4));
  const std::string text =
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + made.content_type +
      "\r\nContent-Length: " + std::to_string(made.body.size()) + "\r\n\r\n" + made.body;
  (void)::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

ToyNode::Script always(std::string result) {
  return [result = std::move(result)](const std::string& body) {
    const json::value asked = json::parse(body);
    json::value answer;
    if (const json::array* calls = asked.if_array()) {
      json::array answers;
      for (const json::value& call : *calls) answers.push_back(answered(call, result));
      answer = std::move(answers);
    } else {
      answer = answered(asked, result);
    }
    return ToyNode::Answer{"application/json", json::serialize(answer)};
  };
}

ToyNode::Script html_page() {
  return [](const std::string&) {
    return ToyNode::Answer{"text/html", "<html><body>Welcome to the proxy</body></html>"};
  };
}

HttpAnswer http_get(std::uint16_t port, const std::string& target, const std::string& token) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  set_patience(connection, 10);
  sockaddr_in address = loopback(port);
  const std::string request = "GET " + target +
                              " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: " + "Bearer " +
                              token + "\r\nConnection: close\r\n\r\n";
  std::string text;
  std::array<char, 4096> buffer;
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(connection, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    for (ssize_t size = 0; (size = ::read(connection, buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
  ::close(connection);
  const std::size_t head = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || head == std::string::npos) {
    throw std::runtime_error("no answer to " + target);
  }
  return {std::stoi(text.substr(9)), text.substr(head + 4)};
}

std::uint16_t closed_port() {
  std::uint16_t port = 0;
  ::close(bound_socket(port));
  return port;
}

}  // namespace holdfast::test
