// Owns: exact payments through x402's proxy over Permit2: what is signed, and the calls. Facts: the
// published contracts, and the npm package @x402/evm.
// Must never: judge an authorization's times or amounts; that is the method's work.
#pragma once

#include <cstdint>

#include <boost/json/fwd.hpp>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/abi.hpp"
#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

/// The same on every chain that has them.
inline const Address20 permit2_address =
    *Address20::from_text("0x000000000022D473030F116dDEE9F6B43aC78BA3");
inline const Address20 exact_proxy_address =
    *Address20::from_text("0x402085c248EeA27D92E8b30b2C58ed07f9E20001");

/// PermitWitnessTransferFrom with the proxy as spender and its Witness(to, validAfter). Runs when
/// valid_after <= block time <= deadline.
struct ExactPermit {
  Address20 owner;
  Address20 token;
  Address20 to;
  U256 amount;
  U256 nonce;  ///< unordered: each of the owner's 2^256 once, whatever the token
  U256 deadline;
  U256 valid_after;

  bool operator==(const ExactPermit&) const = default;
};

/// What the payer signs, on this chain.
Hash32 exact_permit_digest(std::uint64_t chain_id, const ExactPermit& permit);

/// The request of eth_signTypedData_v4, as typed_data_json of eip3009.hpp.
boost::json::object typed_data_json(std::uint64_t chain_id, const ExactPermit& permit);

/// settle(permit, owner, witness, signature) of the proxy.
Bytes encode_settle(const ExactPermit& permit, ByteView signature);
/// Reads call data of settle or settleWithPermit; what is behind the arguments may be anything, as
/// it may be for the contract. Errors: other_call, bad_abi.
Result<ExactPermit> decode_settle(ByteView call_data);

/// nonceBitmap(address owner, uint256 word) returns (uint256), asked for the nonce's word.
Bytes encode_nonce_bitmap(const Address20& owner, const U256& nonce);
/// Is the nonce's bit set? Errors: bad_abi.
Result<bool> decode_nonce_used(ByteView answer, const U256& nonce);

/// allowance(address owner, address spender) of a token.
Bytes encode_allowance(const Address20& owner, const Address20& spender);

}  // namespace holdfast::evm
