#include "evm/utf8.hpp"

namespace holdfast::evm {

CodePoint first_code_point(ByteView text) {
  if (text.empty()) return {};
  const Byte lead = text[0];
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (size == 0 || lead > 0xf4 || text.size() < size) return {};
  std::uint32_t value = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((text[i] & 0xc0) != 0x80) return {};
    value = value << 6 | (text[i] & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[size] || surrogate || value > 0x10ffff) return {};
  return {value, size};
}

bool is_utf8(ByteView text) {
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (next.size == 0) return false;
    text = text.subspan(next.size);
  }
  return true;
}

}  // namespace holdfast::evm
