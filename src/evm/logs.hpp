// Owns: the three events that say what moved and which authorization was used.
// Must never: take a log of the right event and the wrong shape for nothing: it is refused aloud.
#pragma once

#include <vector>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

/// A log as a node gives it.
struct Log {
  Address20 address;  ///< the contract that wrote it
  std::vector<Bytes32> topics;
  Bytes data;

  bool operator==(const Log&) const = default;
};

/// topics[0] of each event: keccak256 of its signature.
namespace topics {
/// Transfer(address,address,uint256)
inline constexpr Bytes32 transfer =
    bytes32_literal("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// AuthorizationUsed(address,bytes32)
inline constexpr Bytes32 authorization_used =
    bytes32_literal("98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5");
/// AuthorizationCanceled(address,bytes32)
inline constexpr Bytes32 authorization_canceled =
    bytes32_literal("1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81");
}  // namespace topics

/// Tokens moved. `token` is the contract that says so; whether it is the asset is the caller's
/// check.
struct TransferEvent {
  Address20 token;
  Address20 from;
  Address20 to;
  U256 value;

  bool operator==(const TransferEvent&) const = default;
};

/// An authorization came to its end, by use or by cancellation.
struct AuthorizationEvent {
  Address20 token;
  Address20 authorizer;
  Bytes32 nonce;

  bool operator==(const AuthorizationEvent&) const = default;
};

/// Errors of all three: other_event when topics[0] is another's (or there is none); bad_log when
/// the event is this one but topics or data are not (ERC-721's Transfer has a fourth topic).
Result<TransferEvent> decode_transfer_event(const Log& log);
Result<AuthorizationEvent> decode_authorization_used(const Log& log);
Result<AuthorizationEvent> decode_authorization_canceled(const Log& log);

}  // namespace holdfast::evm
