#include "rpc_server.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::tests {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
using boost::system::error_code;

struct RpcServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, Script first, asio::ssl::context* secure)
      : acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        script(std::move(first)),
        tls(secure) {}

  static asio::awaitable<void> accept_all(std::shared_ptr<State> self);
  static asio::awaitable<void> serve(std::shared_ptr<State> self,
                                     std::shared_ptr<tcp::socket> socket, int number);
  template <class Stream>
  static asio::awaitable<void> talk(std::shared_ptr<State> self, Stream& stream,
                                    tcp::socket& socket, int number);

  tcp::acceptor acceptor;
  Script script;
  asio::ssl::context* tls;
  std::vector<Request> seen;
  std::vector<std::weak_ptr<tcp::socket>> sockets;
  int accepted = 0;
  int open = 0;
};

namespace {

void ignore(std::exception_ptr) {}

std::size_t length_in(const std::string& head) {
  static constexpr std::string_view field = "Content-Length: ";
  const auto at = head.find(field);
  if (at == head.npos) return 0;
  std::size_t length = 0;
  std::from_chars(head.data() + at + field.size(), head.data() + head.size(), length);
  return length;
}

}  // namespace

asio::awaitable<void> RpcServer::State::accept_all(std::shared_ptr<State> self) {
  while (true) {
    error_code error;
    auto socket = std::make_shared<tcp::socket>(self->acceptor.get_executor());
    co_await self->acceptor.async_accept(*socket, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    self->sockets.push_back(socket);
    const int number = self->accepted++;
    ++self->open;
    asio::co_spawn(self->acceptor.get_executor(), serve(self, socket, number), ignore);
  }
}

asio::awaitable<void> RpcServer::State::serve(std::shared_ptr<State> self,
                                              std::shared_ptr<tcp::socket> socket, int number) {
  struct Count {
    int& open;
    ~Count() { --open; }
  } count{self->open};
  if (self->tls == nullptr) {
    co_await talk(self, *socket, *socket, number);
    co_return;
  }
  asio::ssl::stream<tcp::socket&> stream(*socket, *self->tls);
  error_code error;
  co_await stream.async_handshake(asio::ssl::stream_base::server,
                                  asio::redirect_error(asio::use_awaitable, error));
  if (!error) co_await talk(self, stream, *socket, number);
}

template <class Stream>
asio::awaitable<void> RpcServer::State::talk(std::shared_ptr<State> self, Stream& stream,
                                             tcp::socket& socket, int number) {
  std::string buffer;
  while (true) {
    error_code error;
    const std::size_t head_size =
        co_await asio::async_read_until(stream, asio::dynamic_buffer(buffer), "\r\n\r\n",
                                        asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    const std::string head = buffer.substr(0, head_size);
    const std::size_t whole = head_size + length_in(head);
    if (buffer.size() < whole) {
      const std::size_t have = buffer.size();
      buffer.resize(whole);
      co_await asio::async_read(stream, asio::buffer(buffer.data() + have, whole - have),
                                asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
    }
    error_code not_json;
    Request request{number, head, json::parse(buffer.substr(head_size), not_json)};
    buffer.clear();
    self->seen.push_back(request);
    const Reply reply = self->script(request);
    if (!reply.bytes.empty()) {
      co_await asio::async_write(stream, asio::buffer(reply.bytes),
                                 asio::redirect_error(asio::use_awaitable, error));
    }
    if (reply.reset) std::ignore = socket.set_option(asio::socket_base::linger(true, 0), error);
    if (reply.close || reply.reset) {
      std::ignore = socket.close(error);
      co_return;
    }
  }
}

RpcServer::RpcServer(asio::io_context& context, Script script, asio::ssl::context* tls)
    : state_(std::make_shared<State>(context, std::move(script), tls)) {
  asio::co_spawn(context, State::accept_all(state_), ignore);
}
RpcServer::~RpcServer() {
  stop();
  hang_up();
}

std::uint16_t RpcServer::port() const { return state_->acceptor.local_endpoint().port(); }
std::string RpcServer::url() const {
  return (state_->tls == nullptr ? "http" : "https") + std::string("://127.0.0.1:") +
         std::to_string(port());
}
const std::vector<RpcServer::Request>& RpcServer::seen() const { return state_->seen; }
int RpcServer::connections() const { return state_->accepted; }
int RpcServer::open_connections() const { return state_->open; }
void RpcServer::script(Script next) { state_->script = std::move(next); }
void RpcServer::hang_up() {
  for (const auto& held : std::exchange(state_->sockets, {})) {
    error_code error;
    if (const auto socket = held.lock()) std::ignore = socket->close(error);
  }
}
void RpcServer::stop() {
  error_code error;
  std::ignore = state_->acceptor.close(error);
}

RpcServer::Reply http_reply(int status, const std::string& body, const std::string& fields) {
  return {"HTTP/1.1 " + std::to_string(status) + " Some Reason\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body};
}
RpcServer::Reply http_ok(const std::string& body) { return http_reply(200, body); }

json::value result_of(const json::value& call, json::value result) {
  return json::object{{"jsonrpc", "2.0"}, {"id", call.at("id")}, {"result", std::move(result)}};
}

RpcServer::Reply echo(const RpcServer::Request& request) {
  const auto answer = [](const json::value& call) {
    return result_of(call, json::array{call.at("method"), call.at("params")});
  };
  if (!request.body.is_array()) return http_ok(json::serialize(answer(request.body)));
  json::array all;
  for (const json::value& call : request.body.get_array()) all.push_back(answer(call));
  return http_ok(json::serialize(all));
}

}  // namespace holdfast::tests
