// An intent of the method transfer_authorization, signed by alice.
#pragma once

#include <map>
#include <set>

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
    node.overrides["eth_getCode"] = [this](const json::array& params) -> Answer {
      return json::value(contracts.contains(std::string(params.at(0).as_string())) ? "0x60" : "0x");
    };
  }
  static TransferAuthorizationOptions with_token(TransferAuthorizationOptions options) {
    options.assets = {{{token}, "Holdfast Token", "1"}};
    return options;
  }
  /// The token answers as a contract does: each function by its selector, all others revert.
  void let_the_token_tell(std::map<std::string, std::string> answers) {
    node.overrides["eth_call"] = [answers =
                                      std::move(answers)](const json::array& params) -> Answer {
      const std::string data(params.at(0).as_object().at("data").as_string());
      const auto found = answers.find(data.substr(0, 10));
      if (found == answers.end()) {
        return ports::Refused{ports::RefusalKind::reverted, "reverted without a reason"};
      }
      return json::value(found->second);
    };
  }
  /// A token that has nothing to complain about.
  static std::map<std::string, std::string> content() {
    return {{"0xe94a0102", word(0)},
            {"0x06fdde03", text_answer("Holdfast Token")},
            {"0x54fd4d50", text_answer("1")},
            {"0x3644e515", domain_separator(token_domain).hex()},
            {"0x70a08231", word(1'000'000)}};
  }
  /// A dynamic string of the ABI.
  static std::string text_answer(std::string_view text) {
    Bytes out;
    abi::append_word(out, U256(32));
    abi::append_word(out, U256(text.size()));
    out.insert(out.end(), text.begin(), text.end());
    out.resize((out.size() + 31) / 32 * 32);
    return to_0x(out);
  }

  std::set<std::string> contracts{token};  ///< where there is code
  TransferAuthorizationMethod method;
};

}  // namespace holdfast::evm::test
