// Owns: the payment methods of the simulated chains: a payout, and a payer's authorization.
#pragma once

#include <utility>
#include <vector>

#include <holdfast/ports/method.hpp>

#include "sim/chain.hpp"

namespace holdfast::sim {

/// `payout`: from one of our accounts, the ref at the end of the payload. On any simulated chain.
class ScriptedPayout final : public ports::Method {
 public:
  explicit ScriptedPayout(const ports::Chain& chain) : chain_(chain) {}

  domain::MethodName name() const override { return {"payout"}; }
  domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return false; }
  Result<void> check_terms(const domain::Terms& terms) const override;
  std::string typed_data(const domain::Intent& intent) const override;
  ports::Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                        ports::Moment now) override;
  Result<ports::Call> call(const domain::Intent& intent) const override;
  domain::Evidence evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                            bool own_hash) const override;
  ports::Awaitable<domain::AuthorizationSeen> read_authorization(domain::Intent intent) override;

 private:
  const ports::Chain& chain_;
};

/// `transfer_authorization`: the payer signs (sim::authorize), anyone may run it.
class ScriptedAuthorization final : public ports::Method {
 public:
  explicit ScriptedAuthorization(ScriptedChain& chain) : chain_(chain) {}

  domain::MethodName name() const override { return {"transfer_authorization"}; }
  domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return true; }
  std::vector<ports::AssetInfo> assets() const override { return assets_; }
  Result<void> check_terms(const domain::Terms& terms) const override;
  std::string typed_data(const domain::Intent& intent) const override;
  ports::Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                        ports::Moment now) override;
  Result<ports::Call> call(const domain::Intent& intent) const override;
  domain::Evidence evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                            bool own_hash) const override;
  ports::Awaitable<domain::AuthorizationSeen> read_authorization(domain::Intent intent) override;

  /// Says from now on that payers can sign for this token.
  void offer(ports::AssetInfo info) { assets_.push_back(std::move(info)); }

 private:
  ScriptedChain& chain_;
  std::vector<ports::AssetInfo> assets_;
};

}  // namespace holdfast::sim
