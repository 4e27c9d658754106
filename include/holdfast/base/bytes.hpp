// Owns: byte strings and fixed-size byte values with a meaning (ids, hashes), and their hex text.
// Must never: know what a chain or a payment is.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

using Byte = std::uint8_t;
using Bytes = std::vector<Byte>;
using ByteView = std::span<const Byte>;

/// Lower-case hex without a prefix.
std::string to_hex(ByteView bytes);
/// Lower-case hex behind "0x".
std::string to_0x(ByteView bytes);
/// Reads hex in either case, with or without "0x". Empty when a digit is odd or foreign.
std::optional<Bytes> from_hex(std::string_view text);
/// As `from_hex`, into exactly `out.size()` bytes; false (and `out` unspecified) otherwise.
bool from_hex_into(std::string_view text, std::span<Byte> out);

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const Byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// True when both are equal; takes the same time wherever they differ. For secrets.
bool equal_constant_time(ByteView left, ByteView right);

/// `N` bytes that mean one thing: two kinds with different tags never compare or convert.
template <std::size_t N, class Tag>
struct FixedBytes {
  std::array<Byte, N> value{};

  static constexpr std::size_t size = N;

  /// From exactly N bytes; empty otherwise.
  static std::optional<FixedBytes> from(ByteView bytes) {
    if (bytes.size() != N) return std::nullopt;
    FixedBytes out;
    std::memcpy(out.value.data(), bytes.data(), N);
    return out;
  }
  /// From hex of exactly N bytes, with or without "0x"; empty otherwise.
  static std::optional<FixedBytes> from_text(std::string_view hex) {
    FixedBytes out;
    if (!from_hex_into(hex, out.value)) return std::nullopt;
    return out;
  }

  ByteView view() const { return value; }
  std::string hex() const { return to_0x(value); }
  bool is_zero() const { return *this == FixedBytes{}; }

  auto operator<=>(const FixedBytes&) const = default;
};

}  // namespace holdfast

template <std::size_t N, class Tag>
struct std::hash<holdfast::FixedBytes<N, Tag>> {
  // The bytes are ids and digests, evenly spread already: the first word is hash enough.
  std::size_t operator()(const holdfast::FixedBytes<N, Tag>& bytes) const noexcept {
    static_assert(N >= sizeof(std::size_t));
    std::size_t out = 0;
    std::memcpy(&out, bytes.value.data(), sizeof out);
    return out;
  }
};
