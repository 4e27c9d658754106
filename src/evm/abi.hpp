// Owns: the contract ABI's words and dynamic bytes: a writer of calls and a strict reader.
// Must never: grow into a general ABI library; what we call is listed in erc20.hpp and eip3009.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm::abi {

/// The first four bytes of a call: those of keccak256 of the function's signature.
using Selector = std::array<Byte, 4>;

/// Computed; the selectors that we use are constants, and a test compares the two.
Selector selector_of(std::string_view signature);

/// Appends one word: a number, an address behind 12 zero bytes, 32 bytes as they are.
void append_word(Bytes& out, const U256& number);
void append_word(Bytes& out, const Address20& address);
void append_word(Bytes& out, ByteView bytes32);

/// Writes a call argument by argument, in the order of the signature.
class CallWriter {
 public:
  explicit CallWriter(const Selector& selector) : head_(selector.begin(), selector.end()) {}

  CallWriter& uint(const U256& number);
  CallWriter& address(const Address20& address);
  CallWriter& bytes32(const Bytes32& bytes);
  /// A dynamic `bytes`: its offset in the head, its length and padded content in the tail.
  CallWriter& bytes(ByteView bytes);

  Bytes finish() const;

 private:
  Bytes head_;
  std::vector<std::pair<std::size_t, Bytes>> tails_;  // where in the head the offset goes
};

/// Reads arguments or answers word by word, in order. The first refusal sticks and everything read
/// after it is zero: read all, then ask `finish` once. Refusals are bad_abi and name `what` and the
/// field, where there is one that can be wrong.
class Reader {
 public:
  /// `head_words`: how many words the head has, one for each argument.
  Reader(ByteView data, std::size_t head_words, std::string_view what);

  U256 uint();
  /// At most `bits` wide (a multiple of 8), as `uint8`.
  std::uint64_t small_uint(std::string_view field, unsigned bits);
  Address20 address(std::string_view field);
  Bytes32 bytes32();
  /// Exactly 0 or 1.
  bool boolean(std::string_view field);
  /// A dynamic `bytes` or `string` of at most `limit` bytes whose content comes next in the tail
  /// (where every compiler puts it), with zeros up to the next word.
  Bytes bytes(std::string_view field, std::size_t limit);

  /// Refuses what went wrong, or bytes that nothing read.
  Result<void> finish() const;

 private:
  ByteView next_word();
  void refuse_field(std::string_view field, std::string_view reason);

  ByteView data_;
  std::string what_;
  std::size_t head_end_;
  std::size_t at_ = 0;  // in the head
  std::size_t tail_at_;  // where the next dynamic content begins
  std::string refusal_;
};

}  // namespace holdfast::evm::abi
