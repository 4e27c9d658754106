#include "support/http_face.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace holdfast::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(port);
  return out;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool receive_more(int fd, std::string& into) {
  std::array<char, 16'384> buffer{};
  const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
  if (n <= 0) return false;
  into.append(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

HttpMessage head_of(std::string_view text) {
  HttpMessage out;
  std::size_t at = 0;
  bool first = true;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find("\r\n", at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 2;
    if (first) {
      out.start_line = line;
      first = false;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    out.headers.emplace_back(line.substr(0, colon), value);
  }
  return out;
}

/// One message from the connection; what is read beyond it stays in `rest`.
std::optional<HttpMessage> receive(int fd, std::string& rest, bool until_close) {
  std::size_t end = 0;
  while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_more(fd, rest)) return std::nullopt;
  }
  HttpMessage out = head_of(std::string_view(rest).substr(0, end + 2));
  rest.erase(0, end + 4);
  const std::string length = out.header("Content-Length");
  if (length.empty() && until_close) {
    while (receive_more(fd, rest)) {
    }
    out.body = std::move(rest);
    rest.clear();
    return out;
  }
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  while (rest.size() < size) {
    if (!receive_more(fd, rest)) return std::nullopt;
  }
  out.body = rest.substr(0, size);
  rest.erase(0, size);
  return out;
}

}  // namespace

std::string HttpMessage::header(const std::string& name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return value;
  }
  return "";
}

HttpFace::HttpFace(Handler handler) : handler_(std::move(handler)) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listening_ < 0 || ::bind(listening_, any, size) != 0 || ::listen(listening_, 256) != 0 ||
      ::getsockname(listening_, any, &size) != 0) {
    throw std::runtime_error("no loopback port to listen on");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpFace::~HttpFace() { stop(); }

void HttpFace::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  closing_.notify_all();
  ::shutdown(listening_, SHUT_RDWR);
  acceptor_.join();
  for (Served& one : threads_) one.thread.join();
  ::close(listening_);
}

void HttpFace::wait_ms(std::int64_t ms) {
  std::unique_lock lock(mutex_);
  closing_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return closed_; });
}

void HttpFace::accept_all() {
  for (;;) {
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const std::lock_guard lock(mutex_);
    if (closed_) {
      ::close(fd);
      return;
    }
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    open_.insert(fd);
    reap();
    Served& served = threads_.emplace_back();
    served.thread = std::thread([this, fd, &served] {
      serve(fd);
      served.ended = true;
    });
  }
}

// A thread that ended keeps its stack until it is joined: too many of those for a long run.
void HttpFace::reap() {
  for (auto one = threads_.begin(); one != threads_.end();) {
    if (one->ended) {
      one->thread.join();
      one = threads_.erase(one);
    } else {
      ++one;
    }
  }
}

void HttpFace::serve(int fd) {
  std::string rest;
  for (bool more = true; more;) {
    const auto request = receive(fd, rest, false);
    if (!request) break;
    more = write_reply(fd, handler_(*request));
  }
  const std::lock_guard lock(mutex_);
  open_.erase(fd);
  ::close(fd);
}

bool HttpFace::write_reply(int fd, const HttpReply& reply) {
  switch (reply.how) {
    case HttpReply::How::close: return false;
    case HttpReply::How::reset: {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      return false;
    }
    case HttpReply::How::hang: {
      std::string ignored;
      while (receive_more(fd, ignored)) {
      }
      return false;
    }
    case HttpReply::How::answer: break;
  }
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                     (reply.status == 200 ? "OK" : "Trouble") +
                     "\r\nContent-Type: " + reply.content_type +
                     "\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\n";
  for (const auto& [name, value] : reply.headers)
    head.append(name).append(": ").append(value).append("\r\n");
  head += "\r\n";
  if (reply.drip_ms <= 0) return send_all(fd, head + reply.body);
  if (!send_all(fd, head)) return false;
  const std::size_t piece = reply.body.size() / 16 + 1;
  for (std::size_t at = 0; at < reply.body.size(); at += piece) {
    wait_ms(reply.drip_ms);
    if (!send_all(fd, std::string_view(reply.body).substr(at, piece))) return false;
  }
  return true;
}

bool HttpClient::connect() {
  if (fd_ >= 0) return true;
  rest_.clear();
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = patience_ms_ / 1000, .tv_usec = patience_ms_ % 1000 * 1000};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const int yes = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const sockaddr_in address = loopback(port_);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
  disconnect();
  return false;
}

void HttpClient::disconnect() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

HttpClient::Answer HttpClient::ask(const std::string& method, const std::string& target,
                                   const HttpHeaders& headers, const std::string& body) {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  for (const auto& [name, value] : headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (!body.empty() || method == "POST") {
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  text += "\r\n" + body;
  const bool reused = fd_ >= 0;
  // A kept connection may have been closed since: then once more, on a new one.
  for (int tries = 0; tries < (reused ? 2 : 1); ++tries) {
    if (!connect()) return {};
    auto message = send_all(fd_, text) ? receive(fd_, rest_, true) : std::nullopt;
    if (message && message->start_line.size() > 12) {
      const int status = std::stoi(message->start_line.substr(9));
      if (same_name(message->header("Connection"), "close") ||
          message->header("Content-Length").empty()) {
        disconnect();
      }
      return {status, std::move(*message)};
    }
    disconnect();
  }
  return {};
}

}  // namespace holdfast::test
