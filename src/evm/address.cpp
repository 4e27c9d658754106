#include "evm/address.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "evm/codec_error.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t text_size = 2 + 2 * Address20::size;

bool is_lower(char c) { return c >= 'a' && c <= 'f'; }
bool is_upper(char c) { return c >= 'A' && c <= 'F'; }

std::string checksum_of(const Address20& address) {
  std::string out = address.hex();
  const Hash32 hash = keccak256(std::string_view(out).substr(2));
  for (std::size_t i = 0; i < out.size() - 2; ++i) {
    const int nibble = i % 2 == 0 ? hash.value[i / 2] >> 4 : hash.value[i / 2] & 15;
    char& c = out[i + 2];
    if (is_lower(c) && nibble >= 8) c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

}  // namespace

// The same addresses (tokens, our accounts, the payees of what is under way) are written and
// checked over and over: the text of each is kept where no other took its place.
std::string to_checksum(const Address20& address) {
  constexpr std::size_t places = 16'384;
  thread_local std::vector<std::pair<Address20, std::string>> kept(places);
  auto& [whose, text] = kept[(std::size_t{address.value[18]} << 8 | address.value[19]) % places];
  if (text.empty() || whose != address) {
    text = checksum_of(address);
    whose = address;
  }
  return text;
}

Result<Address20> parse_address(std::string_view text) {
  // from_text takes a missing prefix and "0X" too; addresses on the wire have exactly "0x".
  const bool shaped = text.size() == text_size && text.starts_with("0x");
  const auto address = shaped ? Address20::from_text(text) : std::nullopt;
  if (!address) {
    return refuse(CodecError::bad_address,
                  shaped ? "an address is 0x and 40 hex digits; one character is no hex digit"
                         : "an address is 0x and 40 hex digits, 42 characters; this text has " +
                               std::to_string(text.size()) +
                               (text.size() == text_size ? " but does not begin with 0x" : ""));
  }
  const std::string_view digits = text.substr(2);
  const bool mixed = std::ranges::any_of(digits, is_lower) && std::ranges::any_of(digits, is_upper);
  if (mixed && text != to_checksum(*address)) {
    return refuse(CodecError::bad_checksum,
                  "the address " + std::string(text) +
                      " has a wrong EIP-55 checksum: a digit was mistyped, or the case of a letter "
                      "was changed");
  }
  return *address;
}

}  // namespace holdfast::evm
