#include "sim/names.hpp"

#include <holdfast/ports/chain.hpp>

namespace holdfast::sim {

namespace {

constexpr std::size_t longest = 64;

std::optional<std::string> canonical(std::string_view text) {
  if (text.empty() || text.size() > longest) return std::nullopt;
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_' || c == '-';
    if (!good) return std::nullopt;
    out.push_back(c);
  }
  return out;
}

}  // namespace

Result<domain::Address> parse_address(std::string_view text) {
  auto name = canonical(text);
  if (name) return domain::Address{std::move(*name)};
  return refuse(ports::ChainError::bad_address,
                "an address has 1 to 64 letters, digits, ':', '_' or '-'");
}

Result<domain::AssetId> parse_asset(std::string_view text) {
  auto name = canonical(text);
  if (name) return domain::AssetId{std::move(*name)};
  return refuse(ports::ChainError::bad_asset,
                "an asset has 1 to 64 letters, digits, ':', '_' or '-'");
}

}  // namespace holdfast::sim
