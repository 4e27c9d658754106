// Owns: RLP, the serialisation of transactions (Ethereum yellow paper, appendix B).
// Must never: accept a second spelling of a value: the hash of what was decoded must be the hash
// of what would be encoded.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

namespace holdfast::evm::rlp {

/// Appends a byte string.
void append_bytes(Bytes& out, ByteView bytes);
/// Appends a number: big-endian without leading zeros, zero being the empty string.
void append_uint(Bytes& out, const U256& number);
/// Appends a list whose items, already encoded, are `payload`.
void append_list(Bytes& out, ByteView payload);

/// A decoded value. Views into the bytes that were decoded: keep those alive.
struct Item {
  bool is_list = false;
  ByteView bytes;           ///< the string, or the list's encoded items
  std::vector<Item> items;  ///< of a list
};

/// Bounds of a decode; over any of them is bad_rlp.
struct Limits {
  std::size_t bytes = 131'072;      ///< what nodes take as one transaction
  std::size_t depth = 8;           ///< lists within lists
  std::size_t items = 4096;        ///< of all lists together
};

/// Exactly one value over all of `encoded`, canonical in every length and byte.
/// Errors: bad_rlp with the offset of what is wrong.
Result<Item> decode(ByteView encoded, const Limits& limits = {});

/// The item as a number: a string without leading zeros of at most 32 bytes. `field` is named in
/// the refusal. Errors: bad_rlp.
Result<U256> to_uint(const Item& item, std::string_view field);
/// As `to_uint`, at most 2^64 − 1.
Result<std::uint64_t> to_u64(const Item& item, std::string_view field);

}  // namespace holdfast::evm::rlp
