// Owns: the method `payout`: a transfer from one of our own accounts, ERC-20 or native, with the
// payment's ref as the last 32 bytes of its calldata.
// Must never: pay an asset that is not on its list.
#pragma once

#include <vector>

#include <holdfast/ports/method.hpp>

#include "evm/chain.hpp"

namespace holdfast::evm {

inline const domain::MethodName payout_name{"payout"};

struct PayoutOptions {
  /// Canonical (EvmChain::parse_asset), `native_asset` where native payouts are allowed.
  std::vector<domain::AssetId> assets;
};

/// Nobody signs but our own account: no authorization, no typed data.
///
/// A native payout carries the ref as its data. An account without code ignores it. A contract may
/// refuse data it does not know: then the simulation says so and the payment is canceled before
/// anything is signed. Sending without the ref is the rejected other way: then only the hash would
/// tell our transaction from a stranger's, and a restored store could not find its own payments.
class Payout final : public ports::Method {
 public:
  /// `chain` outlives it.
  Payout(PayoutOptions options, EvmChain& chain);

  domain::MethodName name() const override { return payout_name; }
  domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return false; }

  Result<void> check_terms(const domain::Terms& terms) const override;
  std::string typed_data(const domain::Intent& intent) const override;
  /// There is nothing to verify but the terms: bad_terms.
  ports::Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                        ports::Moment now) override;
  /// Errors: bad_terms.
  Result<ports::Call> call(const domain::Intent& intent) const override;
  domain::Evidence evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                            bool own_hash) const override;
  /// Never asked; answers unknown.
  ports::Awaitable<domain::AuthorizationSeen> read_authorization(domain::Intent intent) override;

 private:
  std::vector<domain::AssetId> assets_;
  EvmChain& chain_;
};

}  // namespace holdfast::evm
