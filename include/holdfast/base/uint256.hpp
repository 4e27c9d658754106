// Owns: the unsigned 256-bit integer every amount, balance and fee is held in.
// Must never: wrap around silently; arithmetic that does not fit says so.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/bytes.hpp>

namespace holdfast {

/// 0 … 2^256 − 1, four words, least significant first.
class U256 {
 public:
  constexpr U256() = default;
  constexpr U256(std::uint64_t value) : words_{value, 0, 0, 0} {}  // NOLINT: a number is a number

  static constexpr U256 max() {
    U256 out;
    out.words_ = {~0ULL, ~0ULL, ~0ULL, ~0ULL};
    return out;
  }

  /// A plain decimal: digits only, no sign, no leading zero (except "0"), at most 2^256 − 1.
  static std::optional<U256> from_decimal(std::string_view text);
  /// 1 to 64 hex digits behind "0x", leading zeros allowed (JSON-RPC quantities and words).
  static std::optional<U256> from_0x(std::string_view text);
  /// Big-endian, at most 32 bytes; longer is empty.
  static std::optional<U256> from_big_endian(ByteView bytes);

  std::string decimal() const;
  /// "0x" and the fewest digits ("0x0" for zero): the JSON-RPC quantity.
  std::string quantity() const;
  std::array<Byte, 32> big_endian() const;

  bool is_zero() const { return *this == U256{}; }
  /// The value when it fits into 64 bits.
  std::optional<std::uint64_t> to_u64() const;

  std::strong_ordering operator<=>(const U256& other) const;
  bool operator==(const U256&) const = default;

  /// Empty when the result does not fit (over 2^256 − 1, under 0, or divided by zero).
  std::optional<U256> plus(const U256& other) const;
  std::optional<U256> minus(const U256& other) const;
  std::optional<U256> times(const U256& other) const;
  std::optional<U256> divided_by(const U256& other) const;

  const std::array<std::uint64_t, 4>& words() const { return words_; }

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace holdfast
