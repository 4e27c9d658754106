#include <holdfast/domain/reconcile.hpp>

namespace holdfast::domain {
namespace {

SlotState target(bool any_attempt, FoundAt found, bool is_final) {
  if (!any_attempt) return SlotState::released;
  if (found == FoundAt::mined && is_final) return SlotState::consumed;
  if (found == FoundAt::mined || found == FoundAt::pending) return SlotState::broadcast;
  return SlotState::reconciliation_required;
}

}  // namespace

std::optional<SlotState> reconciled(SlotState state, bool any_attempt, FoundAt found,
                                    bool is_final) {
  if (state == SlotState::released || state == SlotState::consumed) return std::nullopt;
  const bool unread = found == FoundAt::unknown || found == FoundAt::not_asked;
  if (any_attempt && unread) return std::nullopt;
  // Signed, and the record of it is lost: nothing is known of what may run.
  if (!any_attempt && state != SlotState::reserved) {
    return state == SlotState::reconciliation_required
               ? std::nullopt
               : std::optional(SlotState::reconciliation_required);
  }
  const SlotState to = target(any_attempt, found, is_final);
  return to == state ? std::nullopt : std::optional(to);
}

}  // namespace holdfast::domain
