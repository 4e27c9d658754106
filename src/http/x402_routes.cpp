// The routes of the x402 facilitator: what of a request they take, and whose words they answer in.
#include "http/api.hpp"
#include "http/target.hpp"
#include "http/x402/told.hpp"

namespace holdfast::http {
namespace {

x402::Asked asked_of(const Route& route) {
  return route.action == Action::x402_verify ? x402::Asked::verify : x402::Asked::settle;
}

bool has_words_of_its_own(const Route* route) {
  return route != nullptr && is_x402(*route) && route->action != Action::x402_supported;
}

}  // namespace

std::optional<Problem> Api::admit_x402(const Exchange& exchange) {
  if (!has_words_of_its_own(exchange.route)) return std::nullopt;
  return x402_.admit(exchange.asker);
}

Awaitable<Response> Api::answer_x402(Exchange& exchange) {
  if (exchange.route->action == Action::x402_supported) co_return x402_.supported();
  x402::Ask ask{std::move(exchange.request.body), exchange.asker, exchange.idempotency_key,
                exchange.since_ms, exchange.is_gone};
  if (exchange.route->action == Action::x402_verify)
    co_return co_await x402_.verify(std::move(ask));
  co_return co_await x402_.settle(std::move(ask));
}

// What is refused by its head alone, as a body that is too large, was not routed yet.
Response Api::shaped(const Exchange& exchange, const Problem& problem) {
  const Route* route = exchange.route;
  if (route == nullptr && x402_base_) {
    Request request;
    request.target = exchange.request.target;
    if (!read_target(request)) {
      route = find_route(exchange.request.method, request.path, x402_base_).route;
    }
  }
  if (!has_words_of_its_own(route)) return response_of(problem);
  return x402_.refuse(asked_of(*route), problem);
}

Awaitable<void> Api::told(const Response& response, bool written) {
  if (response.success_of) co_await x402::told(engine_, *response.success_of, written);
}

}  // namespace holdfast::http
