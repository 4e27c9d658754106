// Owns: the verdict over a payer's permit, the call that runs it, and why it is refused.
#include "evm/methods/permit2.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "evm/erc20.hpp"
#include "evm/methods/bearer_terms.hpp"
#include "evm/methods/diagnosis.hpp"
#include "evm/methods/wallet_signature.hpp"

namespace holdfast::evm {

using ports::VerifyError;

namespace {

/// What the contracts are given: the wallet's own signature, without the wrapper.
Result<Bytes> bare_signature(ByteView signature) {
  if (signature.empty() || signature.size() > longest_wallet_signature) {
    return refuse(VerifyError::bad_signature, "signature: empty, or too long");
  }
  if (!is_counterfactual(signature)) return as_contracts_take_it(signature);
  const Result<Counterfactual> wrapped = read_counterfactual(signature);
  if (!wrapped) {
    return refuse(VerifyError::bad_signature, "signature: " + wrapped.error().detail);
  }
  return as_contracts_take_it(wrapped->inner);
}

}  // namespace

Permit2Method::Permit2Method(Permit2Options options, EvmChain& chain)
    : options_(std::move(options)), chain_(chain), log_range_blocks_(options_.log_range_blocks) {
  for (const Permit2Asset& asset : options_.assets) {
    configured_token(asset.asset);
    assets_.push_back(asset.asset);
  }
}

Result<EvmTerms> Permit2Method::terms_of(const domain::Intent& intent) const {
  return read_terms(intent.terms, chain(), name(), assets_);
}

ExactPermit Permit2Method::permit_of(const domain::Intent& intent, const EvmTerms& terms,
                                     const domain::Nonce& nonce,
                                     const domain::Validity& window) const {
  return {.owner = terms.payer,
          .token = terms.token,
          .to = terms.payee,
          .amount = intent.terms.amount,
          .nonce = *U256::from_big_endian(nonce.value),
          .deadline = static_cast<std::uint64_t>(window.before_s),
          .valid_after = static_cast<std::uint64_t>(window.after_s)};
}

Result<void> Permit2Method::check_terms(const domain::Terms& terms) const {
  const Result<EvmTerms> read = read_terms(terms, chain(), name(), assets_);
  if (!read) return read.error();
  return {};
}

std::vector<ports::AssetInfo> Permit2Method::assets() const {
  std::vector<ports::AssetInfo> out;
  out.reserve(options_.assets.size());
  for (const Permit2Asset& asset : options_.assets) {
    out.push_back({asset.asset, asset.name, asset.version, {name().value}});
  }
  return out;
}

std::string Permit2Method::typed_data(const domain::Intent& intent) const {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms || !is_window(intent.validity)) return {};
  return boost::json::serialize(typed_data_json(
      chain_.number(), permit_of(intent, *terms, {intent.ref.value}, intent.validity)));
}

ports::Awaitable<Result<void>> Permit2Method::verify(domain::Intent intent,
                                                     domain::Authorization authorization,
                                                     ports::Moment now) {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) co_return terms.error();
  const WindowMargins margins{options_.before_margin_s, options_.chain_lag_s};
  if (const auto good = check_window(intent, authorization.validity, now, margins); !good) {
    co_return good.error();
  }
  if (const auto good = check_nonce(intent, authorization.nonce); !good) co_return good.error();
  const Hash32 digest = exact_permit_digest(
      chain_.number(), permit_of(intent, *terms, authorization.nonce, authorization.validity));
  co_return co_await check_payer(terms->payer, digest, std::move(authorization.signature));
}

