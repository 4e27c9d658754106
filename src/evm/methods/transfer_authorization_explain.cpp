// Owns: why a token refuses a payer's authorization.
#include "evm/erc20.hpp"
#include "evm/methods/diagnosis.hpp"
#include "evm/methods/transfer_authorization.hpp"
#include "evm/methods/wallet_signature.hpp"

namespace holdfast::evm {

using ports::VerifyError;

namespace {

/// In the order of the questions.
struct Told {
  bool has_code = false;
  Result<bool> used = false;
  Result<std::string> name = std::string{};
  Result<std::string> version = std::string{};
  Result<Bytes32> separator = Bytes32{};
  Result<U256> balance = U256{};
  bool payer_has_code = false;
  bool payer_agrees = true;
};

Told read_all(const std::vector<Bytes>& answers) {
  return {.has_code = !answers[0].empty(),
          .used = decode_authorization_state(answers[1]),
          .name = decode_string_answer(answers[2], "name"),
          .version = decode_string_answer(answers[3], "version"),
          .separator = decode_bytes32_answer(answers[4], "DOMAIN_SEPARATOR"),
          .balance = decode_uint_answer(answers[5], "balanceOf"),
          .payer_has_code = !answers[6].empty(),
          .payer_agrees = answers.size() < 8 || says_valid(answers[7])};
}

/// Where the token signs under another domain: which part of it is another, as far as it says so.
std::optional<Error> other_domain(const Told& told, const Domain& configured,
                                  const std::string& asset) {
  if (told.separator && told.separator->value == domain_separator(configured).value) {
    return std::nullopt;
  }
  const auto sentence = [&](const std::string& what) {
    return "asset: " + asset + " has another EIP-712 " + what + " than is configured";
  };
  if (told.name && *told.name != configured.name) {
    return refuse(VerifyError::name_mismatch, sentence("name"));
  }
  if (told.version && *told.version != configured.version) {
    return refuse(VerifyError::version_mismatch, sentence("version"));
  }
  if (told.separator) return refuse(VerifyError::name_mismatch, sentence("domain"));
  return std::nullopt;  // it says nothing of its domain
}

}  // namespace

ports::Awaitable<Error> TransferAuthorizationMethod::explain(domain::Intent intent, Error refusal) {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) co_return terms.error();
  const Address20& token = terms->token;
  const Bytes32 nonce =
      intent.authorization ? Bytes32{intent.authorization->nonce.value} : Bytes32{intent.ref.value};
  std::vector<Question> questions;
  questions.push_back({token, {}});
  questions.push_back({token, encode_authorization_state(terms->payer, nonce)});
  questions.push_back({token, encode_name()});
  questions.push_back({token, encode_version()});
  questions.push_back({token, encode_domain_separator()});
  questions.push_back({token, encode_balance_of(terms->payer)});
  questions.push_back({terms->payer, {}});
  if (intent.authorization) {
    const domain::Authorization& offered = *intent.authorization;
    const Hash32 digest =
        authorization_digest(domain_of(intent.terms.asset),
                             signed_terms(intent, *terms, offered.nonce, offered.validity));
    questions.push_back({terms->payer, encode_is_valid_signature(digest, offered.signature)});
  }
  const auto answers = co_await ask_together(chain_, std::move(questions));
  if (!answers) {
    co_return refuse(VerifyError::node_trouble,
                     "the contract refuses, and the node does not tell why; try again");
  }
  const Told told = read_all(*answers);
  const std::string& asset = intent.terms.asset.value;
  if (!told.has_code) {
    co_return refuse(VerifyError::not_a_contract, "asset: there is no contract at " + asset);
  }
  if (!told.used) {
    co_return refuse(VerifyError::not_supported,
                     "asset: " + asset + " has no authorizationState (EIP-3009)");
  }
  if (*told.used) {
    co_return refuse(VerifyError::already_used, "nonce: the authorization was used or canceled");
  }
  if (auto other = other_domain(told, domain_of(intent.terms.asset), asset)) {
    co_return *std::move(other);
  }
  if (told.payer_has_code && !told.payer_agrees) {
    co_return refuse(VerifyError::wrong_signer,
                     "signature: the payer is a contract, and says that this is not its signature");
  }
  if (told.balance && *told.balance < intent.terms.amount) {
    co_return refuse(VerifyError::insufficient_funds, "payer: holds less than the amount");
  }
  const bool wrapped = intent.authorization && is_counterfactual(intent.authorization->signature);
  if (wrapped && !told.payer_has_code) {
    co_return refuse(
        VerifyError::deployment_failed,
        "signature: the payer's wallet cannot be made as it says, or does not take it");
  }
  co_return refusal;
}

}  // namespace holdfast::evm
