// Owns: EIP-3009, a payer's signed permission to move their tokens: what is signed, and the calls.
// Must never: judge an authorization's times or amounts; that is the method's work.
#pragma once

#include <variant>

#include <boost/json/fwd.hpp>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/abi.hpp"
#include "evm/address.hpp"
#include "evm/eip712.hpp"
#include "evm/keccak.hpp"
#include "evm/secp.hpp"

namespace holdfast::evm {

/// TransferWithAuthorization. Times are Unix seconds of the block: the transfer runs when
/// valid_after < block time < valid_before.
struct TransferAuthorization {
  Address20 from;
  Address20 to;
  U256 value;
  U256 valid_after;
  U256 valid_before;
  Bytes32 nonce;

  bool operator==(const TransferAuthorization&) const = default;
};

struct CancelAuthorization {
  Address20 authorizer;
  Bytes32 nonce;

  bool operator==(const CancelAuthorization&) const = default;
};

namespace selectors {
inline constexpr abi::Selector transfer_with_authorization{0xe3, 0xee, 0x16, 0x0e};
inline constexpr abi::Selector transfer_with_authorization_bytes{0xcf, 0x09, 0x29, 0x95};
inline constexpr abi::Selector authorization_state{0xe9, 0x4a, 0x01, 0x02};
inline constexpr abi::Selector cancel_authorization{0x5a, 0x04, 0x9a, 0x70};
}  // namespace selectors

Hash32 struct_hash(const TransferAuthorization& authorization);
Hash32 struct_hash(const CancelAuthorization& authorization);

/// What the payer signs.
Hash32 authorization_digest(const Domain& domain, const TransferAuthorization& authorization);
Hash32 authorization_digest(const Domain& domain, const CancelAuthorization& authorization);

/// The request of eth_signTypedData_v4: types (EIP712Domain included), primaryType, domain,
/// message. Uints of the message are decimal strings, addresses have their checksum, domain.chainId
/// is a number, as wallets compare it with the chain they are on.
boost::json::object typed_data_json(const Domain& domain,
                                    const TransferAuthorization& authorization);

/// transferWithAuthorization(…, uint8 v, bytes32 r, bytes32 s): every EIP-3009 token has it.
Bytes encode_transfer_with_authorization(const TransferAuthorization& authorization,
                                         const Signature& signature);
/// The same, of 65 bytes r, s, v as they are: for a contract wallet whatever they mean to it.
Bytes encode_transfer_with_authorization_by_parts(const TransferAuthorization& authorization,
                                                  ByteView signature);
/// transferWithAuthorization(…, bytes signature): tokens that also ask contract wallets (EIP-1271).
Bytes encode_transfer_with_authorization(const TransferAuthorization& authorization,
                                         ByteView signature);
/// cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s).
Bytes encode_cancel_authorization(const CancelAuthorization& authorization,
                                  const Signature& signature);
/// authorizationState(address authorizer, bytes32 nonce) returns (bool); read with
/// `decode_authorization_state`.
Bytes encode_authorization_state(const Address20& authorizer, const Bytes32& nonce);

/// True when the authorization was used or cancelled. Errors: bad_abi.
Result<bool> decode_authorization_state(ByteView answer);

struct TransferAuthorizationCall {
  TransferAuthorization authorization;
  std::variant<Signature, Bytes> signature;  ///< by overload; not checked in any way
};

/// Reads call data of either overload; the `bytes` signature at most 8 KiB.
/// Errors: other_call, bad_abi.
Result<TransferAuthorizationCall> decode_transfer_with_authorization(ByteView call_data);

}  // namespace holdfast::evm
