#include "shop_server.hpp"

#include <cstdio>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace line_server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace x402 = holdfast::x402;
using holdfast::engine::Engine;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t longest_head = x402::longest_payment_header + 8'192;

std::string payment_in(const Request& request) {
  for (const std::string_view name : {x402::payment_header, x402::payment_header_v1}) {
    const auto found = request.find(boost::beast::string_view(name.data(), name.size()));
    if (found != request.end()) return {found->value().data(), found->value().size()};
  }
  return {};
}

Response text_response(http::status status, std::string text) {
  Response response;
  response.result(status);
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = std::move(text);
  return response;
}

Response payment_required(const x402::Demand& demand) {
  Response response;
  response.result(http::status::payment_required);
  response.set(http::field::content_type, "application/json");
  response.set(demand.header.name, demand.header.value);
  response.body() = demand.body;
  return response;
}

Response response_of(const x402::Sale& sale, const x402::Shop& shop, const Page& page) {
  Response response;
  switch (sale.end) {
    case x402::Sale::End::paid: response = text_response(http::status::ok, page.text); break;
    case x402::Sale::End::unpaid:
      response = payment_required(shop.demand(page.offer, sale.reason));
      break;
    case x402::Sale::End::open:
      // No new demand: who pays again while this payment may still move pays twice.
      response = text_response(http::status::service_unavailable, "ask again, the same payment\n");
      response.set(http::field::retry_after, "1");
      break;
  }
  response.set(sale.header.name, sale.header.value);
  response.set(http::field::cache_control, "no-store");
  return response;
}

// On the connection's strand; `call` hops to the engine's executor and back.
asio::awaitable<void> session(asio::ip::tcp::socket socket, Engine& engine, x402::Shop& shop,
                              const Page& page) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request_parser<http::empty_body> parser;
    parser.header_limit(longest_head);
    boost::system::error_code gone;
    co_await http::async_read(socket, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, gone));
    if (gone) co_return;
    const Request request = parser.release();
    const std::string payment = payment_in(request);
    x402::Sale sale;
    Response response = text_response(http::status::not_found, "GET /page\n");
    if (request.method() == http::verb::get && request.target() == "/page") {
      if (payment.empty()) {
        response = payment_required(shop.demand(page.offer));
      } else {
        sale = co_await engine.call([&](Engine&) { return shop.sell(page.offer, payment); },
                                    asio::use_awaitable);
        response = response_of(sale, shop, page);
      }
    }
    response.version(request.version());
    response.keep_alive(request.keep_alive());
    response.prepare_payload();
    co_await http::async_write(socket, response, asio::redirect_error(asio::use_awaitable, gone));
    const bool written = !gone;
    if (sale.success_of) {
      co_await engine.call([&](Engine&) { return shop.delivered(sale, written); },
                           asio::use_awaitable);
    }
    if (!written || !request.keep_alive()) co_return;
  }
}

void session_ended(const std::exception_ptr& error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& what) {
    std::fprintf(stderr, "connection ended: %s\n", what.what());
  }
}

}  // namespace

asio::awaitable<void> sell(asio::ip::tcp::acceptor& acceptor, Engine& engine, x402::Shop& shop,
                           const Page& page) {
  for (;;) {
    boost::system::error_code closed;
    asio::ip::tcp::socket socket =
        co_await acceptor.async_accept(asio::make_strand(acceptor.get_executor()),
                                       asio::redirect_error(asio::use_awaitable, closed));
    if (closed) co_return;
    const auto strand = socket.get_executor();
    asio::co_spawn(strand, session(std::move(socket), engine, shop, page), session_ended);
  }
}

}  // namespace line_server
