// Owns: the port of a payment method on one chain: terms to a call, a signature to a verdict, a
// mined transaction to evidence.
// Must never: be assumed by the core to be one of two.
#pragma once

#include <string>
#include <vector>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/decide.hpp>
#include <holdfast/domain/evidence.hpp>
#include <holdfast/ports/chain.hpp>

namespace holdfast::ports {

/// Why terms or an authorization are not good. http maps these to wire strings.
enum class VerifyError {
  bad_terms = 1,       ///< asset, payee or amount this method cannot pay
  bad_signature,       ///< not a signature, wrong length, malleable (high s)
  wrong_signer,        ///< a good signature of somebody else, or over other terms
  wrong_nonce,
  not_yet_valid,
  expired,             ///< or too close to its end to be published
  already_used,
  canceled,
  insufficient_funds,
  simulation_failed,   ///< the contract refuses, and nobody can say why
  node_trouble,        ///< says nothing about the payment: try again
  not_a_contract,      ///< no code at the asset's address
  not_supported,       ///< the asset does not offer what this method needs of it
  name_mismatch,       ///< the asset signs under another name than is configured
  version_mismatch,    ///< the asset signs under another version than is configured
  allowance_missing,   ///< the payer has not let the method's contract take the amount
  spender_mismatch,    ///< signed for another spender than the method's
  factory_not_allowed, ///< the payer's wallet is to be made by a factory that is not on the list
  deployment_failed,   ///< the payer's wallet cannot be made as the signature says
};
boost::system::error_code make_error_code(VerifyError error);

/// Both clocks a window is judged by.
struct Moment {
  std::int64_t wall_s = 0;
  std::int64_t chain_s = 0;  ///< zero when no block was read yet
};

/// A token as its payers have to sign for it.
struct AssetInfo {
  domain::AssetId asset;
  std::string name{};     ///< of its EIP-712 domain
  std::string version{};  ///< of its EIP-712 domain
  std::vector<std::string> methods{};  ///< that pay with it
  bool operator==(const AssetInfo&) const = default;
};

class Method {
 public:
  virtual ~Method() = default;

  virtual domain::MethodName name() const = 0;
  virtual domain::ChainId chain() const = 0;
  /// True when the payer signs and anyone may run it.
  virtual bool bearer() const = 0;

  /// What payers can sign for with this method; each names this method alone.
  virtual std::vector<AssetInfo> assets() const { return {}; }

  /// Can these terms be paid by this method at all? `bad_terms`.
  virtual Result<void> check_terms(const domain::Terms& terms) const = 0;
  /// What the payer signs, as JSON (EIP-712 typed data); empty when nobody signs. The nonce in it
  /// is the intent's ref, the window its `validity`.
  virtual std::string typed_data(const domain::Intent& intent) const = 0;
  /// Does this authorization pay exactly this intent, from now on? Reads only.
  virtual Awaitable<Result<void>> verify(domain::Intent intent, domain::Authorization authorization,
                                         Moment now) = 0;
  /// The chain refused to run this payment's `call`: why, read from the chain, as one of
  /// VerifyError. `refusal` as it is where nothing else is seen; `node_trouble` where nothing could
  /// be read. Reads only, safe to repeat.
  virtual Awaitable<Error> explain(domain::Intent, Error refusal) { co_return refusal; }
  /// The call that moves the money. A bearer intent must be authorized.
  virtual Result<Call> call(const domain::Intent& intent) const = 0;
  /// What this transaction proves about this intent. `own_hash`: it is one of its own attempts.
  virtual domain::Evidence evidence(const domain::Intent& intent, const domain::MinedTx& tx,
                                    bool own_hash) const = 0;
  /// The authorization's state on the chain, with the transaction that used it where it was used.
  /// Never asked of a method that is not bearer.
  virtual Awaitable<domain::AuthorizationSeen> read_authorization(domain::Intent intent) = 0;
};

}  // namespace holdfast::ports

template <>
struct boost::system::is_error_code_enum<holdfast::ports::VerifyError> : std::true_type {};
template <>
struct boost::system::is_error_code_enum<holdfast::ports::ChainError> : std::true_type {};
