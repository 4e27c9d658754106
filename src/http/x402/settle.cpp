// /settle: one payment from its terms to one of success, refusal, or pending with a hash.
#include <algorithm>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <holdfast/base/log.hpp>

#include "http/x402/facilitator.hpp"
#include "http/x402/standing.hpp"

namespace holdfast::http::x402 {

namespace asio = boost::asio;

namespace {

/// For a payment that nothing was signed for to be taken back, beyond the budget.
constexpr std::int64_t give_up_ms = 3'000;

}  // namespace

Response Facilitator::tell(const Settling& it, Reason reason, std::string message) {
  Answer answer;
  answer.reason = reason;
  answer.message = std::move(message);
  answer.transaction = it.hash;
  metrics_.x402_settle_took(to_text(reason), clock_.mono_ms() - it.ask.since_ms);
  return tell(it.echo, answer);
}

// A key counts for callers that are known; a payment's own identifier for everybody.
engine::Caller Facilitator::caller_of(const Ask& ask, const Request& request, const Settling& it) {
  engine::Caller caller;
  caller.id = {ask.asker.name};
  caller.fingerprint = fingerprint_of(it.payment, it.authorization);
  if (!ask.idempotency_key.empty() && ask.asker.name != anyone().name) {
    caller.idempotency_key = "x402/key/" + ask.idempotency_key;
  } else if (!request.payment_id.empty()) {
    caller.idempotency_key = "x402/id/" + request.payment_id;
  }
  return caller;
}

asio::awaitable<Response> Facilitator::settle(Ask ask) {
  Settling it{std::move(ask)};
  Read read = read_body(it.ask.body);
  it.ask.body = {};
  it.echo = read.echo;
  Answer refusal;
  refusal.reason = read.reason;
  refusal.message = read.message;
  refusal.status = 400;
  if (read.reason != Reason::none) co_return tell(it.echo, refusal);
  const auto networks = networks_of(engine_.chains());
  Verdict verdict = judge(read.request, options_, networks);
  if (verdict.reason != Reason::none) co_return tell(it, verdict.reason, verdict.message);
  it.transfer = read.request.payload.transfer;
  it.payment = std::move(verdict.payment);
  it.authorization = read.request.payload.authorization;
  it.caller = caller_of(it.ask, read.request, it);

  std::exception_ptr thrown;
  try {
    co_return co_await run(it, *verdict.network);
  } catch (const store::StoreUnavailable&) {
    thrown = std::current_exception();
  } catch (const store::StoreBusy&) {
    thrown = std::current_exception();
  } catch (const store::StoreInDoubt&) {
    // Whether it is there shows when the store is opened again.
    co_return tell(it, Reason::settlement_pending, "the outcome is not known yet; ask again");
  }
  if (!it.id) std::rethrow_exception(thrown);
  co_return tell(it, Reason::settlement_pending, "the outcome is not known yet; ask again");
}

asio::awaitable<Response> Facilitator::run(Settling& it, const Network& network) {
  auto closed = closed_to_new(it, network);
  GasHold gas(limits_.gas, it.caller.id.value, it.payment.chain, clock_.wall_ms());
  if (auto refusal = co_await submit(it, std::move(closed))) co_return std::move(*refusal);
  co_return co_await follow(it, gas);
}

std::optional<Answer> Facilitator::closed_to_new(const Settling& it, const Network& network) const {
  Answer answer;
  if (!network.can_settle) {
    answer.reason = Reason::invalid_network;
    answer.message = "network: this facilitator cannot settle on it now";
    return answer;
  }
  if (!limits_.gas.has_room(it.caller.id.value, it.payment.chain, clock_.wall_ms())) {
    answer.reason = Reason::gas_budget_spent;
    answer.message = "this caller's gas for today is spent on this network";
    return answer;
  }
  return std::nullopt;
}

asio::awaitable<std::optional<Response>> Facilitator::submit(Settling& it,
                                                             std::optional<Answer> closed) {
  if (closed) {
    // What was begun is followed, whatever became of the chain or the budget since.
    const auto known = co_await engine_.find_submitted(it.payment, it.authorization);
    if (!known) co_return tell(it.echo, *closed);
  }
  auto answer =
      co_await engine_.submit(it.caller, it.payment, it.authorization, engine::Ended::begins_anew);
  if (answer) {
    it.id = answer->intent.id;
    it.is_new = !answer->replayed;
    co_return std::nullopt;
  }
  if (refusal_of(answer.error(), it.transfer, Asked::settle).status == 503) {
    const auto known = co_await engine_.find_submitted(it.payment, it.authorization);
    if (known && known->caller == it.caller.id) {
      it.id = known->id;
      co_return std::nullopt;
    }
  }
  if (refusal_to(it, answer.error()).reason == used(it.transfer)) {
    const auto hash = co_await engine_.redeemed_in(it.payment, it.authorization.nonce);
    if (hash) it.hash = hash->hex();
  }
  co_return refuse_new(it, answer.error());
}

Refusal Facilitator::refusal_to(const Settling& it, const Error& error) {
  const Refusal refusal = refusal_of(error, it.transfer, Asked::settle);
  const bool is_conflict = refusal.reason == Reason::idempotency_conflict;
  // Who brings no key is known by what is redeemed: it was brought before, on other terms.
  if (is_conflict && it.caller.idempotency_key.empty()) return {used(it.transfer)};
  return refusal;
}

Response Facilitator::refuse_new(const Settling& it, const Error& error) {
  const Refusal refusal = refusal_to(it, error);
  if (refusal.status == 500) {
    log::alarm("http_bug",
               {{"route", "settle"}, {"code", error.code.what()}, {"what", error.detail}});
  }
  Answer answer;
  answer.reason = refusal.reason;
  answer.status = refusal.status;
  if (answer.reason == used(it.transfer)) answer.transaction = it.hash;
  answer.message = refusal.status == 503 ? "nothing was begun; try again" : message_of(error);
  metrics_.x402_settle_took(to_text(answer.reason), clock_.mono_ms() - it.ask.since_ms);
  return tell(it.echo, answer);
}

asio::awaitable<Response> Facilitator::follow(Settling& it, GasHold& gas) {
  // Also where this is cut short: the payment goes on, and so does its price.
  if (it.is_new) gas.cost = limits_.gas.expected(it.payment.chain);
  const std::int64_t passed_ms = clock_.mono_ms() - it.ask.since_ms;
  const std::int64_t left_ms = std::max<std::int64_t>(options_.budget_ms - passed_ms, 0);
  co_await polls_.wait(it.caller.id, *it.id, engine::WaitFor::included, left_ms);
  auto standing = co_await engine_.standing(it.caller.id, *it.id);
  if (standing && next_for(*standing) == Next::give_up) {
    standing = co_await engine_.give_up(it.caller, *it.id, std::string(given_up), give_up_ms);
  }
  if (!standing) {
    co_return tell(it, Reason::settlement_pending, "the payment goes on; ask again");
  }
  if (standing->hash) it.hash = standing->hash->hex();
  if (it.is_new && limits_.gas.limits()) gas.cost = co_await gas_cost(it);
  switch (next_for(*standing)) {
    case Next::succeed: co_return co_await succeed(it);
    case Next::refuse: {
      const Reason reason = reason_of_end(standing->intent, it.transfer);
      const bool again = reason == Reason::unexpected_settle_error;
      co_return tell(it, reason,
                     again ? "nothing was sent in time; the same payment may be tried again" : "");
    }
    case Next::stuck:
      co_return tell(it, Reason::transaction_state, "a person must look at this payment");
    case Next::pending:
    case Next::give_up: break;
  }
  co_return tell(it, Reason::settlement_pending, "the payment goes on; ask again");
}

// From the note that a success is offered to the word whether it went out, nothing is cut short.
asio::awaitable<Response> Facilitator::succeed(Settling& it) {
  // Nobody would hear it: it is kept for who waits beside, or asks next.
  if (it.ask.is_gone && it.ask.is_gone()) {
    co_return tell(it, Reason::settlement_pending, "the payment goes on; ask again");
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto delivery = co_await engine_.offer_success(it.caller, *it.id);
  if (!delivery && delivery.error().code == engine::EngineError::key_reused) {
    co_return refuse_new(it, delivery.error());
  }
  if (!delivery) {
    co_return tell(it, Reason::settlement_pending, "the payment goes on; ask again");
  }
  if (*delivery == engine::SuccessOffer::taken) {
    co_return tell(it, used(it.transfer), "the success of this payment was told already");
  }
  Answer answer;
  answer.transaction = it.hash;
  answer.amount = it.payment.amount.decimal();
  metrics_.x402_settle_took("", clock_.mono_ms() - it.ask.since_ms);
  Response response = tell(it.echo, answer);
  response.success_of = it.id;
  co_return response;
}

asio::awaitable<U256> Facilitator::gas_cost(const Settling& it) {
  const auto detail = co_await engine_.detail(it.caller.id, *it.id);
  U256 dearest;
  if (!detail) co_return dearest;
  for (const domain::Attempt& attempt : detail->attempts) {
    const auto cost = attempt.fees.max_fee.times(U256{attempt.fees.gas_limit});
    dearest = std::max(dearest, cost.value_or(U256::max()));
  }
  co_return dearest;
}

}  // namespace holdfast::http::x402
