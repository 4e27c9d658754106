#include "http/api.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/this_coro.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/log.hpp>

#include "http/render.hpp"
#include "http/target.hpp"

namespace holdfast::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t longest_request_id = 64;
constexpr std::string_view every_method = "GET, HEAD, POST, DELETE, OPTIONS";

bool is_sane_id(std::string_view id) {
  return !id.empty() && id.size() <= longest_request_id && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

/// "/a/b" → a, b.
std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    if (!segment.empty()) out.emplace_back(segment);
    path.remove_prefix(segment.size());
  }
  return out;
}

Response allow(std::string_view methods) {
  Response response;
  response.status = 204;
  response.headers.push_back({"Allow", std::string(methods)});
  return response;
}

/// The answer for a path without this method, or without any.
Response no_route(const Request& request, const Found& found) {
  if (found.allowed.empty()) {
    return response_of({404, "not_found", "there is nothing at this path"});
  }
  if (request.method == "OPTIONS") return allow(found.allowed);
  Response response =
      response_of({405, "method_not_allowed",
                   shown(request.method) + " is not for this path; " + found.allowed + " are"});
  response.headers.push_back({"Allow", found.allowed});
  return response;
}

}  // namespace

Api::Api(asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
         ports::Entropy& entropy, Options options)
    : executor_(std::move(executor)),
      engine_(engine),
      clock_(clock),
      entropy_(entropy),
      options_(std::move(options)),
      keys_(clock, options_.key_refresh_ms),
      polls_(executor_, engine_),
      x402_(engine_, clock_, polls_, metrics_, options_.x402) {
  if (options_.x402.enabled) x402_base_ = segments_of(options_.x402.base);
  std::array<Byte, 6> prefix{};
  entropy_.fill(prefix);
  id_prefix_ = to_hex(prefix) + "-";
  entropy_.fill(secret_);
}

Awaitable<void> Api::start() { co_await keys_.read(engine_); }

void Api::stop() { polls_.stop(); }

Exchange Api::begin(Request request) {
  Exchange exchange{std::move(request)};
  exchange.since_ms = clock_.mono_ms();
  const bool once = exchange.request.count("X-Request-Id") == 1;
  const auto given = exchange.request.header("X-Request-Id");
  exchange.request_id =
      once && is_sane_id(*given) ? std::string(*given) : id_prefix_ + std::to_string(++ids_);
  return exchange;
}

Awaitable<std::optional<Response>> Api::admit(Exchange& exchange) {
  Request& request = exchange.request;
  if (auto problem = check_headers(request)) co_return refuse(exchange, *problem);
  if (request.method == "OPTIONS" && request.target == "*") {
    co_return finish(exchange, allow(every_method));
  }
  if (auto problem = read_target(request)) co_return refuse(exchange, *problem);
  Found found = find_route(request.method, request.path, x402_base_);
  if (found.route == nullptr) co_return finish(exchange, no_route(request, found));
  exchange.route = found.route;
  exchange.parameters = std::move(found.parameters);
  if (!exchange.parameters.empty()) exchange.parameter = exchange.parameters.front();
  if (auto problem = co_await check_caller(exchange)) co_return refuse(exchange, *problem);
  if (auto problem = admit_x402(exchange)) co_return refuse(exchange, *problem);
  if (auto problem = check_query(request, *exchange.route)) co_return refuse(exchange, *problem);
  if (auto problem = check_body_headers(request, *exchange.route)) {
    co_return refuse(exchange, *problem);
  }
  const bool is_keyed = exchange.route->action == Action::x402_settle &&
                        request.header("Idempotency-Key").has_value();
  if (is_keyed || needs_idempotency_key(*exchange.route)) {
    KeyRead read = read_idempotency_key(request);
    if (read.problem) co_return refuse(exchange, *read.problem);
    exchange.idempotency_key = std::move(read.key);
  }
  co_return std::nullopt;
}

Awaitable<std::optional<Problem>> Api::check_caller(Exchange& exchange) {
  if (exchange.route->scopes.empty()) co_return std::nullopt;
  const auto read = bearer_token(exchange.request);
  if (const Problem* problem = std::get_if<Problem>(&read)) co_return *problem;
  const auto token = std::get<std::optional<std::string_view>>(read);
  if (!token) {
    const bool is_open = is_x402(*exchange.route) && !options_.x402.require_key;
    if (options_.require_keys && !is_open) {
      co_return unauthorized("Authorization: the header is missing; send 'Bearer ' and a token");
    }
    exchange.asker = anyone();
    co_return std::nullopt;
  }
  co_await keys_.refresh(engine_);
  auto asker = keys_.find(*token);
  if (!asker) co_return unauthorized("Authorization: unknown or revoked token");
  exchange.asker = std::move(*asker);
  co_return check_scopes(exchange.asker, exchange.route->scopes);
}