ports::Awaitable<Result<void>> Permit2Method::check_payer(Address20 payer, Hash32 digest,
                                                          Bytes signature) {
  if (is_counterfactual(signature)) {
    const ports::Outcome<bool> there = co_await chain_.has_code({to_checksum(payer)});
    if (there.ok() == nullptr) {
      co_return refuse(VerifyError::node_trouble,
                       "the node did not answer for the payer's wallet; try again");
    }
    if (!*there.ok()) {
      co_return refuse(VerifyError::factory_not_allowed,
                       "signature: the payer's wallet is not there yet: this method makes none");
    }
    Result<Bytes> inner = bare_signature(signature);
    if (!inner) co_return inner.error();
    signature = std::move(*inner);
  }
  const auto signer = co_await check_signature(chain_, payer, digest, std::move(signature));
  if (!signer) co_return signer.error();
  co_return Result<void>{};
}

Result<ports::Call> Permit2Method::call(const domain::Intent& intent) const {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) return terms.error();
  if (!intent.authorization) return bad_terms("authorization: this payment was not signed yet");
  const domain::Authorization& authorization = *intent.authorization;
  if (!is_window(authorization.validity)) {
    return bad_terms("validity: after_s must be at least 0 and less than before_s");
  }
  const Result<Bytes> signature = bare_signature(authorization.signature);
  if (!signature) return signature.error();
  return ports::Call{
      .target = {to_checksum(exact_proxy_address)},
      .value = {},
      .payload = encode_settle(
          permit_of(intent, *terms, authorization.nonce, authorization.validity), *signature)};
}

domain::Evidence Permit2Method::evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                                         bool) const {
  return domain::evidence_of_authorization(intent, tx);
}

ports::Awaitable<Error> Permit2Method::explain(domain::Intent intent, Error refusal) {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) co_return terms.error();
  const U256 nonce = *U256::from_big_endian(intent.authorization ? intent.authorization->nonce.value
                                                                 : intent.ref.value);
  std::vector<Question> questions;
  questions.push_back({terms->token, {}});
  questions.push_back({permit2_address, {}});
  questions.push_back({exact_proxy_address, {}});
  questions.push_back({permit2_address, encode_nonce_bitmap(terms->payer, nonce)});
  questions.push_back({terms->token, encode_balance_of(terms->payer)});
  questions.push_back({terms->token, encode_allowance(terms->payer, permit2_address)});
  questions.push_back({terms->payer, {}});
  if (intent.authorization) {
    const domain::Authorization& offered = *intent.authorization;
    const Hash32 digest = exact_permit_digest(
        chain_.number(), permit_of(intent, *terms, offered.nonce, offered.validity));
    questions.push_back({terms->payer, encode_is_valid_signature(digest, offered.signature)});
  }
  const auto answers = co_await ask_together(chain_, std::move(questions));
  if (!answers) {
    co_return refuse(VerifyError::node_trouble,
                     "the contract refuses, and the node does not tell why; try again");
  }
  const std::vector<Bytes>& told = *answers;
  const std::string& asset = intent.terms.asset.value;
  if (told[0].empty()) {
    co_return refuse(VerifyError::not_a_contract, "asset: there is no contract at " + asset);
  }
  if (told[1].empty() || told[2].empty()) {
    co_return refuse(VerifyError::not_supported,
                     "method: this chain has no Permit2, or not the proxy for exact payments");
  }
  const Result<bool> used = decode_nonce_used(told[3], nonce);
  if (used && *used) {
    co_return refuse(VerifyError::already_used, "nonce: the permit was used or invalidated");
  }
  if (told.size() > 7 && !told[6].empty() && !says_valid(told[7])) {
    co_return refuse(VerifyError::wrong_signer,
                     "signature: the payer is a contract, and says that this is not its signature");
  }
  const Result<U256> balance = decode_uint_answer(told[4], "balanceOf");
  if (balance && *balance < intent.terms.amount) {
    co_return refuse(VerifyError::insufficient_funds, "payer: holds less than the amount");
  }
  const Result<U256> allowance = decode_uint_answer(told[5], "allowance");
  if (allowance && *allowance < intent.terms.amount) {
    co_return refuse(VerifyError::allowance_missing,
                     "payer: lets Permit2 take less than the amount of " + asset);
  }
  co_return refusal;
}

}  // namespace holdfast::evm
