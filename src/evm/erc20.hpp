// Owns: the ERC-20 calls that we make and the answers to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/abi.hpp"
#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

namespace selectors {
inline constexpr abi::Selector transfer{0xa9, 0x05, 0x9c, 0xbb};
inline constexpr abi::Selector balance_of{0x70, 0xa0, 0x82, 0x31};
inline constexpr abi::Selector decimals{0x31, 0x3c, 0xe5, 0x67};
inline constexpr abi::Selector name{0x06, 0xfd, 0xde, 0x03};
inline constexpr abi::Selector version{0x54, 0xfd, 0x4d, 0x50};
inline constexpr abi::Selector domain_separator{0x36, 0x44, 0xe5, 0x15};
}  // namespace selectors

struct TransferCall {
  Address20 to;
  U256 amount;
  std::optional<Bytes32> ref;

  bool operator==(const TransferCall&) const = default;
};

/// transfer(address,uint256), with the payment ref as 32 more bytes behind the arguments: contracts
/// ignore what is behind their arguments, so the ref costs gas and nothing else.
Bytes encode_transfer(const TransferCall& call);
/// Reads what `encode_transfer` writes: 68 bytes, or 100 with a ref.
/// Errors: other_call, bad_abi.
Result<TransferCall> decode_transfer(ByteView call_data);

Bytes encode_balance_of(const Address20& account);
Bytes encode_decimals();
Bytes encode_name();
Bytes encode_version();
Bytes encode_domain_separator();

/// Answers of eth_call. Strict: exactly the words of the type. An empty answer (no contract there,
/// or no such function) is refused as such. Errors: bad_abi, naming `what`.
Result<U256> decode_uint_answer(ByteView answer, std::string_view what);
Result<std::uint8_t> decode_uint8_answer(ByteView answer, std::string_view what);
Result<Bytes32> decode_bytes32_answer(ByteView answer, std::string_view what);
/// UTF-8 of at most 256 bytes.
Result<std::string> decode_string_answer(ByteView answer, std::string_view what);

}  // namespace holdfast::evm
