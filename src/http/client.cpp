#include "http/client.hpp"

#include <chrono>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/parse.hpp>

#include "http/read_message.hpp"

namespace holdfast::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::uint64_t longest_answer = 1 << 20;

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.http.client"; }
  std::string message(int value) const override {
    return static_cast<ClientError>(value) == ClientError::bad_url ? "bad_url" : "no_answer";
  }
};

struct Place {
  std::string host;
  std::string port;
};

std::optional<Place> place_of(const std::string& server) {
  const auto url = boost::urls::parse_uri(server);
  if (!url || url->scheme() != "http" || url->host().empty() || url->has_userinfo()) return {};
  if (!url->path().empty() && url->path() != "/") return {};
  return Place{std::string(url->host_address()),
               url->has_port() ? std::string(url->port()) : std::string("80")};
}

asio::awaitable<ClientAnswer> exchange(Place place, std::string token, ClientRequest wanted,
                                       std::int64_t deadline_ms) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  beast::tcp_stream stream(executor);
  stream.expires_after(std::chrono::milliseconds(deadline_ms));
  const auto found = co_await resolver.async_resolve(place.host, place.port, asio::use_awaitable);
  co_await stream.async_connect(found, asio::use_awaitable);

  beast::http::request<beast::http::string_body> request(beast::http::string_to_verb(wanted.method),
                                                         wanted.target, 11);
  request.set(beast::http::field::host, place.host);
  request.set(beast::http::field::authorization, "Bearer " + token);
  request.set(beast::http::field::connection, "close");
  if (!wanted.idempotency_key.empty()) request.set("Idempotency-Key", wanted.idempotency_key);
  if (!wanted.body.empty()) {
    request.set(beast::http::field::content_type, "application/json");
    request.body() = std::move(wanted.body);
  }
  request.prepare_payload();
  co_await beast::http::async_write(stream, request, asio::use_awaitable);

  beast::flat_buffer buffer;
  beast::http::response_parser<beast::http::string_body> parser;
  parser.body_limit(longest_answer);
  const auto error = co_await read_message(stream, buffer, parser);
  if (error) throw boost::system::system_error(error);
  co_return ClientAnswer{parser.get().result_int(), std::move(parser.get().body())};
}

}  // namespace

boost::system::error_code make_error_code(ClientError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

Result<ClientAnswer> ask_server(const std::string& server, std::string_view token,
                                const ClientRequest& request, std::int64_t deadline_ms) {
  const auto place = place_of(server);
  if (!place) {
    return refuse(ClientError::bad_url, "the server must be given as http://host:port");
  }
  asio::io_context context(1);
  std::optional<ClientAnswer> answer;
  std::string why = "it did not answer in time";
  asio::co_spawn(context, exchange(*place, std::string(token), request, deadline_ms),
                 [&](const std::exception_ptr& error, ClientAnswer got) {
                   if (!error) {
                     answer = std::move(got);
                     return;
                   }
                   try {
                     std::rethrow_exception(error);
                   } catch (const boost::system::system_error& what) {
                     why = what.code().message();
                   }
                 });
  context.run_for(std::chrono::milliseconds(deadline_ms));
  if (answer) return std::move(*answer);
  return refuse(ClientError::no_answer,
                "no answer from the server at " + place->host + ":" + place->port + ": " + why);
}

}  // namespace holdfast::http
