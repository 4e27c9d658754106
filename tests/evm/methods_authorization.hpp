// An intent of the method transfer_authorization, signed by alice.
#pragma once

#include <holdfast/domain/refs.hpp>

#include "evm/chain_node.hpp"
#include "evm/methods/transfer_authorization.hpp"

namespace holdfast::evm::test {

inline const Domain token_domain{"Holdfast Token", "1", 31337, *Address20::from_text(token)};
inline constexpr std::int64_t window_after_s = 1'700'000'000;
inline constexpr std::int64_t window_before_s = 1'700'003'600;

inline domain::Intent authorization_intent() {
  domain::Intent intent;
  intent.id = *domain::intent_id_from("pi_000102030405060708090a0b0c0d0e0f");
  intent.terms = {.chain = chain_id,
                  .asset = {token},
                  .payer = {alice},
                  .payee = {bob},
                  .amount = 1'000'000,
                  .method = transfer_authorization_name};
  intent.bearer = true;
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.validity = {window_after_s, window_before_s};
  return intent;
}

/// What alice signs of an intent: all of it as it stands, with this nonce.
inline TransferAuthorization what_is_signed(const domain::Intent& intent,
                                            const domain::Nonce& nonce) {
  return {.from = *Address20::from_text(intent.terms.payer.value),
          .to = *Address20::from_text(intent.terms.payee.value),
          .value = intent.terms.amount,
          .valid_after = static_cast<std::uint64_t>(intent.validity.after_s),
          .valid_before = static_cast<std::uint64_t>(intent.validity.before_s),
          .nonce = {nonce.value}};
}

inline domain::Authorization sign_authorization(const domain::Intent& intent,
                                                const std::string& key,
                                                const domain::Nonce& nonce) {
  return {.nonce = nonce,
          .validity = intent.validity,
          .signature = sign_with(
              key, authorization_digest(token_domain, what_is_signed(intent, nonce)).value)};
}

inline domain::Authorization sign_authorization(const domain::Intent& intent,
                                                const std::string& key = alice_key) {
  return sign_authorization(intent, key, {intent.ref.value});
}

inline domain::Intent signed_intent() {
  domain::Intent intent = authorization_intent();
  intent.authorization = sign_authorization(intent);
  return intent;
}

struct AuthorizationBench : Bench {
  explicit AuthorizationBench(TransferAuthorizationOptions options = {})
      : method(with_token(std::move(options)), chain) {
    node.overrides["eth_call"] = always(json::value(domain_separator(token_domain).hex()));
  }
  static TransferAuthorizationOptions with_token(TransferAuthorizationOptions options) {
    options.assets = {{{token}, "Holdfast Token", "1"}};
    return options;
  }
  TransferAuthorizationMethod method;
};

}  // namespace holdfast::evm::test
