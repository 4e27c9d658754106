// Owns: the method `transfer_authorization` (EIP-3009): the payer signs, we submit and pay the gas.
// Must never: trust a configured name and version before the token's own domain separator agreed;
// take a use it could not read for this payment's.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <holdfast/ports/method.hpp>

#include "evm/chain.hpp"
#include "evm/eip3009.hpp"
#include "evm/method_names.hpp"
#include "evm/methods/terms.hpp"

namespace holdfast::evm {

/// A token with EIP-3009. Its EIP-712 name and version cannot be read from every token, so they are
/// configured, and compared with its DOMAIN_SEPARATOR() before a signature over them is accepted.
struct Eip3009Asset {
  domain::AssetId asset;  ///< canonical (EvmChain::parse_asset)
  std::string name;
  std::string version;
};

struct TransferAuthorizationOptions {
  std::vector<Eip3009Asset> assets;
  /// A window must still be open this long, on the later of both clocks.
  std::int64_t before_margin_s = 6;
  /// The newest block may be so old: how far the chain's clock may be behind a window's start.
  std::int64_t chain_lag_s = 30;
  /// How far back from the newest block a use is looked for, and how many blocks at once. A node
  /// that refuses a range is asked for half of it.
  std::uint64_t log_span_blocks = 100'000;
  std::uint64_t log_range_blocks = 2'000;
  std::uint32_t log_calls = 128;  ///< at most, in one search
  /// Contracts that may make a payer's wallet in the transaction that pays (EIP-6492). What they
  /// are called with is the payer's choice: list only factories that do nothing else.
  std::vector<Address20> wallet_factories = {};
};

class TransferAuthorizationMethod final : public ports::Method {
 public:
  /// `chain` outlives it.
  TransferAuthorizationMethod(TransferAuthorizationOptions options, EvmChain& chain);

  domain::MethodName name() const override { return transfer_authorization_name; }
  domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return true; }

  Result<void> check_terms(const domain::Terms& terms) const override;
  /// The request of eth_signTypedData_v4; empty for terms that `check_terms` refuses.
  std::string typed_data(const domain::Intent& intent) const override;

  std::vector<ports::AssetInfo> assets() const override;

  /// In this order: terms, window (bearer_terms.hpp), nonce, signature, then the token's domain
  /// (one read per asset, remembered once it agreed).
  ///
  /// A key's signature of 65 bytes costs no call. Any other is judged by the code at the payer
  /// (wallet_signature.hpp). One wrapped as EIP-6492 says is unwrapped where the wallet is there;
  /// where it is not, its factory must be listed, and the simulation of `call` is the verdict.
  ///
  /// Errors, each with a sentence: bad_terms, not_yet_valid, expired, wrong_nonce, bad_signature,
  /// wrong_signer, factory_not_allowed, where the domain does not agree those of `explain`, and
  /// node_trouble (the only one worth a retry besides not_yet_valid).
  ports::Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                        ports::Moment now) override;

  /// One batch: no code at the asset: not_a_contract; no authorizationState: not_supported; used or
  /// canceled: already_used; another name, version or domain: name_mismatch, version_mismatch; the
  /// payer holds less than the amount: insufficient_funds; their wallet is not there yet:
  /// deployment_failed; the wallet at the payer does not take the signature: wrong_signer.
  /// Otherwise `refusal`.
  ports::Awaitable<Error> explain(domain::Intent intent, Error refusal) override;

  /// transferWithAuthorization at the asset: (…, v, r, s) for 65 bytes, (…, bytes) for others. For
  /// a wallet that is not known to be there, aggregate3 of Multicall3: the listed factory, then the
  /// transfer, which must succeed. A factory that is not listed is never run. Errors: bad_terms,
  /// bad_signature.
  Result<ports::Call> call(const domain::Intent& intent) const override;
  domain::Evidence evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                            bool own_hash) const override;

  /// authorizationState at the newest block; unused there: also in the state of the newest final
  /// block, as every endpoint has it. Used: the event is looked for and its transaction read. A use
  /// that sent this payment and let less arrive (a token with a fee) is `used_exactly`: the money
  /// moved, and how much is judged at finality. A use that cannot be found in the span is
  /// `unknown`.
  ports::Awaitable<domain::AuthorizationSeen> read_authorization(domain::Intent intent) override;

 private:
  struct Use {
    domain::TxHash tx;
    bool canceled = false;
  };

  Result<EvmTerms> terms_of(const domain::Intent& intent) const;
  Domain domain_of(const domain::AssetId& asset) const;
  /// What was signed, or is to be.
  TransferAuthorization signed_terms(const domain::Intent& intent, const EvmTerms& terms,
                                     const domain::Nonce& nonce,
                                     const domain::Validity& window) const;
  bool may_deploy(const Address20& factory) const;
  ports::Awaitable<Result<void>> check_payer(Address20 payer, Hash32 digest, Bytes signature);
  ports::Awaitable<Result<void>> check_domain(domain::Intent intent);
  /// Empty: no readable answer.
  ports::Awaitable<std::optional<bool>> state(Rpc& voice, const domain::Intent& intent,
                                              std::string at);
  ports::Awaitable<domain::AuthorizationSeen> used(const domain::Intent& intent);
  ports::Awaitable<std::optional<Use>> find_use(const domain::Intent& intent, std::uint64_t newest);

  TransferAuthorizationOptions options_;
  EvmChain& chain_;
  std::vector<domain::AssetId> assets_;
  std::uint64_t log_range_blocks_;  ///< what this node takes, as far as it is known
  std::set<Address20> deployed_;  ///< payers of wrapped signatures that were seen to have code
  std::set<domain::AssetId> agreed_;  ///< assets whose domain separator was seen to agree
};

}  // namespace holdfast::evm
