// Owns: the intent state machine as a table: the only place that says which move is legal.
// Must never: hold an all-powerful actor or a flag that skips a proof.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/intent.hpp>

namespace holdfast::domain {

enum class TransitionError {
  illegal_move = 1,  ///< not in the table: a bug, alert
  wrong_actor,       ///< in the table, for somebody else: a bug, alert
  missing_need,      ///< a hash, reason or proof the row asks for was not given: a bug
  terminal,          ///< the intent has ended: a race, let go
  version_conflict,  ///< somebody was faster: a race, read again
};
boost::system::error_code make_error_code(TransitionError error);

/// What must come with a move.
enum class Need : unsigned {
  none = 0,
  reason = 1,
  tx_hash = 2,         ///< a transaction the engine read or a node accepted
  final_evidence = 4,  ///< at finality it moved this asset to this payee
  unredeemable = 8,    ///< a proof of unredeemable.hpp
  no_attempt = 16,     ///< no attempt row of any kind
};
constexpr Need operator|(Need left, Need right) {
  return static_cast<Need>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr bool has(Need set, Need one) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0;
}

/// What the store does in the same transaction.
enum class Effect : unsigned {
  none = 0,
  enqueue_settle = 1,
  journal_hold = 2,
  reserve = 4,
  journal_post = 8,
  journal_void = 16,
  end_slot = 32,       ///< released, consumed or handed to the account (slot.hpp)
  release_unsigned = 64,  ///< a slot with no attempt row is released
};
constexpr Effect operator|(Effect left, Effect right) {
  return static_cast<Effect>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr bool has(Effect set, Effect one) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0;
}

struct Transition {
  IntentState from;
  IntentState to;
  std::span<const Actor> actors;
  Need needs;
  Effect effects;
};

/// All legal moves, in the order of domain.md section 2.
std::span<const Transition> transitions();

/// The table as aligned text, pinned by a golden file.
std::string transitions_as_text();

/// What the mover brings along.
struct Offer {
  Actor actor;
  bool reason = false;
  bool tx_hash = false;
  bool final_evidence = false;
  bool unredeemable = false;
  bool no_attempt = false;
};

/// The row for this move; empty value = a replay (it is there already: no change, no error).
/// A terminal intent asked for another state: `terminal`.
Result<std::optional<Transition>> check_transition(IntentState from, IntentState to,
                                                   const Offer& offer);

/// The review reasons, all there are.
std::span<const std::string_view> review_reasons();

}  // namespace holdfast::domain

template <>
struct boost::system::is_error_code_enum<holdfast::domain::TransitionError> : std::true_type {};
