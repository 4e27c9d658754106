#include <holdfast/domain/follow.hpp>

#include "base/teeth.hpp"

namespace holdfast::domain {
namespace {

/// Less than the amount arrived, and that is enough where tokens take a fee.
bool is_short_enough(const Evidence& evidence, const Policy& policy) {
  const bool may_be = policy.settle_short || planted(Tooth::short_taken);
  return evidence.moved == Moved::less && may_be && !evidence.arrived.is_zero();
}

Follow follow_final(const FollowSeen& seen, const Policy& policy) {
  if (seen.evidence.moved == Moved::exact) return {FollowMove::settle, "final"};
  if (is_short_enough(seen.evidence, policy)) return {FollowMove::settle, "final_short"};
  // Somebody else's transaction that moved something else says nothing about our own bytes, where
  // there are any.
  const bool ours = seen.own_hash || seen.stands_on_other || seen.evidence.moved == Moved::less;
  if (!ours) return {FollowMove::wait, ""};
  return {FollowMove::review, "transfer_mismatch"};
}

Follow follow_confirming(const Intent& intent, const FollowSeen& seen, const Policy& policy) {
  switch (seen.verdict) {
    case Verdict::lost: return {FollowMove::back, "reorg"};
    case Verdict::final: return follow_final(seen, policy);
    case Verdict::failed:
      // A bearer's signature is public and may still be run by anyone: our revert proves nothing.
      if (seen.stands_on_other) return {FollowMove::back, "reverted"};
      if (!seen.own_hash) return {FollowMove::wait, ""};
      return intent.bearer ? Follow{FollowMove::back, "reverted"}
                           : Follow{FollowMove::fail, "reverted"};
    case Verdict::pending: break;
  }
  const bool stuck = !seen.included && seen.lowest_since_post_ms.has_value() &&
                     *seen.lowest_since_post_ms >= policy.stuck_after_ms;
  return stuck ? Follow{FollowMove::back, "stuck"} : Follow{FollowMove::wait, ""};
}

}  // namespace

std::string_view to_text(FollowMove move) {
  switch (move) {
    case FollowMove::wait: return "wait";
    case FollowMove::confirm: return "confirm";
    case FollowMove::settle: return "settle";
    case FollowMove::review: return "review";
    case FollowMove::fail: return "fail";
    case FollowMove::back: return "back";
  }
  return "";
}

Follow follow(const Intent& intent, const FollowSeen& seen, const Policy& policy) {
  const bool pays = seen.evidence.moved == Moved::exact || is_short_enough(seen.evidence, policy);
  const bool evidence = seen.included && seen.verdict != Verdict::lost && pays;
  switch (intent.state) {
    case IntentState::settling:
    case IntentState::needs_review:
      return evidence ? Follow{FollowMove::confirm, "mined"} : Follow{FollowMove::wait, ""};
    case IntentState::confirming: return follow_confirming(intent, seen, policy);
    default: return {FollowMove::wait, ""};
  }
}

}  // namespace holdfast::domain
