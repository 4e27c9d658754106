// Owns: a token on the toy chain that anybody may move by what its owner signed, and the method
// that pays with it.
// Must never: be used for money: its signature is a digest anybody can make.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/domain/intent.hpp>

#include "toy_chain.hpp"

namespace line_server {

/// What an owner lets happen once, within a window of seconds.
struct ToyTransfer {
  hf::domain::Address from;
  hf::domain::Address to;
  hf::domain::Amount value;
  hf::domain::Authorization authorization;
};
hf::Bytes signature_of(const ToyTransfer& transfer);
/// As the payload of a call to the token, and back; empty: it is none.
std::string text_of(const ToyTransfer& transfer);
std::optional<ToyTransfer> read_transfer(hf::ByteView payload);

/// `transfer_authorization`, as payers of x402 sign for it.
class ToyAuthorization final : public hf::ports::Method {
 public:
  explicit ToyAuthorization(const ToyChain& chain) : chain_(chain) {}

  hf::domain::MethodName name() const override { return {"transfer_authorization"}; }
  hf::domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return true; }
  std::vector<hf::ports::AssetInfo> assets() const override;
  hf::Result<void> check_terms(const hf::domain::Terms& terms) const override;
  std::string typed_data(const hf::domain::Intent&) const override { return {}; }
  hf::ports::Awaitable<hf::Result<void>> verify(hf::domain::Intent intent,
                                                hf::domain::Authorization authorization,
                                                hf::ports::Moment now) override;
  hf::Result<hf::ports::Call> call(const hf::domain::Intent& intent) const override;
  hf::domain::Evidence evidence(const hf::domain::Intent& intent, const hf::domain::MinedTx& tx,
                                bool own_hash) const override;
  hf::ports::Awaitable<hf::domain::AuthorizationSeen> read_authorization(
      hf::domain::Intent intent) override;

 private:
  const ToyChain& chain_;
};

}  // namespace line_server
