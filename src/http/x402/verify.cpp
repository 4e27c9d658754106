// /supported, /verify, and what both routes with a body share.
#include <holdfast/base/log.hpp>

#include "http/x402/facilitator.hpp"

namespace holdfast::http::x402 {

namespace asio = boost::asio;

std::optional<Problem> Facilitator::admit(const Asker& asker) {
  const auto wait_ms = limits_.take_request(asker.name, clock_.mono_ms());
  if (!wait_ms) return std::nullopt;
  constexpr std::int64_t second_ms = 1'000;
  return Problem{429, "rate_limited", "too many requests of this caller; try again later",
                 static_cast<int>((*wait_ms + second_ms - 1) / second_ms)};
}

Response Facilitator::refuse(Asked asked, const Problem& problem) {
  metrics_.count_x402(asked == Asked::verify ? "verify" : "settle",
                      to_text(reason_of(asked, problem)));
  return response_of(asked, problem);
}

Response Facilitator::tell(const Echo& echo, const Answer& answer) {
  metrics_.count_x402(answer.asked == Asked::verify ? "verify" : "settle", to_text(answer.reason));
  Response response = response_of(echo, answer);
  if (answer.status == 503) response.headers.push_back({"Retry-After", "1"});
  return response;
}

Response Facilitator::supported() {
  return x402::supported(networks_of(engine_.chains()), options_);
}

// Sellers verify before each settle, and /settle follows what it knows. Whoever was cut off and
// comes with the same payment again would have paid for nothing if its own transaction were held
// against them.
asio::awaitable<std::optional<Reason>> Facilitator::reason_of_known(const Settling& it,
                                                                    const domain::Intent& known) {
  if (known.caller != it.caller.id) co_return used(it.transfer);
  if (domain::is_terminal(known.state) && known.state != domain::IntentState::settled) {
    co_return std::nullopt;
  }
  const auto open = co_await engine_.may_be_told(it.caller, known.id);
  co_return open && *open ? Reason::none : used(it.transfer);
}

asio::awaitable<Response> Facilitator::verify(Ask ask) {
  const Read read = read_body(ask.body);
  Answer answer;
  answer.asked = Asked::verify;
  answer.reason = read.reason;
  answer.message = read.message;
  if (read.reason != Reason::none) {
    answer.status = 400;
    co_return tell(read.echo, answer);
  }
  const auto networks = networks_of(engine_.chains());
  Verdict verdict = judge(read.request, options_, networks);
  answer.reason = verdict.reason;
  answer.message = verdict.message;
  if (verdict.reason != Reason::none) co_return tell(read.echo, answer);
  Settling it{std::move(ask)};
  it.transfer = read.request.payload.transfer;
  it.payment = std::move(verdict.payment);
  it.authorization = read.request.payload.authorization;
  it.caller = caller_of(it.ask, read.request, it);
  const auto known = co_await engine_.find_submitted(it.payment, it.authorization);
  if (known) {
    if (const auto reason = co_await reason_of_known(it, *known)) {
      answer.reason = *reason;
      co_return tell(read.echo, answer);
    }
  } else if (auto closed = closed_to_new(it, *verdict.network)) {
    closed->asked = Asked::verify;
    co_return tell(read.echo, *closed);
  }
  const auto good = co_await engine_.verify(it.payment, it.authorization);
  if (good) co_return tell(read.echo, answer);
  const Refusal refusal = refusal_of(good.error(), it.transfer, Asked::verify);
  if (refusal.status == 500) {
    log::alarm(
        "http_bug",
        {{"route", "verify"}, {"code", good.error().code.what()}, {"what", good.error().detail}});
  }
  answer.reason = refusal.reason;
  answer.status = refusal.status;
  answer.message = message_of(good.error());
  co_return tell(read.echo, answer);
}

}  // namespace holdfast::http::x402
