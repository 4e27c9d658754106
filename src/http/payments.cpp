// The routes under /v1/payment_intents and /v1/payment_refs.
#include <limits>

#include "http/api.hpp"
#include "http/json_body.hpp"
#include "http/render.hpp"
#include "http/target.hpp"

namespace holdfast::http {

namespace {

constexpr std::int64_t longest_wait_s = 60;
constexpr std::int64_t usual_wait_s = 30;
constexpr std::int64_t longest_validity_s = 31'536'000;  // a year; the engine's limit is lower
constexpr std::int64_t most_listed = 500;
constexpr std::int64_t usually_listed = 50;

Response no_such_intent() { return response_of({404, "not_found", "no such payment intent"}); }

std::optional<engine::WaitFor> wait_from(std::string_view text) {
  if (text == "confirming") return engine::WaitFor::confirming;
  if (text == "included") return engine::WaitFor::included;
  if (text == "settled") return engine::WaitFor::settled;
  return std::nullopt;
}

engine::NewPayment read_payment(Fields& fields) {
  engine::NewPayment payment;
  payment.chain = fields.word("chain");
  payment.method = fields.word("method");
  payment.asset = fields.word("asset");
  payment.payer = fields.word_or_empty("payer");
  payment.payee = fields.word("payee");
  payment.amount = fields.amount("amount");
  payment.validity_s = fields.seconds("validity_s", longest_validity_s);
  return payment;
}

}  // namespace

engine::Caller Api::caller_of(const Exchange& exchange, const boost::json::object& body) const {
  return {domain::CallerId{exchange.asker.name}, exchange.idempotency_key,
          fingerprint(exchange.request, canonical_text(body))};
}

std::optional<InProgress::Claim> Api::claim(const Exchange& exchange) {
  return in_progress_.claim(exchange.asker.name, exchange.request, exchange.idempotency_key);
}

Awaitable<Response> Api::create_intent(Exchange& exchange) {
  const JsonBody body = read_json(exchange.request.body, false);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object,
                {"chain", "method", "asset", "payer", "payee", "amount", "validity_s"});
  engine::NewPayment payment = read_payment(fields);
  if (fields.problem()) co_return response_of(*fields.problem());
  const std::string_view scope = payment.method == "payout" ? "payout" : "pay";
  if (const auto problem = check_scopes(exchange.asker, scope)) co_return response_of(*problem);

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const auto answer = co_await engine_.create(caller_of(exchange, body.object), std::move(payment));
  if (!answer) co_return refused(exchange, answer.error());
  Response response = ok(render_created(answer->intent, engine_.typed_data(answer->intent)));
  response.status = 201;
  response.headers.push_back(
      {"Location", "/v1/payment_intents/" + domain::text(answer->intent.id)});
  co_return with_replay(std::move(response), answer->replayed);
}

Awaitable<Response> Api::authorize_intent(Exchange& exchange) {
  const auto id = domain::intent_id_from(exchange.parameter);
  if (!id) co_return no_such_intent();
  const JsonBody body = read_json(exchange.request.body, false);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"signature"});
  Bytes signature = fields.hex("signature");
  if (fields.problem()) co_return response_of(*fields.problem());

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const auto answer =
      co_await engine_.authorize(caller_of(exchange, body.object), *id, std::move(signature));
  if (!answer) co_return refused(exchange, answer.error());
  co_return with_replay(ok(render_intent(answer->intent)), answer->replayed);
}

Awaitable<Response> Api::cancel_intent(Exchange& exchange) {
  const auto id = domain::intent_id_from(exchange.parameter);
  if (!id) co_return no_such_intent();
  const JsonBody body = read_json(exchange.request.body, true);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"reason"});
  std::string reason = fields.sentence("reason", false);
  if (fields.problem()) co_return response_of(*fields.problem());

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const auto answer =
      co_await engine_.cancel(caller_of(exchange, body.object), *id, std::move(reason));
  if (!answer) co_return refused(exchange, answer.error());
  co_return with_replay(ok(render_intent(answer->intent)), answer->replayed);
}

Awaitable<Response> Api::abandon_intent(Exchange& exchange) {
  const auto id = domain::intent_id_from(exchange.parameter);
  if (!id) co_return no_such_intent();
  const JsonBody body = read_json(exchange.request.body, true);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"reason"});
  std::string reason = fields.sentence("reason", true);
  if (fields.problem()) co_return response_of(*fields.problem());

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const auto answer =
      co_await engine_.abandon(caller_of(exchange, body.object), *id, std::move(reason));
  if (!answer) co_return refused(exchange, answer.error());
  co_return with_replay(ok(render_intent(answer->intent)), answer->replayed);
}

Awaitable<Response> Api::find_intent(Exchange& exchange) {
  Query query(exchange.request);
  const auto level_text = query.text("wait");
  const auto level = level_text ? wait_from(*level_text) : std::nullopt;
  if (level_text && !level) query.refuse("wait: must be confirming, included or settled");
  if (!level_text && query.text("timeout_s"))
    query.refuse("timeout_s: has no meaning without wait");
  const std::int64_t seconds = query.number("timeout_s", usual_wait_s, 0, longest_wait_s);
  if (query.problem()) co_return response_of(*query.problem());
  const auto id = domain::intent_id_from(exchange.parameter);
  if (!id) co_return no_such_intent();
  if (level) {
    const auto waited = co_await polls_.wait(exchange.asker.sees(), *id, *level, seconds * 1000);
    if (!waited) co_return refused(exchange, waited.error());
  }
  const auto detail = co_await engine_.detail(exchange.asker.sees(), *id);
  if (!detail) co_return refused(exchange, detail.error());
  co_return ok(render_detail(*detail, exchange.asker.is_operator()));
}

Awaitable<Response> Api::find_ref(Exchange& exchange) {
  const auto ref = domain::Ref::from_text(exchange.parameter);
  if (!ref) co_return no_such_intent();
  const auto intent = co_await engine_.find_ref(exchange.asker.sees(), *ref);
  if (!intent) co_return refused(exchange, intent.error());
  co_return ok(render_intent(*intent));
}

Awaitable<Response> Api::list_intents(Exchange& exchange) {
  Query query(exchange.request);
  engine::ListQuery wanted;
  wanted.caller = exchange.asker.sees();
  if (const auto state = query.text("state")) {
    wanted.state = domain::intent_state_from(*state);
    if (!wanted.state) query.refuse("state: " + shown(*state) + " is no state of a payment intent");
  }
  wanted.limit = static_cast<std::size_t>(query.number("limit", usually_listed, 1, most_listed));
  wanted.cursor = query.number("cursor", 0, 0, std::numeric_limits<std::int64_t>::max());
  if (query.problem()) co_return response_of(*query.problem());
  co_return ok(render_page(co_await engine_.list(std::move(wanted))));
}

}  // namespace holdfast::http
