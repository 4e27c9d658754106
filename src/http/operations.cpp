// The routes of operators and machines: balances, events, chains, keys, health, metrics.
#include <limits>

#include <holdfast/http/keys.hpp>

#include "http/api.hpp"
#include "http/json_body.hpp"
#include "http/render.hpp"
#include "http/target.hpp"

namespace holdfast::http {
namespace {

constexpr std::int64_t most_rows = 1'000;
constexpr std::int64_t usual_rows = 100;

std::optional<Problem> check_new_key(const engine::ApiKey& key) {
  if (!is_key_name(key.name)) {
    return Problem{400, "bad_field",
                   "name: must be 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter "
                   "or digit"};
  }
  for (const std::string& scope : key.scopes) {
    if (!is_scope(scope)) {
      return Problem{400, "bad_field",
                     "scopes: " + shown(scope) + " is none; they are pay, payout, ops and x402"};
    }
  }
  return std::nullopt;
}

}  // namespace

Awaitable<Response> Api::list_balances(Exchange& exchange) {
  Query query(exchange.request);
  const std::int64_t limit = query.number("limit", most_rows, 1, most_rows);
  if (query.problem()) co_return response_of(*query.problem());
  co_return ok(render_balances(co_await engine_.balances(static_cast<std::size_t>(limit))));
}

Awaitable<Response> Api::list_events(Exchange& exchange) {
  Query query(exchange.request);
  const std::int64_t after = query.number("after", 0, 0, std::numeric_limits<std::int64_t>::max());
  const std::int64_t limit = query.number("limit", usual_rows, 1, most_rows);
  if (query.problem()) co_return response_of(*query.problem());
  const auto events = co_await engine_.events(after, static_cast<std::size_t>(limit));
  co_return ok(render_events(events, after));
}

Response Api::list_chains(const Exchange& exchange) {
  return ok(render_chains(engine_.chains(), exchange.asker.is_operator()));
}

// A token is kept nowhere. It is made from the asker's own secret and stored chance, so that the
// same asker's repeated request gets the same token; whoever has the store alone cannot make it.
std::string Api::token_for(const Exchange& exchange, const engine::KeySalt& salt) const {
  const auto read = bearer_token(exchange.request);
  const auto* const token = std::get_if<std::optional<std::string_view>>(&read);
  const bool has_token = token != nullptr && token->has_value();
  const ByteView secret = has_token ? as_bytes(**token) : ByteView(secret_);
  return derive_token(secret, salt.view(), exchange.idempotency_key);
}

Awaitable<Response> Api::add_key(Exchange& exchange) {
  const JsonBody body = read_json(exchange.request.body, false);
  if (body.problem) co_return response_of(*body.problem);
  Fields fields(body.object, {"name", "scopes"});
  engine::ApiKey key;
  key.name = fields.word("name");
  key.scopes = fields.words("scopes", known_scopes().size());
  if (fields.problem()) co_return response_of(*fields.problem());
  if (const auto problem = check_new_key(key)) co_return response_of(*problem);

  const auto place = claim(exchange);
  if (!place) co_return response_of(still_running());
  key.salt = entropy_.bytes<engine::KeySalt>();
  key.sha256 = hash_token(token_for(exchange, *key.salt));
  const auto added = co_await engine_.add_api_key(key, caller_of(exchange, body.object));
  if (!added) co_return refused(exchange, added.error());
  const engine::ApiKey& stored = added->key;
  const std::string token = stored.salt ? token_for(exchange, *stored.salt) : std::string();
  if (!equal_constant_time(hash_token(token), stored.sha256)) {
    co_return response_of({409, "name_taken",
                           "the key was added by this very request, and its "
                           "token cannot be shown again: revoke it"});
  }
  if (!added->replayed) keys_.add(key);
  Response response = ok(render_new_key(stored, token));
  response.status = 201;
  co_return with_replay(std::move(response), added->replayed);
}

Awaitable<Response> Api::list_keys() { co_return ok(render_keys(co_await engine_.api_keys())); }

Awaitable<Response> Api::revoke_key(Exchange& exchange) {
  const auto revoked = co_await engine_.revoke_api_key(exchange.parameter, exchange.asker.name);
  if (!revoked) co_return refused(exchange, revoked.error());
  keys_.drop(exchange.parameter);
  co_return ok(render_revoked(exchange.parameter));
}

// Open to everybody, so it names chains and nothing about why: GET /v1/chains tells operators.
Response Api::readiness() {
  std::vector<std::string> reasons;
  if (polls_.stopping()) reasons.emplace_back("the server is stopping");
  if (engine_.broken()) reasons.emplace_back("the engine stopped itself and must be started anew");
  if (const std::string trouble = engine_.trouble(); !trouble.empty()) reasons.push_back(trouble);
  if (engine_.draining()) reasons.emplace_back("the engine is draining");
  bool any_usable = false;
  const auto chains = engine_.chains();
  for (const engine::ChainStatus& chain : chains) any_usable = any_usable || chain.usable;
  if (!any_usable) {
    if (chains.empty()) reasons.emplace_back("no chain is configured");
    for (const engine::ChainStatus& chain : chains) {
      reasons.push_back("the chain " + chain.id.value + " is not usable");
    }
  }
  Response response = ok(render_readiness(reasons));
  if (!reasons.empty()) response.status = 503;
  return response;
}

// What is counted in memory is told whatever becomes of the store.
Awaitable<Response> Api::metrics_page() {
  std::optional<engine::DeskCounts> desk;
  try {
    desk = co_await engine_.desk_counts();
  } catch (const store::StoreUnavailable&) {
    desk.reset();
  } catch (const store::StoreInDoubt&) {
    desk.reset();
  } catch (const store::StoreBusy&) {
    desk.reset();
  }
  Response response =
      ok(metrics_text(metrics_, engine_.stats(), engine_.chains(), engine_.broken(), desk));
  response.content_type = metrics_type;
  co_return response;
}

}  // namespace holdfast::http
