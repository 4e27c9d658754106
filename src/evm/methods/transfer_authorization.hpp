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
#include "evm/methods/terms.hpp"

namespace holdfast::evm {

inline const domain::MethodName transfer_authorization_name{"transfer_authorization"};

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

  /// In this order: terms, window, nonce, signature, signer, then the token's domain (one read per
  /// asset, remembered once it agreed). The signed window must be the intent's `validity`.
  ///
  /// The nonce must be the intent's ref, which we proposed; only where the payer brought a nonce of
  /// their own does the intent carry an authorization before it is verified, and then the nonce
  /// must be that one's.
  ///
  /// Errors, each with a sentence: bad_terms, not_yet_valid (the window opens later than now, by
  /// the wall clock, or by the chain's plus `chain_lag_s`), expired (less than `before_margin_s`
  /// left on either clock), wrong_nonce, bad_signature (not 65 bytes, out of range, or malleable),
  /// wrong_signer, node_trouble (the only one worth a retry besides not_yet_valid).
  ports::Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                        ports::Moment now) override;

  /// transferWithAuthorization(…, v, r, s) at the asset. Errors: bad_terms, bad_signature.
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

  static bool is_window(const domain::Validity& window) {
    return window.after_s >= 0 && window.after_s < window.before_s;
  }
  Result<EvmTerms> terms_of(const domain::Intent& intent) const;
  Domain domain_of(const domain::AssetId& asset) const;
  /// What was signed, or is to be.
  TransferAuthorization signed_terms(const domain::Intent& intent, const EvmTerms& terms,
                                     const domain::Nonce& nonce,
                                     const domain::Validity& window) const;
  Result<void> check_window(const domain::Intent& intent, const domain::Validity& signed_window,
                            ports::Moment now) const;
  static Result<void> check_nonce(const domain::Intent& intent, const domain::Nonce& nonce);
  Result<void> check_signer(const domain::Intent& intent, const EvmTerms& terms,
                            const domain::Authorization& offered) const;
  ports::Awaitable<Result<void>> check_domain(domain::AssetId asset);
  /// Empty: no readable answer.
  ports::Awaitable<std::optional<bool>> state(Rpc& voice, const domain::Intent& intent,
                                              std::string at);
  ports::Awaitable<domain::AuthorizationSeen> unused(const domain::Intent& intent);
  ports::Awaitable<domain::AuthorizationSeen> used(const domain::Intent& intent);
  ports::Awaitable<std::optional<Use>> find_use(const domain::Intent& intent, std::uint64_t newest);

  TransferAuthorizationOptions options_;
  EvmChain& chain_;
  std::vector<domain::AssetId> assets_;
  std::uint64_t log_range_blocks_;  ///< what this node takes, as far as it is known
  std::set<domain::AssetId> agreed_;  ///< assets whose domain separator was seen to agree
};

}  // namespace holdfast::evm
