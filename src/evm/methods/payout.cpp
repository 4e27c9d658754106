#include "evm/methods/payout.hpp"

#include "evm/erc20.hpp"
#include "evm/methods/terms.hpp"

namespace holdfast::evm {

Payout::Payout(PayoutOptions options, EvmChain& chain)
    : assets_(std::move(options.assets)), chain_(chain) {
  for (const domain::AssetId& asset : assets_) {
    if (asset != domain::native_asset) configured_token(asset);
  }
}

Result<void> Payout::check_terms(const domain::Terms& terms) const {
  const Result<EvmTerms> read = read_terms(terms, chain(), name(), assets_);
  if (!read) return read.error();
  return {};
}

std::string Payout::typed_data(const domain::Intent&) const { return {}; }

ports::Awaitable<Result<void>> Payout::verify(domain::Intent intent, domain::Authorization,
                                              ports::Moment) {
  co_return check_terms(intent.terms);
}

Result<ports::Call> Payout::call(const domain::Intent& intent) const {
  const Result<EvmTerms> terms = read_terms(intent.terms, chain(), name(), assets_);
  if (!terms) return terms.error();
  if (intent.terms.asset == domain::native_asset) {
    const ByteView ref = intent.ref.view();
    return ports::Call{.target = intent.terms.payee,
                       .value = intent.terms.amount,
                       .payload = Bytes(ref.begin(), ref.end())};
  }
  Bytes payload = encode_transfer(
      {.to = terms->payee, .amount = intent.terms.amount, .ref = Bytes32{intent.ref.value}});
  return ports::Call{
      .target = {intent.terms.asset.value}, .value = {}, .payload = std::move(payload)};
}

domain::Evidence Payout::evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                                  bool own_hash) const {
  return domain::evidence_of_payout(intent, tx, own_hash);
}

ports::Awaitable<domain::AuthorizationSeen> Payout::read_authorization(domain::Intent) {
  co_return domain::AuthorizationSeen{};
}

}  // namespace holdfast::evm
