// Owns: the method `permit2`: exact payments that a payer signed for x402's proxy over Permit2; we
// submit and pay the gas.
// Must never: take a use it could not read for this payment's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/ports/method.hpp>

#include "evm/chain.hpp"
#include "evm/method_names.hpp"
#include "evm/methods/terms.hpp"
#include "evm/permit2.hpp"

namespace holdfast::evm {

/// A token that may be paid with by Permit2. Nobody signs its name and version here: they are what
/// payers are shown, and may be empty.
struct Permit2Asset {
  domain::AssetId asset;  ///< canonical (EvmChain::parse_asset)
  std::string name = {};
  std::string version = {};
};

struct Permit2Options {
  std::vector<Permit2Asset> assets;
  /// As in TransferAuthorizationOptions.
  std::int64_t before_margin_s = 6;
  std::int64_t chain_lag_s = 30;
  std::uint64_t log_span_blocks = 100'000;
  std::uint64_t log_range_blocks = 2'000;
  std::uint32_t log_calls = 128;
  /// Transactions that are read, at most, to find the one that used a nonce.
  std::uint32_t most_read = 64;
};

/// An authorization's nonce is the Permit2 nonce (a uint256 as 32 bytes), its window is from the
/// witness's validAfter to the permit's deadline.
class Permit2Method final : public ports::Method {
 public:
  /// `chain` outlives it.
  Permit2Method(Permit2Options options, EvmChain& chain);

  domain::MethodName name() const override { return permit2_name; }
  domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return true; }

  Result<void> check_terms(const domain::Terms& terms) const override;
  std::vector<ports::AssetInfo> assets() const override;
  /// The request of eth_signTypedData_v4; empty for terms that `check_terms` refuses.
  std::string typed_data(const domain::Intent& intent) const override;

  /// In this order: terms, window, nonce (bearer_terms.hpp), signature. A key's signature costs no
  /// call; any other is judged by the code at the payer (wallet_signature.hpp). One wrapped as
  /// EIP-6492 says is unwrapped where the wallet is there, and factory_not_allowed where it is not:
  /// a wallet that is not there has not approved Permit2 either. Stricter than Permit2 itself,
  /// which takes the high form of s and 64 bytes: both are bad_signature here, in verify and before
  /// a send.
  ///
  /// Errors: bad_terms, not_yet_valid, expired, wrong_nonce, bad_signature, wrong_signer (also for
  /// another spender than the proxy: it is part of what is signed), factory_not_allowed,
  /// node_trouble.
  ports::Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                        ports::Moment now) override;

  /// One batch: no code at the asset: not_a_contract; none at Permit2 or the proxy: not_supported;
  /// the nonce is used: already_used; balance or allowance of Permit2 below the amount:
  /// insufficient_funds, allowance_missing; the wallet at the payer does not take the signature:
  /// wrong_signer. Otherwise `refusal`.
  ports::Awaitable<Error> explain(domain::Intent intent, Error refusal) override;

  /// settle(permit, owner, witness, signature) at the proxy. Errors: bad_terms, bad_signature.
  Result<ports::Call> call(const domain::Intent& intent) const override;
  domain::Evidence evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                            bool own_hash) const override;

  /// nonceBitmap at the newest block; unused there: also in the state of the newest final block, as
  /// every endpoint has it. Used: the payer's transfers of the asset, those to the payee first, are
  /// read back from the newest, until one is of a transaction that settled this nonce. A use in
  /// another contract's call, or a nonce that was invalidated, is `unknown`.
  ports::Awaitable<domain::AuthorizationSeen> read_authorization(domain::Intent intent) override;

 private:
  /// Where a search for a use stands: calls and transactions that may still be asked for.
  struct Search {
    std::uint64_t newest = 0;
    std::uint32_t calls = 0;
    std::uint32_t reads = 0;
    std::vector<domain::TxHash> read;
  };

  Result<EvmTerms> terms_of(const domain::Intent& intent) const;
  ExactPermit permit_of(const domain::Intent& intent, const EvmTerms& terms,
                        const domain::Nonce& nonce, const domain::Validity& window) const;
  ports::Awaitable<Result<void>> check_payer(Address20 payer, Hash32 digest, Bytes signature);
  /// Empty: no readable answer.
  ports::Awaitable<std::optional<bool>> state(Rpc& voice, const domain::Intent& intent,
                                              std::string at);
  ports::Awaitable<domain::AuthorizationSeen> used(const domain::Intent& intent);
  /// Nothing readable, or nothing that settled this nonce: `unknown`.
  ports::Awaitable<domain::AuthorizationSeen> search(const domain::Intent& intent, bool to_payee,
                                                     Search& budget);
  ports::Awaitable<domain::AuthorizationSeen> judge(const domain::Intent& intent,
                                                    domain::TxHash hash);

  Permit2Options options_;
  EvmChain& chain_;
  std::vector<domain::AssetId> assets_;
  std::uint64_t log_range_blocks_;  ///< what this node takes, as far as it is known
};

}  // namespace holdfast::evm
