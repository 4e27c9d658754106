#include "sim/methods.hpp"

#include <utility>

#include <holdfast/base/ensure.hpp>

namespace holdfast::sim {

namespace {

using ports::VerifyError;

Result<void> check_any_terms(const domain::Terms& terms, const domain::ChainId& chain) {
  if (terms.chain != chain) {
    return refuse(VerifyError::bad_terms, "chain is not this method's");
  }
  if (terms.amount.is_zero()) return refuse(VerifyError::bad_terms, "amount must be at least 1");
  if (terms.payee == terms.payer) {
    return refuse(VerifyError::bad_terms, "payee must not be the payer");
  }
  return {};
}

SimCall call_of(SimCall::Kind kind, const domain::Terms& terms) {
  SimCall call;
  call.kind = kind;
  call.asset = terms.asset;
  call.from = terms.payer;
  call.to = terms.payee;
  call.amount = terms.amount;
  return call;
}

}  // namespace

Result<void> ScriptedPayout::check_terms(const domain::Terms& terms) const {
  return check_any_terms(terms, chain());
}

std::string ScriptedPayout::typed_data(const domain::Intent&) const { return {}; }

ports::Awaitable<Result<void>> ScriptedPayout::verify(domain::Intent, domain::Authorization,
                                                      ports::Moment) {
  co_return refuse(VerifyError::bad_signature, "nobody signs a payout");
}

Result<ports::Call> ScriptedPayout::call(const domain::Intent& intent) const {
  SimCall call = call_of(SimCall::Kind::transfer, intent.terms);
  if (call.asset == domain::native_asset) call.kind = SimCall::Kind::nothing;
  call.ref = intent.ref;
  return to_call(call);
}

domain::Evidence ScriptedPayout::evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                                          bool own_hash) const {
  return domain::evidence_of_payout(intent, tx, own_hash);
}

ports::Awaitable<domain::AuthorizationSeen> ScriptedPayout::read_authorization(domain::Intent) {
  ensure(false, "a payout has no authorization to read");
  co_return domain::AuthorizationSeen{};
}

Result<void> ScriptedAuthorization::check_terms(const domain::Terms& terms) const {
  if (terms.asset == domain::native_asset) {
    return refuse(VerifyError::bad_terms, "asset must be a token; native cannot be authorized");
  }
  return check_any_terms(terms, chain());
}

std::string ScriptedAuthorization::typed_data(const domain::Intent& intent) const {
  const domain::Terms& terms = intent.terms;
  return R"({"primaryType":"TransferWithAuthorization","message":{"from":")" + terms.payer.value +
         R"(","to":")" + terms.payee.value + R"(","value":")" + terms.amount.decimal() +
         R"(","validAfter":")" + std::to_string(intent.validity.after_s) + R"(","validBefore":")" +
         std::to_string(intent.validity.before_s) + R"(","nonce":")" + intent.ref.hex() + R"("}})";
}

ports::Awaitable<Result<void>> ScriptedAuthorization::verify(domain::Intent intent,
                                                             domain::Authorization authorization,
                                                             ports::Moment now) {
  using Used = Books::Authorized;
  const domain::Terms& terms = intent.terms;
  const domain::Validity& validity = authorization.validity;
  if (now.wall_s <= validity.after_s) {
    co_return refuse(VerifyError::not_yet_valid, "the authorization is not valid yet");
  }
  if (now.wall_s >= validity.before_s || now.chain_s >= validity.before_s) {
    co_return refuse(VerifyError::expired, "the authorization has expired");
  }
  if (authorization.signature.size() != 32) {
    co_return refuse(VerifyError::bad_signature, "a signature has 32 bytes here");
  }
  if (authorization.signature !=
      sign_as(terms.payer, authorization_digest(terms, authorization.nonce, validity))) {
    co_return refuse(VerifyError::wrong_signer, "the signature is not the payer's for these terms");
  }
  const auto state = co_await chain_.authorization(terms.asset, terms.payer, authorization.nonce);
  if (state.ok() == nullptr) {
    co_return refuse(VerifyError::node_trouble, "the chain cannot be asked now");
  }
  if (state.ok()->latest == Used::used) {
    co_return refuse(VerifyError::already_used, "the authorization was used already");
  }
  if (state.ok()->latest == Used::canceled) {
    co_return refuse(VerifyError::canceled, "the authorization was canceled");
  }
  if (chain_.balance(terms.payer, terms.asset) < terms.amount) {
    co_return refuse(VerifyError::insufficient_funds, "the payer holds less than the amount");
  }
  co_return Result<void>();
}

Result<ports::Call> ScriptedAuthorization::call(const domain::Intent& intent) const {
  if (!intent.authorization) {
    return refuse(VerifyError::bad_terms, "the intent is not authorized yet");
  }
  SimCall call = call_of(SimCall::Kind::authorized_transfer, intent.terms);
  call.authorization = *intent.authorization;
  return to_call(call);
}

domain::Evidence ScriptedAuthorization::evidence(const domain::Intent& intent,
                                                 const domain::MinedTx& tx, bool) const {
  return domain::evidence_of_authorization(intent, tx);
}

ports::Awaitable<domain::AuthorizationSeen> ScriptedAuthorization::read_authorization(
    domain::Intent intent) {
  using Used = Books::Authorized;
  using Seen = domain::AuthorizationSeen;
  Seen seen;
  if (!intent.authorization) co_return seen;
  const auto state = co_await chain_.authorization(intent.terms.asset, intent.terms.payer,
                                                   intent.authorization->nonce);
  if (state.ok() == nullptr) co_return seen;
  seen.tx = state.ok()->tx;
  seen.is_final = state.ok()->tx_final;
  if (state.ok()->latest == Used::unused) {
    seen.result = Seen::Result::unused;
    seen.unused_at_final_s = state.ok()->finalized_time_s;
  } else if (state.ok()->latest == Used::canceled) {
    seen.result = Seen::Result::canceled;
  } else {
    ensure(seen.tx.has_value(), "what used an authorization is on the chain");
    const domain::Moved moved = domain::evidence_of_authorization(intent, *seen.tx).moved;
    const bool paid = moved == domain::Moved::exact || moved == domain::Moved::less;
    seen.result = paid ? Seen::Result::used_exactly : Seen::Result::used_otherwise;
  }
  co_return seen;
}

}  // namespace holdfast::sim
