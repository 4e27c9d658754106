#include <holdfast/http/keys.hpp>

#include <algorithm>
#include <array>

#include <holdfast/base/base64.hpp>

namespace holdfast::http {
namespace {

constexpr std::string_view token_prefix = "hf_";
constexpr std::size_t longest_name = 64;
constexpr std::array<std::string_view, 4> scopes = {"pay", "payout", "ops", "x402"};

std::string base64url(ByteView bytes) {
  std::string out = to_base64(bytes);
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  out.erase(out.find_last_not_of('=') + 1);
  return out;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string make_token(ports::Entropy& entropy) {
  std::array<Byte, 32> secret{};
  entropy.fill(secret);
  return std::string(token_prefix) + base64url(secret);
}

std::string derive_token(ByteView secret, ByteView salt, std::string_view request) {
  const Digest digest =
      FieldHash("holdfast/api-token/1").add(secret).add(salt).add(request).finish();
  return std::string(token_prefix) + base64url(digest);
}

Digest hash_token(std::string_view token) { return sha256(as_bytes(token)); }

bool is_key_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name || !is_letter_or_digit(name.front())) return false;
  return std::ranges::all_of(
      name, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

std::span<const std::string_view> known_scopes() { return scopes; }

bool is_scope(std::string_view scope) { return std::ranges::find(scopes, scope) != scopes.end(); }

}  // namespace holdfast::http
