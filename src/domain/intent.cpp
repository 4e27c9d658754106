#include <holdfast/domain/intent.hpp>

#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<IntentState> state_texts[] = {
    {IntentState::created, "created"},   {IntentState::authorized, "authorized"},
    {IntentState::settling, "settling"}, {IntentState::confirming, "confirming"},
    {IntentState::settled, "settled"},   {IntentState::failed, "failed"},
    {IntentState::canceled, "canceled"}, {IntentState::needs_review, "needs_review"},
};
static_assert(std::size(state_texts) == intent_state_count);

constexpr EnumText<Actor> actor_texts[] = {
    {Actor::api, "api"},         {Actor::operator_, "operator"}, {Actor::system, "system"},
    {Actor::relayer, "relayer"}, {Actor::listener, "listener"},
};

}  // namespace

std::string_view to_text(IntentState state) { return text_of(state_texts, state); }

std::optional<IntentState> intent_state_from(std::string_view text) {
  return enum_of(state_texts, text);
}

bool is_terminal(IntentState state) {
  return state == IntentState::settled || state == IntentState::failed ||
         state == IntentState::canceled;
}

std::string_view to_text(Actor actor) { return text_of(actor_texts, actor); }

std::optional<Actor> actor_from(std::string_view text) { return enum_of(actor_texts, text); }

}  // namespace holdfast::domain