Awaitable<Response> Api::answer(Exchange& exchange) {
  std::exception_ptr thrown;
  try {
    co_return finish(exchange, co_await dispatch(exchange));
  } catch (...) {
    thrown = std::current_exception();
  }
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) std::rethrow_exception(thrown);
  co_return finish(exchange, broken(exchange, thrown));
}

Awaitable<Response> Api::dispatch(Exchange& exchange) {
  switch (exchange.route->action) {
    case Action::create_intent: co_return co_await create_intent(exchange);
    case Action::list_intents: co_return co_await list_intents(exchange);
    case Action::find_intent: co_return co_await find_intent(exchange);
    case Action::authorize_intent: co_return co_await authorize_intent(exchange);
    case Action::cancel_intent: co_return co_await cancel_intent(exchange);
    case Action::abandon_intent: co_return co_await abandon_intent(exchange);
    case Action::find_ref: co_return co_await find_ref(exchange);
    case Action::list_balances: co_return co_await list_balances(exchange);
    case Action::list_events: co_return co_await list_events(exchange);
    case Action::list_chains: co_return list_chains(exchange);
    case Action::add_key: co_return co_await add_key(exchange);
    case Action::list_keys: co_return co_await list_keys();
    case Action::revoke_key: co_return co_await revoke_key(exchange);
    case Action::list_dead_letters: co_return co_await list_dead_letters(exchange);
    case Action::find_dead_letter: co_return co_await find_dead_letter(exchange);
    case Action::redrive_dead_letter: co_return co_await end_dead_letter(exchange, true);
    case Action::drop_dead_letter: co_return co_await end_dead_letter(exchange, false);
    case Action::list_reviews: co_return co_await list_reviews(exchange);
    case Action::find_review: co_return co_await find_review(exchange);
    case Action::resolve_intent: co_return co_await resolve_intent(exchange);
    case Action::list_accounts: co_return co_await list_accounts();
    case Action::reconcile_account: co_return co_await reconcile_account(exchange);
    case Action::adopt_account: co_return co_await adopt_account(exchange);
    case Action::acknowledge_chain: co_return co_await acknowledge_chain(exchange);
    case Action::health: co_return ok(render_health());
    case Action::readiness: co_return readiness();
    case Action::metrics: co_return co_await metrics_page();
    case Action::x402_supported:
    case Action::x402_verify:
    case Action::x402_settle: co_return co_await answer_x402(exchange);
  }
  ensure(false, "a route without an action");
  co_return Response{};
}

Response Api::refuse(const Exchange& exchange, const Problem& problem) {
  return finish(exchange, shaped(exchange, problem));
}

Response Api::finish(const Exchange& exchange, Response response) {
  response.headers.push_back({"X-Request-Id", exchange.request_id});
  const std::string_view route = exchange.route == nullptr ? "" : exchange.route->path;
  const std::string_view method =
      exchange.request.method.empty() ? "none" : std::string_view(exchange.request.method);
  metrics_.count(method, route, response.status, clock_.mono_ms() - exchange.since_ms);
  return response;
}

Response Api::broken(const Exchange& exchange, const std::exception_ptr& thrown) {
  const Broken broken = problem_of(thrown);
  const std::string_view route = exchange.route == nullptr ? "" : exchange.route->path;
  if (broken.known) {
    log::warn("http_store",
              {{"request", exchange.request_id}, {"route", route}, {"what", broken.what}});
    return shaped(exchange, broken.problem);
  }
  log::alarm("http_bug",
             {{"request", exchange.request_id}, {"route", route}, {"what", broken.what}});
  return shaped(exchange, internal_error(exchange.request_id));
}

Response Api::refused(const Exchange& exchange, const Error& error) {
  const Problem problem = problem_of(error);
  if (problem.status != 500) return response_of(problem);
  log::alarm("http_bug", {{"request", exchange.request_id},
                          {"route", exchange.route->path},
                          {"code", error.code.what()},
                          {"what", error.detail}});
  return response_of(internal_error(exchange.request_id));
}

}  // namespace holdfast::http
