// Owns: the verdict over a payer's signature, and the call that runs it.
#include "evm/methods/transfer_authorization.hpp"

#include <algorithm>

#include <boost/json/serialize.hpp>

#include <holdfast/base/ensure.hpp>

#include "evm/erc20.hpp"

namespace holdfast::evm {

using ports::VerifyError;

TransferAuthorizationMethod::TransferAuthorizationMethod(TransferAuthorizationOptions options,
                                                         EvmChain& chain)
    : options_(std::move(options)), chain_(chain), log_range_blocks_(options_.log_range_blocks) {
  for (const Eip3009Asset& asset : options_.assets) {
    configured_token(asset.asset);
    assets_.push_back(asset.asset);
  }
}

Result<EvmTerms> TransferAuthorizationMethod::terms_of(const domain::Intent& intent) const {
  return read_terms(intent.terms, chain(), name(), assets_);
}

Domain TransferAuthorizationMethod::domain_of(const domain::AssetId& asset) const {
  const auto found = std::ranges::find(options_.assets, asset, &Eip3009Asset::asset);
  ensure(found != options_.assets.end(), "an asset was checked against the list before");
  return {.name = found->name,
          .version = found->version,
          .chain_id = chain_.number(),
          .verifying_contract = configured_token(asset)};
}

TransferAuthorization TransferAuthorizationMethod::signed_terms(
    const domain::Intent& intent, const EvmTerms& terms, const domain::Nonce& nonce,
    const domain::Validity& window) const {
  return {.from = terms.payer,
          .to = terms.payee,
          .value = intent.terms.amount,
          .valid_after = static_cast<std::uint64_t>(window.after_s),
          .valid_before = static_cast<std::uint64_t>(window.before_s),
          .nonce = {nonce.value}};
}

Result<void> TransferAuthorizationMethod::check_terms(const domain::Terms& terms) const {
  const Result<EvmTerms> read = read_terms(terms, chain(), name(), assets_);
  if (!read) return read.error();
  return {};
}

std::string TransferAuthorizationMethod::typed_data(const domain::Intent& intent) const {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms || !is_window(intent.validity)) return {};
  return boost::json::serialize(
      typed_data_json(domain_of(intent.terms.asset),
                      signed_terms(intent, *terms, {intent.ref.value}, intent.validity)));
}

Result<void> TransferAuthorizationMethod::check_window(const domain::Intent& intent,
                                                       const domain::Validity& signed_window,
                                                       ports::Moment now) const {
  const auto text = [](std::int64_t seconds) { return std::to_string(seconds); };
  if (signed_window != intent.validity) {
    return refuse(VerifyError::wrong_signer,
                  "validity: signed for another window than this payment's, which is after " +
                      text(intent.validity.after_s) + " and before " +
                      text(intent.validity.before_s));
  }
  if (!is_window(signed_window)) {
    return bad_terms("validity: after_s must be at least 0 and less than before_s");
  }
  // No block read yet: the wall clock stands for both.
  const std::int64_t chain_s = now.chain_s > 0 ? now.chain_s : now.wall_s;
  const std::int64_t opens_by = std::min(now.wall_s, chain_s + options_.chain_lag_s);
  if (signed_window.after_s >= opens_by) {
    return refuse(VerifyError::not_yet_valid,
                  "validity.after_s: the authorization is valid after " +
                      text(signed_window.after_s) + ", now is " + text(opens_by));
  }
  const std::int64_t needed = std::max(now.wall_s, chain_s) + options_.before_margin_s;
  if (signed_window.before_s < needed) {
    return refuse(VerifyError::expired, "validity.before_s: the authorization ends at " +
                                            text(signed_window.before_s) +
                                            " and must be valid until " + text(needed));
  }
  return {};
}

