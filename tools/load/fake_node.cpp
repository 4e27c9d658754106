#include "fake_node.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/parse.hpp>

namespace holdfast::load {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::size_t usual_request = 16'384;
constexpr std::uint64_t longest_request = 16UL << 20U;

template <class Clock>
std::int64_t ms_now() {
  const auto now = Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

class FakeNode::Server {
 public:
  Server(FakeNode& node, std::uint16_t port)
      : node_(node), acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), port)) {}

  void start() { asio::co_spawn(io_, listen(), asio::detached); }
  void run() { io_.run(); }
  void stop() { io_.stop(); }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  asio::awaitable<void> listen() {
    for (;;) {
      tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      socket.set_option(tcp::no_delay(true));
      asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
    }
  }

  // A client that goes away, or sends no HTTP, ends its own connection.
  asio::awaitable<void> serve(tcp::socket socket) {
    beast::flat_buffer buffer;
    buffer.reserve(usual_request);  // an empty one is read into by half a kilobyte
    try {
      for (;;) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(longest_request);
        co_await http::async_read(socket, buffer, parser, asio::use_awaitable);
        http::response<http::string_body> response(http::status::ok, 11);
        response.set(http::field::content_type, "application/json");
        response.keep_alive(parser.get().keep_alive());
        response.body() = node_.body_for(parser.get().body());
        response.prepare_payload();
        co_await http::async_write(socket, response, asio::use_awaitable);
        if (!response.keep_alive()) co_return;
      }
    } catch (const boost::system::system_error&) {
      co_return;
    }
  }

  FakeNode& node_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
};

FakeNode::FakeNode(NodeRules rules, std::uint64_t seed, std::uint16_t port, SignerNotes* notes)
    : ledger_(ms_now<std::chrono::system_clock>() / 1000, notes),
      answers_(rules, seed, ledger_),
      server_(std::make_unique<Server>(*this, port)) {
  server_->start();
  thread_ = std::thread([this] {
    try {
      server_->run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "holdfast-load: the fake node ended: %s\n", error.what());
    }
  });
}

FakeNode::~FakeNode() { stop(); }

void FakeNode::stop() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

std::string FakeNode::url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

std::string FakeNode::body_for(const std::string& request) {
  ++requests_;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(request, error);
  const std::int64_t now_ms = ms_now<std::chrono::steady_clock>();
  const std::int64_t now_s = ms_now<std::chrono::system_clock>() / 1000;
  if (error || !value.is_array()) {
    ++calls_;
    return answers_.answer(value, now_ms, now_s);
  }
  std::string out = "[";
  for (const boost::json::value& one : value.get_array()) {
    ++calls_;
    if (out.size() > 1) out += ',';
    out += answers_.answer(one, now_ms, now_s);
  }
  return out + ']';
}

}  // namespace holdfast::load
