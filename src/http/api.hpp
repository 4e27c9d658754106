// Owns: what happens to a request between its bytes and its answer: route, key, rules, engine.
// Holds the one reference to the engine. Must never: see a socket, or answer what the engine did
// not say.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/http/server.hpp>

#include "http/auth.hpp"
#include "http/idempotency.hpp"
#include "http/long_polls.hpp"
#include "http/message.hpp"
#include "http/metrics.hpp"
#include "http/problem.hpp"
#include "http/routes.hpp"
#include "http/x402/facilitator.hpp"

namespace holdfast::http {

template <class T>
using Awaitable = boost::asio::awaitable<T>;

/// One request on its way to its answer.
struct Exchange {
  Request request;
  std::string request_id = {};
  std::int64_t since_ms = 0;     ///< monotonic
  const Route* route = nullptr;  ///< set by `admit`, as is all below
  std::string parameter = {};  ///< the first of these
  std::vector<std::string> parameters = {};
  Asker asker = {};
  std::string idempotency_key = {};
  std::function<bool()> is_gone = {};  ///< nobody reads the answer any more; may be empty
};

class Api {
 public:
  Api(boost::asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
      ports::Entropy& entropy, Options options);

  /// Reads the keys; throws what the store throws.
  Awaitable<void> start();

  Exchange begin(Request request);
  /// Everything that can be refused before the body is read; empty: read it and ask for the answer.
  /// Unknown callers cannot make us keep a body.
  Awaitable<std::optional<Response>> admit(Exchange& exchange);
  /// The answer to an admitted request whose body has been read. Throws operation_aborted when the
  /// caller is cancelled, and nothing else.
  Awaitable<Response> answer(Exchange& exchange);
  /// What was written of an answer that is told once; see Response::success_of.
  Awaitable<void> told(const Response& response, bool written);
  /// The answer to what never became a request.
  Response refuse(const Exchange& exchange, const Problem& problem);

  /// Long polls end now, with what they have; /readyz says no.
  void stop();
  std::int64_t wall_ms() const { return clock_.wall_ms(); }
  RequestMetrics& metrics() { return metrics_; }

 private:
  // api.cpp
  Awaitable<std::optional<Problem>> check_caller(Exchange& exchange);
  Awaitable<Response> dispatch(Exchange& exchange);
  Response finish(const Exchange& exchange, Response response);
  Response broken(const Exchange& exchange, const std::exception_ptr& thrown);
  Response refused(const Exchange& exchange, const Error& error);

  // payments.cpp
  Awaitable<Response> create_intent(Exchange& exchange);
  Awaitable<Response> authorize_intent(Exchange& exchange);
  Awaitable<Response> cancel_intent(Exchange& exchange);
  Awaitable<Response> abandon_intent(Exchange& exchange);
  Awaitable<Response> find_intent(Exchange& exchange);
  Awaitable<Response> find_ref(Exchange& exchange);
  Awaitable<Response> list_intents(Exchange& exchange);
  engine::Caller caller_of(const Exchange& exchange, const boost::json::object& body) const;
  /// The claim on caller, route and key while a POST is answered, or the answer why not.
  std::optional<InProgress::Claim> claim(const Exchange& exchange);

  // operations.cpp
  Awaitable<Response> list_balances(Exchange& exchange);
  Awaitable<Response> list_events(Exchange& exchange);
  Awaitable<Response> add_key(Exchange& exchange);
  Awaitable<Response> list_keys();
  Awaitable<Response> revoke_key(Exchange& exchange);
  Response list_chains(const Exchange& exchange);
  std::string token_for(const Exchange& exchange, const engine::KeySalt& salt) const;

  // x402_routes.cpp
  std::optional<Problem> admit_x402(const Exchange& exchange);
  Awaitable<Response> answer_x402(Exchange& exchange);
  /// In the words of the route that refuses.
  Response shaped(const Exchange& exchange, const Problem& problem);

  // desk.cpp
  Awaitable<Response> list_dead_letters(Exchange& exchange);
  Awaitable<Response> find_dead_letter(Exchange& exchange);
  Awaitable<Response> end_dead_letter(Exchange& exchange, bool redrive);
  Awaitable<Response> list_reviews(Exchange& exchange);
  Awaitable<Response> find_review(Exchange& exchange);
  Awaitable<Response> resolve_intent(Exchange& exchange);
  Awaitable<Response> list_accounts();
  Awaitable<Response> reconcile_account(Exchange& exchange);
  Awaitable<Response> adopt_account(Exchange& exchange);
  Awaitable<Response> acknowledge_chain(Exchange& exchange);
  /// The sending account a path names, as it is written canonically; empty: there is none.
  Awaitable<std::optional<engine::AccountStatus>> account_of(const Exchange& exchange);

  Response readiness();
  Awaitable<Response> metrics_page();

  boost::asio::any_io_executor executor_;
  engine::Engine& engine_;
  ports::Clock& clock_;
  ports::Entropy& entropy_;
  Options options_;
  KeyRing keys_;
  InProgress in_progress_;
  RequestMetrics metrics_;
  LongPolls polls_;
  x402::Facilitator x402_;
  std::optional<std::vector<std::string>> x402_base_;  ///< its segments; empty: not served
  std::string id_prefix_;
  /// What tokens are made from where no key is required and so nobody brings a secret.
  std::array<Byte, 32> secret_{};
  std::uint64_t ids_ = 0;
};

/// What is wrong with the headers alone, whatever the route.
std::optional<Problem> check_headers(const Request& request);
/// What is wrong with the body's headers on this route.
std::optional<Problem> check_body_headers(const Request& request, const Route& route);

inline Response with_replay(Response response, bool replayed) {
  if (replayed) response.headers.push_back({"Idempotent-Replayed", "true"});
  return response;
}

inline Response ok(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

}  // namespace holdfast::http
