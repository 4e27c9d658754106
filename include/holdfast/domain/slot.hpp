// Owns: one place in a sending account's sequence, its moves, and which number comes next.
// Must never: release what was signed: whoever holds the bytes may still run them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

enum class SlotState {
  reserved,
  signed_,  ///< "signed" in text
  broadcast,
  consumed,
  released,
  reconciliation_required,
};
std::string_view to_text(SlotState state);
std::optional<SlotState> slot_state_from(std::string_view text);

struct Slot {
  SlotId id;
  ChainId chain;
  Address account;
  Sequence sequence;
  SlotState state = SlotState::reserved;
  std::optional<IntentId> item;  ///< empty: bound to the account itself (a filled gap)
  bool handed_over = false;      ///< the account runs a noop here, pay bytes no more
  std::optional<TxHash> consumed_by;
};

/// signed, broadcast or reconciliation_required: bytes exist that may still run.
bool is_signed_and_unconsumed(SlotState state);
/// The moves of domain.md section 3.
bool may_move(SlotState from, SlotState to);
/// All slot moves as aligned text, pinned by a golden file.
std::string slot_moves_as_text();

/// What is known of an account when a number is asked for.
struct SequenceView {
  Sequence chain_latest;   ///< the node's count at latest
  Sequence chain_pending;  ///< the node's count with its pool
  /// Highest number ever signed, consumed, or bound to an item that has not ended.
  std::optional<Sequence> highest_used;
  /// Lowest released number whose own item has ended, if any.
  std::optional<Sequence> lowest_free_released;
};

/// Rule 3: the lowest free released number still ahead of the chain, else
/// max(latest, pending, 1 + highest used). A lagging node never makes a number come back.
Sequence next_sequence(const SequenceView& view);

enum class EndingSlot { release, consume, hand_over, keep };
/// What becomes of an intent's slot when the intent ends: never signed → release; mined → consume;
/// signed and not mined → hand over to the account; already consumed or released → keep.
EndingSlot slot_at_end(SlotState state, bool consumed_on_chain);

}  // namespace holdfast::domain
