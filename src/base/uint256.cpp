#include <holdfast/base/uint256.hpp>

#include <algorithm>

#include <boost/multiprecision/cpp_int.hpp>

namespace holdfast {
namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    512, 512, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;

Wide widen(const U256& value) {
  Wide out = 0;
  for (std::size_t i = 4; i-- > 0;) out = (out << 64) | value.words()[i];
  return out;
}

std::optional<U256> narrow(const Wide& value) {
  if ((value >> 256) != 0) return std::nullopt;
  const Wide low = ~std::uint64_t{0};
  std::array<Byte, 32> bytes{};
  Wide rest = value;
  for (std::size_t end = bytes.size(); end > 0; end -= 8) {
    auto word = static_cast<std::uint64_t>(rest & low);
    for (std::size_t at = end; at > end - 8; word >>= 8) bytes[--at] = static_cast<Byte>(word);
    rest >>= 64;
  }
  return U256::from_big_endian(bytes);
}

// Prices, gas and most amounts: no library is needed for those.
__extension__ using Double = unsigned __int128;

struct Small {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

std::optional<Small> both_small(const U256& left, const U256& right) {
  const auto one = left.to_u64();
  const auto other = right.to_u64();
  if (!one || !other) return std::nullopt;
  return Small{*one, *other};
}

}  // namespace

std::optional<U256> U256::from_decimal(std::string_view text) {
  constexpr std::size_t longest = 78;  // digits of 2^256 − 1
  constexpr std::uint64_t half = 0xFFFF'FFFF;
  if (text.empty() || text.size() > longest) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  U256 out;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    auto carry = static_cast<std::uint64_t>(c - '0');
    for (std::uint64_t& word : out.words_) {  // by halves, so that a product fits
      const std::uint64_t low = (word & half) * 10 + carry;
      const std::uint64_t high = (word >> 32) * 10 + (low >> 32);
      word = high << 32 | (low & half);
      carry = high >> 32;
    }
    if (carry != 0) return std::nullopt;
  }
  return out;
}

std::optional<U256> U256::from_0x(std::string_view text) {
  if (!text.starts_with("0x") || text.size() < 3 || text.size() > 66) return std::nullopt;
  std::string digits(text.substr(2));
  if (digits.size() % 2 == 1) digits.insert(digits.begin(), '0');
  const auto bytes = from_hex(digits);
  return bytes ? from_big_endian(*bytes) : std::nullopt;
}

std::optional<U256> U256::from_big_endian(ByteView bytes) {
  if (bytes.size() > 32) return std::nullopt;
  U256 out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t place = bytes.size() - 1 - i;
    out.words_[place / 8] |= static_cast<std::uint64_t>(bytes[i]) << (8 * (place % 8));
  }
  return out;
}

std::array<Byte, 32> U256::big_endian() const {
  std::array<Byte, 32> out{};
  for (std::size_t i = 0; i < 32; ++i) {
    out[31 - i] = static_cast<Byte>(words_[i / 8] >> (8 * (i % 8)));
  }
  return out;
}

std::string U256::decimal() const {
  return to_u64() ? std::to_string(words_[0]) : widen(*this).str();
}

std::string U256::quantity() const {
  const std::string digits = to_hex(big_endian());
  const auto first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return "0x" + digits.substr(first);
}

std::optional<std::uint64_t> U256::to_u64() const {
  if (words_[1] != 0 || words_[2] != 0 || words_[3] != 0) return std::nullopt;
  return words_[0];
}

std::strong_ordering U256::operator<=>(const U256& other) const {
  for (std::size_t i = 4; i-- > 0;) {
    if (words_[i] != other.words_[i]) return words_[i] <=> other.words_[i];
  }
  return std::strong_ordering::equal;
}

std::optional<U256> U256::plus(const U256& other) const {
  U256 out;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t half = words_[i] + carry;
    carry = half < carry ? 1 : 0;
    out.words_[i] = half + other.words_[i];
    if (out.words_[i] < half) carry = 1;
  }
  if (carry != 0) return std::nullopt;
  return out;
}

std::optional<U256> U256::minus(const U256& other) const {
  if (*this < other) return std::nullopt;
  U256 out;
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t less = words_[i] - borrow;
    borrow = words_[i] < borrow ? 1 : 0;
    out.words_[i] = less - other.words_[i];
    if (less < other.words_[i]) borrow = 1;
  }
  return out;
}

std::optional<U256> U256::times(const U256& other) const {
  if (const auto small = both_small(*this, other)) {
    const Double product = Double{small->left} * small->right;
    U256 out(static_cast<std::uint64_t>(product));
    out.words_[1] = static_cast<std::uint64_t>(product >> 64);
    return out;
  }
  return narrow(widen(*this) * widen(other));
}

std::optional<U256> U256::divided_by(const U256& other) const {
  if (other.is_zero()) return std::nullopt;
  if (const auto small = both_small(*this, other)) return U256(small->left / small->right);
  return narrow(widen(*this) / widen(other));
}

}  // namespace holdfast
