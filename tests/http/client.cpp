#include "client.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "http/message.hpp"

namespace holdfast::testing {
namespace {

constexpr long longest_wait_s = 60;

}  // namespace

std::string HttpAnswer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

boost::json::value HttpAnswer::json() const { return boost::json::parse(body); }

std::string HttpAnswer::at(std::string_view name) const {
  const boost::json::value whole = json();
  const boost::json::value* member = whole.as_object().if_contains(name);
  if (member == nullptr) return {};
  if (const auto* text = member->if_string()) return std::string(*text);
  return boost::json::serialize(*member);
}

Client::Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval limit{longest_wait_s, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket_, generic, sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error("nobody listens on this port");
  }
}

Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

Client::Client(Client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      buffer_(std::move(other.buffer_)),
      reset_(other.reset_) {}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Client::finish_sending() { ::shutdown(socket_, SHUT_WR); }

bool Client::hears_within(int ms) {
  pollfd waiting{socket_, POLLIN, 0};
  return !buffer_.empty() || ::poll(&waiting, 1, ms) > 0;
}

bool Client::more() {
  char bytes[8192];
  const auto read = ::recv(socket_, bytes, sizeof bytes, 0);
  if (read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    throw std::runtime_error("no answer and no end within a minute");
  }
  if (read < 0) reset_ = true;
  if (read <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(read));
  return true;
}

HttpAnswer Client::read(bool head) {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return {};
  }
  HttpAnswer answer;
  answer.status = static_cast<unsigned>(std::stoul(buffer_.substr(9, 3)));
  std::string_view lines = std::string_view(buffer_).substr(0, end);
  lines.remove_prefix(std::min(lines.find("\r\n") + 2, lines.size()));
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    const auto colon = line.find(": ");
    answer.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    lines.remove_prefix(std::min(line.size() + 2, lines.size()));
  }
  const std::string length = answer.header("Content-Length");
  const std::size_t size = head || length.empty() ? 0 : std::stoul(length);
  while (buffer_.size() < end + 4 + size) {
    if (!more()) return {};
  }
  answer.body = buffer_.substr(end + 4, size);
  buffer_.erase(0, end + 4 + size);
  return answer;
}

bool Client::is_closed() {
  if (!buffer_.empty()) return false;
  return !more();
}

std::string request_text(std::string_view method, std::string_view path, std::string_view token,
                         std::string_view key, std::string_view body,
                         std::string_view more_headers) {
  std::string out(method);
  out.append(" ").append(path).append(" HTTP/1.1\r\nHost: test\r\n");
  if (!token.empty()) out.append("Authorization: Bearer ").append(token).append("\r\n");
  if (!key.empty()) out.append("Idempotency-Key: ").append(key).append("\r\n");
  if (!body.empty()) {
    out.append("Content-Type: application/json\r\nContent-Length: ");
    out.append(std::to_string(body.size())).append("\r\n");
  }
  return out.append(more_headers).append("\r\n").append(body);
}

}  // namespace holdfast::testing
