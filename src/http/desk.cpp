// The routes of the operators' desk: dead letters, reviews, resolutions, accounts.
#include <charconv>
#include <limits>

#include "http/api.hpp"
#include "http/json_body.hpp"
#include "http/render.hpp"
#include "http/target.hpp"

namespace holdfast::http {
namespace {

constexpr std::int64_t most_listed = 500;
constexpr std::int64_t usually_listed = 50;
constexpr std::size_t most_consumers = 16;

Response not_found(std::string detail) {
  return response_of({404, "not_found", std::move(detail)});
}

/// Plain digits from 1; zero otherwise, which is no dead letter's number.
std::int64_t number_from(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && number > 0 ? number : 0;
}

std::size_t read_limit(Query& query) {
  return static_cast<std::size_t>(query.number("limit", usually_listed, 1, most_listed));
}

std::int64_t read_cursor(Query& query) {
  return query.number("cursor", 0, 0, std::numeric_limits<std::int64_t>::max());
}

engine::Resolve read_resolve(Fields& fields) {
  engine::Resolve wanted;
  const std::string as = fields.word("as");
  const auto known = domain::resolution_from(as);
  if (known) {
    wanted.as = *known;
  } else {
    fields.refuse("bad_field", "as: must be one of " + domain::resolutions_as_text());
  }
  wanted.tx_hash = fields.hash_or_none("tx_hash");
  wanted.consumers = fields.hashes("consumers", most_consumers);
  wanted.reason = fields.sentence("reason", true);
  return wanted;
}

}  // namespace

Awaitable<Response> Api::list_dead_letters(Exchange& exchange) {
  Query query(exchange.request);
  const auto open = query.text("open");
  if (open && *open != "true" && *open != "false") query.refuse("open: must be true or false");
  const std::size_t limit = read_limit(query);
  const std::int64_t cursor = read_cursor(query);
  if (query.problem()) co_return response_of(*query.problem());
  co_return ok(
      render_dead_letters(co_await engine_.dead_letters(limit, cursor, !open || *open == "true")));
}

Awaitable<Response> Api::find_dead_letter(Exchange& exchange) {
  const auto letter = co_await engine_.dead_letter(number_from(exchange.parameter));
  if (!letter) co_return refused(exchange, letter.error());
  co_return ok(render_dead_letter(*letter));
}

Awaitable<Response> Api::end_dead_letter(Exchange& exchange, bool redrive) {
  const std::int64_t number = number_from(exchange.parameter);
  const JsonBody body = read_json(exchange.request.body, true);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"reason"});
  std::string reason = fields.sentence("reason", !redrive);
  if (fields.problem()) co_return response_of(*fields.problem());

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const engine::Caller who = caller_of(exchange, body.object);
  const auto ended = redrive ? co_await engine_.redrive(who, number, std::move(reason))
                             : co_await engine_.drop_dead_letter(who, number, std::move(reason));
  if (!ended) co_return refused(exchange, ended.error());
  co_return with_replay(ok(render_ended_letter(ended->letter)), ended->replayed);
}

Awaitable<Response> Api::list_reviews(Exchange& exchange) {
  Query query(exchange.request);
  engine::ListQuery wanted;
  wanted.state = domain::IntentState::needs_review;
  wanted.limit = read_limit(query);
  wanted.cursor = read_cursor(query);
  if (query.problem()) co_return response_of(*query.problem());
  co_return ok(render_reviews(co_await engine_.list(std::move(wanted))));
}

Awaitable<Response> Api::find_review(Exchange& exchange) {
  const auto id = domain::intent_id_from(exchange.parameter);
  if (!id) co_return not_found("no such payment intent");
  const auto review = co_await engine_.review(*id);
  if (review) co_return ok(render_review(*review));
  // There is no review of a payment that is not in one.
  if (review.error().code == engine::EngineError::wrong_state) {
    co_return not_found(review.error().detail);
  }
  co_return refused(exchange, review.error());
}

Awaitable<Response> Api::resolve_intent(Exchange& exchange) {
  const auto id = domain::intent_id_from(exchange.parameter);
  if (!id) co_return not_found("no such payment intent");
  const JsonBody body = read_json(exchange.request.body, false);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"as", "tx_hash", "consumers", "reason"});
  engine::Resolve wanted = read_resolve(fields);
  if (fields.problem()) co_return response_of(*fields.problem());

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const domain::Resolution as = wanted.as;
  const auto done =
      co_await engine_.resolve(caller_of(exchange, body.object), *id, std::move(wanted));
  if (!done) co_return refused(exchange, done.error());
  co_return with_replay(ok(render_resolved(*done, as)), done->replayed);
}

Awaitable<Response> Api::list_accounts() {
  co_return ok(render_accounts(co_await engine_.accounts()));
}

Awaitable<std::optional<engine::AccountStatus>> Api::account_of(const Exchange& exchange) {
  const auto accounts = co_await engine_.accounts();
  for (const engine::AccountStatus& account : accounts) {
    const bool same = account.chain.value == exchange.parameters.at(0) &&
                      same_name(account.address.value, exchange.parameters.at(1));
    if (same) co_return account;
  }
  co_return std::nullopt;
}

// Safe to repeat whatever the key: it derives the same again, or finds nothing to change.
Awaitable<Response> Api::reconcile_account(Exchange& exchange) {
  const JsonBody body = read_json(exchange.request.body, true);
  if (body.problem) co_return response_of(*body.problem);
  const Fields fields(body.object, {});
  if (fields.problem()) co_return response_of(*fields.problem());
  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const auto account = co_await account_of(exchange);
  if (!account) co_return not_found("no such sending account");
  const auto report =
      co_await engine_.reconcile(exchange.asker.name, account->chain, account->address);
  if (!report) co_return refused(exchange, report.error());
  co_return ok(render_report(*report));
}

Awaitable<Response> Api::adopt_account(Exchange& exchange) {
  const JsonBody body = read_json(exchange.request.body, false);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"reason"});
  std::string reason = fields.sentence("reason", true);
  if (fields.problem()) co_return response_of(*fields.problem());
  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const auto account = co_await account_of(exchange);
  if (!account) co_return not_found("no such sending account");
  const auto done = co_await engine_.adopt(caller_of(exchange, body.object), account->chain,
                                           account->address, std::move(reason));
  if (!done) co_return refused(exchange, done.error());
  co_return with_replay(ok(render_adopted(*account, done->goes_on_from)), done->replayed);
}

Awaitable<Response> Api::acknowledge_chain(Exchange& exchange) {
  const JsonBody body = read_json(exchange.request.body, false);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"reason"});
  std::string reason = fields.sentence("reason", true);
  if (fields.problem()) co_return response_of(*fields.problem());
  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  const domain::ChainId chain{exchange.parameter};
  const auto done =
      co_await engine_.acknowledge(caller_of(exchange, body.object), chain, std::move(reason));
  if (done) co_return with_replay(ok(render_acknowledged(chain)), *done);
  // A path that names nothing is no bad request.
  if (done.error().code == engine::EngineError::unknown_chain) co_return not_found("no such chain");
  co_return refused(exchange, done.error());
}

}  // namespace holdfast::http
