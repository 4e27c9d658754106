// Owns: what a sending account does about its own open numbers, as a pure function: rules 10 and 11
// of domain.md section 3. What a payment's delivery does for its number is `decide`'s.
// Must never: post a payment's bytes that should not run any more.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/slot.hpp>

namespace holdfast::domain {

/// Where the transactions signed for a number were found, the best of them.
enum class FoundAt {
  not_asked,
  unknown,  ///< no readable answer about at least one, and none found
  not_found,  ///< none is anywhere: says nothing about whether one can still run
  pending,
  mined,
};

/// One open number at or above the chain's count. The lowest is the next to be mined.
struct OpenNumber {
  SlotState state = SlotState::reserved;
  bool handed_over = false;
  std::optional<IntentState> item;  ///< empty: the account's own
  bool is_left = false;  ///< taken back by the chain, and its payment has got another since
  bool is_unwanted = false;  ///< past its payment's deadline by chain time, or cancel asked
  bool has_noop = false;
  bool noop_is_out = false;  ///< the newest noop was posted, and not provably kept back
  bool noop_is_refused = false;  ///< the newest noop, by word: the same bytes may never do
  FoundAt found = FoundAt::not_asked;
  bool is_quiet = false;  ///< nothing of it was posted for `stuck_after`
  bool block_since_post = true;
};

enum class Tend {
  leave,
  look,  ///< search for its hashes, then ask again
  hand_over,
  sign_noop,  ///< the first, and post it
  post_noop,  ///< the newest, again
  dearer_noop,  ///< a dearer one, and post it
  post_pay,  ///< the payment's newest accepted bytes, again
  release,  ///< nothing was signed there, and nobody will
};
std::string_view to_text(Tend what);
/// It puts bytes out, which is for when all below is out of its way.
bool posts(Tend what);

/// One answer per number, in their order (lowest first). `is_stuck`: the chain's count has not
/// moved for `stuck_after`.
std::vector<Tend> tend(std::span<const OpenNumber> numbers, bool is_stuck);

}  // namespace holdfast::domain
