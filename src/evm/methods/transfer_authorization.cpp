// Owns: the verdict over a payer's signature, and the call that runs it.
#include "evm/methods/transfer_authorization.hpp"

#include <algorithm>

#include <boost/json/serialize.hpp>

#include <holdfast/base/ensure.hpp>

#include "evm/erc20.hpp"
#include "evm/methods/bearer_terms.hpp"
#include "evm/methods/wallet_signature.hpp"
#include "evm/multicall3.hpp"

namespace holdfast::evm {

using ports::VerifyError;

namespace {

constexpr std::size_t most_deployed = 1'024;

/// 65 bytes go by their parts, which every EIP-3009 token takes; tokens that ask wallets put them
/// together again (FiatToken v2.2). Everything else goes as `bytes`.
Bytes encode_as_signed(const TransferAuthorization& what, ByteView signature) {
  const Bytes taken = as_contracts_take_it(signature);
  return taken.size() == 65 ? encode_transfer_with_authorization_by_parts(what, taken)
                            : encode_transfer_with_authorization(what, ByteView(taken));
}

}  // namespace

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

std::vector<ports::AssetInfo> TransferAuthorizationMethod::assets() const {
  std::vector<ports::AssetInfo> out;
  out.reserve(options_.assets.size());
  for (const Eip3009Asset& asset : options_.assets) {
    out.push_back({asset.asset, asset.name, asset.version, {name().value}});
  }
  return out;
}

bool TransferAuthorizationMethod::may_deploy(const Address20& factory) const {
  return std::ranges::find(options_.wallet_factories, factory) != options_.wallet_factories.end();
}

ports::Awaitable<Result<void>> TransferAuthorizationMethod::verify(
    domain::Intent intent, domain::Authorization authorization, ports::Moment now) {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) co_return terms.error();
  const WindowMargins margins{options_.before_margin_s, options_.chain_lag_s};
  if (const auto good = check_window(intent, authorization.validity, now, margins); !good) {
    co_return good.error();
  }
  if (const auto good = check_nonce(intent, authorization.nonce); !good) co_return good.error();
  const Hash32 digest = authorization_digest(
      domain_of(intent.terms.asset),
      signed_terms(intent, *terms, authorization.nonce, authorization.validity));
  const auto good = co_await check_payer(terms->payer, digest, authorization.signature);
  if (!good) co_return good.error();
  co_return co_await check_domain(std::move(intent));
}

/// A wallet that is not there yet is judged by the simulation alone: only there does it exist.
ports::Awaitable<Result<void>> TransferAuthorizationMethod::check_payer(Address20 payer,
                                                                        Hash32 digest,
                                                                        Bytes signature) {
  if (is_counterfactual(signature)) {
    const Result<Counterfactual> wrapped = signature.size() <= longest_wallet_signature
                                               ? read_counterfactual(signature)
                                               : refuse(VerifyError::bad_signature, "is too long");
    if (!wrapped) {
      co_return refuse(VerifyError::bad_signature, "signature: " + wrapped.error().detail);
    }
    const ports::Outcome<bool> there = co_await chain_.has_code({to_checksum(payer)});
    if (there.ok() == nullptr) {
      co_return refuse(VerifyError::node_trouble,
                       "the node did not answer for the payer's wallet; try again");
    }
    if (!*there.ok()) {
      deployed_.erase(payer);  // a block was taken back
      if (may_deploy(wrapped->factory)) co_return Result<void>{};
      co_return refuse(VerifyError::factory_not_allowed,
                       "signature: the payer's wallet is not there yet, and its factory " +
                           to_checksum(wrapped->factory) + " is not among wallet_factories");
    }
    if (deployed_.size() < most_deployed) deployed_.insert(payer);
    signature = wrapped->inner;
  }
  const auto signer = co_await check_signature(chain_, payer, digest, std::move(signature));
  if (!signer) co_return signer.error();
  co_return Result<void>{};
}

ports::Awaitable<Result<void>> TransferAuthorizationMethod::check_domain(domain::Intent intent) {
  const domain::AssetId asset = intent.terms.asset;
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
  if (separator && separator->value == domain_separator(configured).value) {
    agreed_.insert(asset);
    co_return Result<void>{};
  }
  co_return co_await explain(std::move(intent),
                             refuse(VerifyError::name_mismatch,
                                    "asset: " + asset.value +
                                        " has another EIP-712 domain than its configured name and "
                                        "version give"));
}

Result<ports::Call> TransferAuthorizationMethod::call(const domain::Intent& intent) const {
  const Result<EvmTerms> terms = terms_of(intent);
  if (!terms) return terms.error();
  if (!intent.authorization) return bad_terms("authorization: this payment was not signed yet");
  const domain::Authorization& authorization = *intent.authorization;
  if (!is_window(authorization.validity)) {
    return bad_terms("validity: after_s must be at least 0 and less than before_s");
  }
  const std::size_t size = authorization.signature.size();
  if (size == 0 || size > longest_wallet_signature) {
    return refuse(VerifyError::bad_signature, "signature: empty, or too long");
  }
  const TransferAuthorization what =
      signed_terms(intent, *terms, authorization.nonce, authorization.validity);
  if (!is_counterfactual(authorization.signature)) {
    return ports::Call{.target = {intent.terms.asset.value},
                       .value = {},
                       .payload = encode_as_signed(what, authorization.signature)};
  }
  const Result<Counterfactual> wrapped = read_counterfactual(authorization.signature);
  if (!wrapped) {
    return refuse(VerifyError::bad_signature, "signature: " + wrapped.error().detail);
  }
  Bytes transfer = encode_as_signed(what, wrapped->inner);
  // Also for a factory that is not listed: such a payment was taken because the wallet is there.
  if (deployed_.contains(terms->payer) || !may_deploy(wrapped->factory)) {
    return ports::Call{
        .target = {intent.terms.asset.value}, .value = {}, .payload = std::move(transfer)};
  }
  // The wallet may be there by then, made by somebody else: the factory may fail, the transfer not.
  return ports::Call{.target = {to_checksum(multicall3_address)},
                     .value = {},
                     .payload = encode_aggregate3({{wrapped->factory, true, wrapped->factory_call},
                                                   {terms->token, false, std::move(transfer)}})};
}

domain::Evidence TransferAuthorizationMethod::evidence(const domain::Intent& intent,
                                                       const domain::MinedTx& tx, bool) const {
  return domain::evidence_of_authorization(intent, tx);
}

}  // namespace holdfast::evm
