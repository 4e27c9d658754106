#include <holdfast/base/bytes.hpp>

#include <array>

namespace holdfast {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

/// Of each character; 255: it is no digit.
constexpr std::array<Byte, 256> digit_values = [] {
  std::array<Byte, 256> values{};
  values.fill(255);
  for (Byte digit = 0; digit < 16; ++digit) {
    const char c = digits[digit];
    values.at(static_cast<Byte>(c)) = digit;
    if (digit >= 10) values.at(static_cast<Byte>(c - 'a' + 'A')) = digit;
  }
  return values;
}();

std::string_view without_prefix(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return text;
}

void append_hex(std::string& out, ByteView bytes) {
  std::size_t at = out.size();
  out.resize(at + 2 * bytes.size());
  for (const Byte byte : bytes) {
    out[at++] = digits[byte >> 4];
    out[at++] = digits[byte & 15];
  }
}

}  // namespace

std::string to_hex(ByteView bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  append_hex(out, bytes);
  return out;
}

std::string to_0x(ByteView bytes) {
  std::string out;
  out.reserve(2 + bytes.size() * 2);
  out = "0x";
  append_hex(out, bytes);
  return out;
}

bool from_hex_into(std::string_view text, std::span<Byte> out) {
  text = without_prefix(text);
  if (text.size() != out.size() * 2) return false;
  Byte wrong = 0;  // its upper half is zero as long as all are digits
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Byte high = digit_values[static_cast<Byte>(text[2 * i])];
    const Byte low = digit_values[static_cast<Byte>(text[2 * i + 1])];
    wrong = static_cast<Byte>(wrong | high | low);
    out[i] = static_cast<Byte>(high << 4 | (low & 15));
  }
  return wrong < 16;
}

std::optional<Bytes> from_hex(std::string_view text) {
  Bytes out(without_prefix(text).size() / 2);
  if (!from_hex_into(text, out)) return std::nullopt;
  return out;
}

bool equal_constant_time(ByteView left, ByteView right) {
  if (left.size() != right.size()) return false;
  volatile Byte difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<Byte>(difference | (left[i] ^ right[i]));
  }
  return difference == 0;
}

}  // namespace holdfast
