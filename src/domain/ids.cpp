#include <holdfast/domain/ids.hpp>

#include <algorithm>

namespace holdfast::domain {
namespace {

constexpr std::string_view intent_prefix = "pi_";

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

std::string text(const IntentId& id) { return std::string(intent_prefix) + to_hex(id.view()); }

// One spelling only: an id in another case would be another key wherever ids are compared as text.
std::optional<IntentId> intent_id_from(std::string_view text) {
  if (!text.starts_with(intent_prefix)) return std::nullopt;
  text.remove_prefix(intent_prefix.size());
  if (text.size() != 2 * IntentId::size) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_lower_hex)) return std::nullopt;
  return IntentId::from_text(text);
}

}  // namespace holdfast::domain