Result<void> TransferAuthorizationMethod::check_nonce(const domain::Intent& intent,
                                                      const domain::Nonce& nonce) {
  if (intent.authorization) {
    if (nonce == intent.authorization->nonce) return {};
    return refuse(VerifyError::wrong_nonce, "nonce: not the one this payment was made for");
  }
  if (nonce == domain::Nonce{intent.ref.value}) return {};
  return refuse(VerifyError::wrong_nonce, "nonce: must be this payment's ref, " + intent.ref.hex());
}

Result<void> TransferAuthorizationMethod::check_signer(const domain::Intent& intent,
                                                       const EvmTerms& terms,
                                                       const domain::Authorization& offered) const {
  const Result<Signature> signature = parse_signature(offered.signature);
  if (!signature) {
    return refuse(VerifyError::bad_signature, "signature: " + signature.error().detail);
  }
  const Hash32 digest = authorization_digest(
      domain_of(intent.terms.asset), signed_terms(intent, terms, offered.nonce, offered.validity));
  const Result<Address20> signer = recover(digest, *signature);
  if (!signer) return refuse(VerifyError::bad_signature, "signature: " + signer.error().detail);
  if (*signer != terms.payer) {
    return refuse(VerifyError::wrong_signer,
                  "signature: not the payer's over exactly this payment (asset, payee, amount, "
                  "window and nonce)");
  }
  return {};
}

ports::Awaitable<Result<void>> TransferAuthorizationMethod::verify(
    domain::Intent intent, domain::Authorization authorization, ports::Moment now) {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) co_return terms.error();
  if (const auto good = check_window(intent, authorization.validity, now); !good) {
    co_return good.error();
  }
  if (const auto good = check_nonce(intent, authorization.nonce); !good) co_return good.error();
  if (const auto good = check_signer(intent, *terms, authorization); !good) {
    co_return good.error();
  }
  co_return co_await check_domain(intent.terms.asset);
}

ports::Awaitable<Result<void>> TransferAuthorizationMethod::check_domain(domain::AssetId asset) {
  if (agreed_.contains(asset)) co_return Result<void>{};
  const Domain configured = domain_of(asset);
  const ports::Outcome<Bytes> answer = co_await chain_.call_contract(
      configured.verifying_contract, encode_domain_separator(), "latest");
  const bool reverted =
      answer.refused() != nullptr && answer.refused()->kind == ports::RefusalKind::reverted;
  if (answer.ok() == nullptr && !reverted) {
    co_return refuse(VerifyError::node_trouble,
                     "the node did not answer for the asset's DOMAIN_SEPARATOR; try again");
  }
  const Result<Bytes32> separator =
      decode_bytes32_answer(reverted ? Bytes{} : *answer.ok(), "DOMAIN_SEPARATOR");
  if (!separator) {
    co_return bad_terms("asset: " + asset.value + " does not answer DOMAIN_SEPARATOR()");
  }
  if (separator->value != domain_separator(configured).value) {
    co_return bad_terms("asset: " + asset.value +
                        " has another EIP-712 domain than its configured name and version give");
  }
  agreed_.insert(asset);
  co_return Result<void>{};
}

Result<ports::Call> TransferAuthorizationMethod::call(const domain::Intent& intent) const {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) return terms.error();
  if (!intent.authorization) return bad_terms("authorization: this payment was not signed yet");
  const domain::Authorization& authorization = *intent.authorization;
  if (!is_window(authorization.validity)) {
    return bad_terms("validity: after_s must be at least 0 and less than before_s");
  }
  const Result<Signature> signature = parse_signature(authorization.signature);
  if (!signature) {
    return refuse(VerifyError::bad_signature, "signature: " + signature.error().detail);
  }
  return ports::Call{
      .target = {intent.terms.asset.value},
      .value = {},
      .payload = encode_transfer_with_authorization(
          signed_terms(intent, *terms, authorization.nonce, authorization.validity), *signature)};
}

domain::Evidence TransferAuthorizationMethod::evidence(const domain::Intent& intent,
                                                       const domain::MinedTx& tx, bool) const {
  return domain::evidence_of_authorization(intent, tx);
}

}  // namespace holdfast::evm
