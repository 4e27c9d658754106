// Owns: Keccak-256, the hash of everything on an EVM chain (not SHA3-256: the padding differs).
#pragma once

#include <string_view>

#include <holdfast/base/bytes.hpp>

namespace holdfast::evm {

/// What Keccak-256 gives: transaction hashes, digests to sign, struct hashes.
using Hash32 = FixedBytes<32, struct Hash32Tag>;
/// A `bytes32` of a contract: log topics, authorization nonces, payment refs.
using Bytes32 = FixedBytes<32, struct Bytes32Tag>;

/// 64 hex digits known at compile time.
consteval Bytes32 bytes32_literal(std::string_view hex) {
  if (hex.size() != 64) throw "64 hex digits are needed";
  Bytes32 out;
  for (std::size_t i = 0; i < 64; ++i) {
    const char c = hex[i];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) throw "a lower-case hex digit is needed";
    const int value = digit ? c - '0' : c - 'a' + 10;
    out.value[i / 2] = static_cast<Byte>(out.value[i / 2] * 16 + value);
  }
  return out;
}

Hash32 keccak256(ByteView bytes);
inline Hash32 keccak256(std::string_view text) { return keccak256(as_bytes(text)); }

}  // namespace holdfast::evm
