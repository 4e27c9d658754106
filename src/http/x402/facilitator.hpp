// Owns: the x402 face of one engine: /supported, /verify and /settle from a body to an answer.
// Must never: decide about a payment, or say of one that the engine has that it is not there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/http/x402_options.hpp>
#include <holdfast/ports/clock.hpp>

#include "http/auth.hpp"
#include "http/long_polls.hpp"
#include "http/message.hpp"
#include "http/metrics.hpp"
#include "http/problem.hpp"
#include "http/x402/answers.hpp"
#include "http/x402/limits.hpp"
#include "http/x402/rules.hpp"

namespace holdfast::http::x402 {

/// One request to /verify or /settle.
struct Ask {
  std::string body;
  Asker asker;
  std::string idempotency_key;  ///< empty: none was sent
  std::int64_t since_ms = 0;    ///< monotonic
  std::function<bool()> is_gone = {};  ///< nobody reads the answer any more; may be empty
};

class Facilitator {
 public:
  /// All outlive it.
  Facilitator(engine::Engine& engine, ports::Clock& clock, LongPolls& polls,
              RequestMetrics& metrics, X402Options options)
      : engine_(engine),
        clock_(clock),
        polls_(polls),
        metrics_(metrics),
        options_(std::move(options)),
        limits_({options_.requests_per_s, options_.burst}, options_.gas_per_day) {}

  const X402Options& options() const { return options_; }
  /// Before a body is read: 429 where this caller asks too often.
  std::optional<Problem> admit(const Asker& asker);
  /// A refusal that is none of the engine's, in the words of these routes.
  Response refuse(Asked asked, const Problem& problem);

  Response supported();
  boost::asio::awaitable<Response> verify(Ask ask);
  /// Throws what the store throws only as long as no payment can be there.
  boost::asio::awaitable<Response> settle(Ask ask);

 private:
  /// One request on its way. `id` is there once the engine has the payment.
  struct Settling {
    Ask ask;
    Echo echo = {};
    Transfer transfer = Transfer::eip3009;
    engine::NewPayment payment = {};
    domain::Authorization authorization = {};
    engine::Caller caller = {};
    std::optional<domain::IntentId> id = {};
    std::string hash = {};  ///< the newest that was seen
    bool is_new = false;
  };

  Response tell(const Echo& echo, const Answer& answer);
  Response tell(const Settling& it, Reason reason, std::string message);
  static Refusal refusal_to(const Settling& it, const Error& error);
  Response refuse_new(const Settling& it, const Error& error);
  static engine::Caller caller_of(const Ask& ask, const Request& request, const Settling& it);
  /// Why no payment that is new is taken now; empty: it is.
  std::optional<Answer> closed_to_new(const Settling& it, const Network& network) const;
  boost::asio::awaitable<Response> run(Settling& it, const Network& network);
  /// The payment under this authorization becomes known, or the answer why not. `closed`: only one
  /// that is known already.
  boost::asio::awaitable<std::optional<Response>> submit(Settling& it,
                                                         std::optional<Answer> closed);
  boost::asio::awaitable<Response> follow(Settling& it, GasHold& gas);
  boost::asio::awaitable<Response> succeed(Settling& it);
  /// What /settle will say of a payment that is known, as far as it is known: none for a success.
  /// Empty: it is over, and the chain says why.
  boost::asio::awaitable<std::optional<Reason>> reason_of_known(const Settling& it,
                                                                const domain::Intent& known);
  /// The most that what was signed for it offers.
  boost::asio::awaitable<U256> gas_cost(const Settling& it);

  engine::Engine& engine_;
  ports::Clock& clock_;
  LongPolls& polls_;
  RequestMetrics& metrics_;
  X402Options options_;
  Limits limits_;
};

}  // namespace holdfast::http::x402
