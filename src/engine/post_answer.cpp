#include "engine/post_answer.hpp"

#include "base/teeth.hpp"

namespace holdfast::engine {

using domain::PostAnswer;

PostAnswer post_answer(ports::RefusalKind kind) {
  using enum ports::RefusalKind;
  switch (kind) {
    case nonce_too_low:
      return planted(Tooth::too_low_is_ours) ? PostAnswer::accepted : PostAnswer::nonce_too_low;
    case nonce_too_high:
    case replacement_underpriced:  // the slot is occupied, perhaps by our own bytes: never success
    case type_conflict:
    case over_fee_cap:
    case unfunded:
    case pool_full: return PostAnswer::refused_transient;
    case underpriced:
    case gas:
    case tx_type: return PostAnswer::refused_curable;
    case malformed:
    case stuck_for_good: return PostAnswer::refused_for_good;
    // Not answers to a post at all, or of no known meaning: nothing is believed.
    case reverted:
    case no_such_method:
    case other: return PostAnswer::unknown;
  }
  return PostAnswer::unknown;
}

PostAnswer post_answer(const ports::Outcome<ports::Posted>& outcome) {
  return outcome.match([](const ports::Posted&) { return PostAnswer::accepted; },
                       [](const ports::Refused& no) { return post_answer(no.kind); },
                       [](const ports::NotSent&) { return PostAnswer::not_sent; },
                       [](const ports::Unknown&) { return PostAnswer::unknown; });
}

PostAnswer sender_answer(const ports::Outcome<std::optional<domain::TxHash>>& outcome) {
  return outcome.match([](const std::optional<domain::TxHash>&) { return PostAnswer::accepted; },
                       [](const ports::Refused& no) { return post_answer(no.kind); },
                       [](const ports::NotSent&) { return PostAnswer::not_sent; },
                       [](const ports::Unknown&) { return PostAnswer::unknown; });
}

domain::AttemptOutcome outcome_of(PostAnswer answer) {
  using domain::AttemptOutcome;
  switch (answer) {
    case PostAnswer::accepted: return AttemptOutcome::accepted;
    case PostAnswer::nonce_too_low:
    case PostAnswer::refused_transient:
    case PostAnswer::refused_curable:
    case PostAnswer::refused_for_good: return AttemptOutcome::refused;
    case PostAnswer::not_its_turn:
    case PostAnswer::not_sent: return AttemptOutcome::not_sent;
    case PostAnswer::unknown: return AttemptOutcome::unknown;
  }
  return AttemptOutcome::unknown;
}

PostAnswer note_post(Core& core, Unit& unit, const std::optional<domain::IntentId>& item,
                     const std::optional<ports::Outcome<ports::Posted>>& answer) {
  const PostAnswer meaning = answer ? post_answer(*answer) : PostAnswer::not_its_turn;
  if (outcome_of(meaning) == domain::AttemptOutcome::not_sent) return meaning;
  ++core.stats.posts;
  if (meaning == PostAnswer::unknown) ++core.stats.posts_unknown;
  if (item) {
    unit.watch.posted(*item, core.parts.clock.mono_ms(), unit.view.heights().latest);
  }
  return meaning;
}

store::PostRecord post_record(const Core& core, domain::AttemptId attempt, PostAnswer meaning) {
  std::string detail;
  if (meaning != PostAnswer::accepted) detail = domain::to_text(meaning);
  return {attempt, outcome_of(meaning), std::move(detail), std::nullopt, core.wall_ms()};
}

}  // namespace holdfast::engine
