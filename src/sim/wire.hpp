// Owns: how the simulated chain writes calls and transactions as bytes, and its signatures.
// Must never: be taken for cryptography: a signature here is a hash anybody can make, which is what
// lets a test play payer, engine and thief alike.
#pragma once

#include <optional>
#include <tuple>

#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/ports/chain.hpp>

namespace holdfast::sim {

/// What a call asks of the simulated contracts.
struct SimCall {
  enum class Kind {
    nothing,  ///< a noop, or native value to `to`
    transfer,  ///< `amount` of `asset` from the sender to `to`
    authorized_transfer,  ///< as `from` signed it: EIP-3009's transferWithAuthorization
    cancel_authorization,  ///< by `from` itself: EIP-3009's cancelAuthorization
  } kind = Kind::nothing;
  domain::AssetId asset;
  domain::Address from;  ///< the authorizer
  domain::Address to;
  domain::Amount amount;
  domain::Authorization authorization;
  std::optional<domain::Ref> ref;  ///< at the end of the payload
};

/// What an authorization is known by on a chain: token, who signed, its number.
using AuthorizationKey = std::tuple<domain::AssetId, domain::Address, domain::Nonce>;

/// A transfer of the native asset becomes the call's value, everything else its payload.
ports::Call to_call(const SimCall& call);
/// Empty: bytes no contract here understands.
std::optional<SimCall> read_call(const ports::Call& call);

struct SimTx {
  domain::ChainId chain;
  ports::Order order;
  Bytes signature;
};
Bytes encode(const SimTx& tx);
std::optional<SimTx> decode(ByteView bytes);
domain::TxHash hash_of(ByteView bytes);
/// What is signed of an order.
Digest digest_of(const domain::ChainId& chain, const ports::Order& order);
/// What a payer signs.
Digest authorization_digest(const domain::Terms& terms, const domain::Nonce& nonce,
                            const domain::Validity& validity);

/// This account's signature of this digest.
Bytes sign_as(const domain::Address& account, const Digest& digest);
/// The payer's authorization of an intent, with its ref as nonce and its proposed window.
domain::Authorization authorize(const domain::Intent& intent);
/// The payer's authorization with a nonce and window of their own.
domain::Authorization authorize(const domain::Terms& terms, const domain::Nonce& nonce,
                                const domain::Validity& validity);

}  // namespace holdfast::sim
