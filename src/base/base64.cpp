#include <holdfast/base/base64.hpp>

#include <array>

namespace holdfast {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr Byte foreign = 64;

constexpr std::array<Byte, 256> values_of_digits() {
  std::array<Byte, 256> out{};
  out.fill(foreign);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    out[static_cast<unsigned char>(digits[i])] = static_cast<Byte>(i);
  }
  return out;
}
constexpr std::array<Byte, 256> values = values_of_digits();

}  // namespace

std::string to_base64(ByteView bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  unsigned held = 0;
  unsigned bits = 0;
  for (const Byte byte : bytes) {
    held = (held << 8U) | byte;
    for (bits += 8; bits >= 6;) {
      bits -= 6;
      out.push_back(digits[(held >> bits) & 63U]);
    }
  }
  if (bits > 0) out.push_back(digits[(held << (6 - bits)) & 63U]);
  while (out.size() % 4 != 0) out.push_back('=');
  return out;
}

std::optional<Bytes> from_base64(std::string_view text, std::size_t most) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t pads = 0;
  while (pads < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++pads;
  }
  const std::size_t size = (text.size() + pads) / 4 * 3 - pads;
  if (size > most) return std::nullopt;
  Bytes out;
  out.reserve(size);
  unsigned held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const Byte value = values[static_cast<unsigned char>(c)];
    if (value == foreign) return std::nullopt;
    held = (held << 6U) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out.push_back(static_cast<Byte>(held >> bits));
  }
  // What is left over of the last digit is written as zeros.
  if ((held & ((1U << bits) - 1U)) != 0) return std::nullopt;
  return out;
}

}  // namespace holdfast
