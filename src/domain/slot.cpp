#include <holdfast/domain/slot.hpp>

#include <algorithm>
#include <limits>

#include "base/teeth.hpp"
#include "domain/aligned_text.hpp"
#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<SlotState> state_texts[] = {
    {SlotState::reserved, "reserved"},
    {SlotState::signed_, "signed"},
    {SlotState::broadcast, "broadcast"},
    {SlotState::consumed, "consumed"},
    {SlotState::released, "released"},
    {SlotState::reconciliation_required, "reconciliation_required"},
};

struct SlotMove {
  SlotState from;
  SlotState to;
  std::string_view when;
};

// No move leaves `released`: rebinding its number takes a new row. No move but the first takes
// `released`: signed bytes may be run by whoever holds them.
constexpr SlotMove moves[] = {
    {SlotState::reserved, SlotState::signed_, "an attempt was stored"},
    {SlotState::reserved, SlotState::released, "nothing was signed, and nothing will be"},
    {SlotState::reserved, SlotState::reconciliation_required, "the chain has passed it"},
    {SlotState::signed_, SlotState::broadcast, "a node has its bytes, or a block does"},
    {SlotState::signed_, SlotState::reconciliation_required, "its bytes are nowhere to be found"},
    {SlotState::broadcast, SlotState::consumed, "a transaction there is final"},
    {SlotState::broadcast, SlotState::reconciliation_required, "its bytes are nowhere to be found"},
    {SlotState::consumed, SlotState::reconciliation_required, "the chain took back finality"},
    {SlotState::reconciliation_required, SlotState::consumed, "a transaction there is final"},
    {SlotState::reconciliation_required, SlotState::broadcast,
     "the stored bytes were posted again"},
};

}  // namespace

std::string_view to_text(SlotState state) { return text_of(state_texts, state); }

std::optional<SlotState> slot_state_from(std::string_view text) {
  return enum_of(state_texts, text);
}

bool is_signed_and_unconsumed(SlotState state) {
  return state == SlotState::signed_ || state == SlotState::broadcast ||
         state == SlotState::reconciliation_required;
}

bool may_move(SlotState from, SlotState to) {
  if (planted(Tooth::release_signed) && to == SlotState::released) return true;
  return std::any_of(std::begin(moves), std::end(moves),
                     [&](const SlotMove& move) { return move.from == from && move.to == to; });
}

std::string slot_moves_as_text() {
  AlignedText text({"from", "to", "when"});
  for (const SlotMove& move : moves) {
    text.add(
        {std::string(to_text(move.from)), std::string(to_text(move.to)), std::string(move.when)});
  }
  return text.str();
}

Sequence next_sequence(const SequenceView& view) {
  const Sequence chain = std::max(view.chain_latest, view.chain_pending);
  // Below the pool's count somebody's transaction stands at the number already.
  if (view.lowest_free_released && *view.lowest_free_released >= chain) {
    return *view.lowest_free_released;
  }
  if (!view.highest_used || planted(Tooth::lagging_count)) return chain;
  ensure(view.highest_used->value < std::numeric_limits<std::uint64_t>::max(),
         "an account's sequence is exhausted");
  return std::max(chain, view.highest_used->next());
}

EndingSlot slot_at_end(SlotState state, bool consumed_on_chain) {
  switch (state) {
    case SlotState::reserved: return EndingSlot::release;
    case SlotState::consumed:
    case SlotState::released: return EndingSlot::keep;
    case SlotState::signed_:
    case SlotState::broadcast:
    case SlotState::reconciliation_required:
      if (planted(Tooth::release_signed)) return EndingSlot::release;
      return consumed_on_chain ? EndingSlot::consume : EndingSlot::hand_over;
  }
  ensure(false, "a slot state without an ending");
  return EndingSlot::keep;
}

}  // namespace holdfast::domain
