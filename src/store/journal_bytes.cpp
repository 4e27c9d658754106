// How legs and balances are written as bytes; the layout is in the schema.
#include "store/journal.hpp"

namespace holdfast::store {
namespace {

constexpr std::size_t signed_size = 33;
constexpr std::size_t longest_account = 0xffff;

}  // namespace

std::array<Byte, 33> encode_signed(const domain::SignedAmount& amount) {
  std::array<Byte, signed_size> out{};
  out[0] = amount.negative ? 1 : 0;
  const auto magnitude = amount.magnitude.big_endian();
  std::copy(magnitude.begin(), magnitude.end(), out.begin() + 1);
  return out;
}

// One value has one spelling: a negative zero or another sign byte is no amount.
std::optional<domain::SignedAmount> decode_signed(ByteView bytes) {
  if (bytes.size() != signed_size || bytes[0] > 1) return std::nullopt;
  const auto magnitude = U256::from_big_endian(bytes.subspan(1));
  if (!magnitude) return std::nullopt;
  const bool negative = bytes[0] == 1;
  if (negative && magnitude->is_zero()) return std::nullopt;
  return domain::SignedAmount{negative, *magnitude};
}

Bytes encode_legs(const std::vector<domain::Leg>& legs) {
  Bytes out;
  for (const domain::Leg& leg : legs) {
    const std::size_t length = leg.account.size();
    ensure(length <= longest_account, "the name of a journal account is too long");
    out.push_back(static_cast<Byte>(length >> 8));
    out.push_back(static_cast<Byte>(length & 0xff));
    const ByteView account = as_bytes(leg.account);
    out.insert(out.end(), account.begin(), account.end());
    const auto amount = encode_signed(leg.amount);
    out.insert(out.end(), amount.begin(), amount.end());
  }
  return out;
}

std::optional<std::vector<domain::Leg>> decode_legs(ByteView bytes) {
  std::vector<domain::Leg> out;
  while (!bytes.empty()) {
    if (bytes.size() < 2) return std::nullopt;
    const std::size_t length = (std::size_t{bytes[0]} << 8) | bytes[1];
    bytes = bytes.subspan(2);
    if (bytes.size() < length + signed_size) return std::nullopt;
    const auto amount = decode_signed(bytes.subspan(length, signed_size));
    if (!amount) return std::nullopt;
    out.push_back({std::string(as_text(bytes.first(length))), *amount});
    bytes = bytes.subspan(length + signed_size);
  }
  return out;
}

}  // namespace holdfast::store
