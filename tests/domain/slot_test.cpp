#include <array>
#include <set>
#include <utility>

#include <doctest/doctest.h>

#include <holdfast/domain/slot.hpp>

#include "domain/golden.hpp"

namespace holdfast::domain {
namespace {

using enum SlotState;

constexpr std::array all_states = {reserved, signed_,  broadcast,
                                   consumed, released, reconciliation_required};

SequenceView view(std::uint64_t latest, std::uint64_t pending,
                  std::optional<std::uint64_t> highest_used = {},
                  std::optional<std::uint64_t> free_released = {}) {
  SequenceView out;
  out.chain_latest = {latest};
  out.chain_pending = {pending};
  if (highest_used) out.highest_used = Sequence{*highest_used};
  if (free_released) out.lowest_free_released = Sequence{*free_released};
  return out;
}

}  // namespace

TEST_CASE("slot: the moves printed as text are the golden file, byte for byte") {
  CHECK(slot_moves_as_text() == test::golden("slot_moves.txt"));
}

TEST_CASE("slot: exactly the ten moves of the rules are legal, all other pairs are not") {
  const std::set<std::pair<SlotState, SlotState>> legal = {
      {reserved, signed_},
      {signed_, broadcast},
      {broadcast, consumed},
      {reserved, released},
      {reserved, reconciliation_required},
      {signed_, reconciliation_required},
      {broadcast, reconciliation_required},
      {consumed, reconciliation_required},
      {reconciliation_required, consumed},
      {reconciliation_required, broadcast},
  };
  for (const SlotState from : all_states) {
    for (const SlotState to : all_states) {
      CAPTURE(to_text(from));
      CAPTURE(to_text(to));
      CHECK(may_move(from, to) == legal.contains({from, to}));
    }
  }
}

TEST_CASE("slot: nothing that was signed is ever released, and nothing leaves released") {
  for (const SlotState state : all_states) {
    if (state != reserved) CHECK_FALSE(may_move(state, released));
    CHECK_FALSE(may_move(released, state));
    if (is_signed_and_unconsumed(state)) CHECK_FALSE(may_move(state, released));
  }
}

TEST_CASE("slot: signed and unconsumed means signed, broadcast or quarantined") {
  for (const SlotState state : all_states) {
    CHECK(is_signed_and_unconsumed(state) ==
          (state == signed_ || state == broadcast || state == reconciliation_required));
  }
}

TEST_CASE("slot: at the intent's end an unsigned slot is released and a signed one never is") {
  struct Row {
    SlotState state;
    bool on_chain;
    EndingSlot ending;
  };
  const Row rows[] = {
      {reserved, false, EndingSlot::release},
      {reserved, true, EndingSlot::release},
      {signed_, false, EndingSlot::hand_over},
      {signed_, true, EndingSlot::consume},
      {broadcast, false, EndingSlot::hand_over},
      {broadcast, true, EndingSlot::consume},
      {reconciliation_required, false, EndingSlot::hand_over},
      {reconciliation_required, true, EndingSlot::consume},
      {consumed, false, EndingSlot::keep},
      {consumed, true, EndingSlot::keep},
      {released, false, EndingSlot::keep},
      {released, true, EndingSlot::keep},
  };
  for (const Row& row : rows) {
    CAPTURE(to_text(row.state));
    CAPTURE(row.on_chain);
    CHECK(slot_at_end(row.state, row.on_chain) == row.ending);
  }
}

TEST_CASE("sequencer: the next number is above the chain, its pool and all we ever used") {
  CHECK(next_sequence(view(0, 0)).value == 0);
  CHECK(next_sequence(view(5, 5)).value == 5);
  CHECK(next_sequence(view(5, 7)).value == 7);
  CHECK(next_sequence(view(5, 7, 9)).value == 10);
  CHECK(next_sequence(view(12, 12, 9)).value == 12);
  CHECK(next_sequence(view(0, 0, 0)).value == 1);
}

TEST_CASE("sequencer: a node that lags never makes a number come back") {
  CHECK(next_sequence(view(3, 3, 41)).value == 42);
  CHECK(next_sequence(view(0, 0, 41)).value == 42);
  // The pool's view may be behind the chain's own.
  CHECK(next_sequence(view(50, 40, 41)).value == 50);
}

TEST_CASE("sequencer: the lowest free released number comes first, while the chain is behind it") {
  CHECK(next_sequence(view(5, 5, 9, 7)).value == 7);
  CHECK(next_sequence(view(7, 7, 9, 7)).value == 7);
  CHECK(next_sequence(view(8, 8, 9, 7)).value == 10);
  // Somebody's transaction stands there in the pool.
  CHECK(next_sequence(view(5, 8, 9, 7)).value == 10);
  // Even where nothing else is known of the account.
  CHECK(next_sequence(view(8, 8, {}, 7)).value == 8);
}

TEST_CASE("slot: states read back from the text they are written as") {
  for (const SlotState state : all_states) CHECK(slot_state_from(to_text(state)) == state);
  CHECK(to_text(signed_) == "signed");
  CHECK_FALSE(slot_state_from("signed_"));
}

}  // namespace holdfast::domain
