#include <holdfast/base/bytes.hpp>

namespace holdfast {
namespace {

constexpr char digits[] = "0123456789abcdef";

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view without_prefix(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return text;
}

void append_hex(std::string& out, ByteView bytes) {
  for (const Byte byte : bytes) {
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 15]);
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
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit_value(text[2 * i]);
    const int low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<Byte>(high << 4 | low);
  }
  return true;
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
