#include "engine/new_intent.hpp"

#include <cstring>

#include <holdfast/domain/refs.hpp>
#include "base/teeth.hpp"

namespace holdfast::engine {
namespace {

constexpr std::int64_t shortest_validity_s = 60;
constexpr std::int64_t longest_validity_s = std::int64_t{7} * 86'400;

std::string offered(const Core& core) {
  std::string out;
  for (const auto& unit : core.units) out += (out.empty() ? "" : ", ") + unit->id().value;
  return out.empty() ? "none" : out;
}

Result<domain::Address> payer_of(const Unit& unit, const ports::Method& method,
                                 const std::string& wanted, std::uint64_t chooser) {
  if (method.bearer()) {
    if (wanted.empty()) return refuse(EngineError::bad_terms, "payer: the field is missing");
    auto payer = unit.chain.parse_address(wanted);
    if (!payer) return refuse(EngineError::bad_terms, "payer: " + payer.error().detail);
    return payer;
  }
  if (unit.accounts.empty()) {
    return refuse(EngineError::bad_terms,
                  "payer: no sending account is configured on " + unit.id().value);
  }
  if (wanted.empty()) return unit.accounts[chooser % unit.accounts.size()].address;
  auto payer = unit.chain.parse_address(wanted);
  if (!payer) return refuse(EngineError::bad_terms, "payer: " + payer.error().detail);
  for (const AccountState& account : unit.accounts) {
    if (account.address == *payer) return payer;
  }
  return refuse(EngineError::bad_terms,
                "payer: " + payer->value + " is not one of this engine's accounts");
}

Result<std::int64_t> validity_of(const Core& core, const NewPayment& wanted) {
  const std::int64_t seconds = wanted.validity_s == 0 ? core.config.validity_s : wanted.validity_s;
  if (seconds < shortest_validity_s || seconds > longest_validity_s) {
    return refuse(EngineError::bad_validity, "validity_s: " + std::to_string(seconds) +
                                                 " is not between " +
                                                 std::to_string(shortest_validity_s) + " and " +
                                                 std::to_string(longest_validity_s));
  }
  return seconds;
}

std::uint64_t first_word(const domain::IntentId& id) {
  std::uint64_t out = 0;
  std::memcpy(&out, id.value.data(), sizeof out);
  return out;
}

}  // namespace

Result<Route> route(Core& core, const NewPayment& wanted, std::uint64_t chooser) {
  Route out;
  out.unit = core.unit(domain::ChainId{wanted.chain});
  if (out.unit == nullptr) {
    return refuse(EngineError::unknown_chain,
                  "chain: not a chain of this engine; it has " + offered(core));
  }
  const auto found = out.unit->methods.find(wanted.method);
  if (found == out.unit->methods.end()) {
    return refuse(EngineError::unknown_method, "method: not offered on " + wanted.chain);
  }
  out.method = found->second;
  auto asset = out.unit->chain.parse_asset(wanted.asset);
  if (!asset) return refuse(EngineError::bad_terms, "asset: " + asset.error().detail);
  auto payee = out.unit->chain.parse_address(wanted.payee);
  if (!payee) return refuse(EngineError::bad_terms, "payee: " + payee.error().detail);
  auto payer = payer_of(*out.unit, *out.method, wanted.payer, chooser);
  if (!payer) return payer.error();
  if (wanted.amount.is_zero()) {
    return refuse(EngineError::bad_terms, "amount: must be at least 1 base unit");
  }
  out.terms = {out.unit->id(), *asset, *payer, *payee, wanted.amount, out.method->name()};
  if (auto good = out.method->check_terms(out.terms); !good) {
    return refuse(EngineError::bad_terms, good.error().detail);
  }
  return out;
}

Result<domain::Intent> intent_of_request(Core& core, const Caller& caller,
                                         const NewPayment& wanted) {
  domain::Intent intent;
  intent.id = domain::derive_intent_id(caller.id, caller.idempotency_key);
  if (planted(Tooth::replay_missed)) intent.id = core.parts.entropy.bytes<domain::IntentId>();
  auto way = route(core, wanted, first_word(intent.id));
  if (!way) return way.error();
  const auto validity_s = validity_of(core, wanted);
  if (!validity_s) return validity_s.error();

  intent.caller = caller.id;
  intent.terms = std::move(way->terms);
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.bearer = way->method->bearer();
  intent.created_ms = intent.updated_ms = core.wall_ms();
  const std::int64_t now_s = intent.created_ms / 1000;
  if (intent.bearer) {
    intent.validity = {0, now_s + *validity_s};
    intent.publish_before_s = intent.validity.before_s - core.config.publish_margin_s;
  } else {
    intent.state = domain::IntentState::authorized;
    intent.publish_before_s =
        now_s + (wanted.validity_s == 0 ? core.config.expires_after_s : *validity_s);
  }
  return intent;
}

Result<domain::Intent> intent_of_authorization(Core& core, const domain::CallerId& caller,
                                               const NewPayment& wanted,
                                               const domain::Authorization& authorization,
                                               std::uint64_t earlier_ended) {
  auto way = route(core, wanted, 0);
  if (!way) return way.error();
  if (!way->method->bearer()) {
    return refuse(EngineError::unknown_method, "method: nobody signs for " + wanted.method);
  }
  domain::Intent intent;
  intent.caller = caller;
  intent.terms = std::move(way->terms);
  intent.id = domain::derive_intent_id(intent.terms, authorization.nonce, earlier_ended);
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.bearer = true;
  intent.state = domain::IntentState::authorized;
  intent.authorization = authorization;
  intent.validity = authorization.validity;
  intent.created_ms = intent.updated_ms = core.wall_ms();
  intent.publish_before_s = authorization.validity.before_s - core.config.publish_margin_s;
  return intent;
}

}  // namespace holdfast::engine
