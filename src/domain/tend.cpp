#include <holdfast/domain/tend.hpp>

#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<Tend> tend_texts[] = {
    {Tend::leave, "leave"},         {Tend::look, "look"},
    {Tend::hand_over, "hand_over"}, {Tend::sign_noop, "sign_noop"},
    {Tend::post_noop, "post_noop"}, {Tend::dearer_noop, "dearer_noop"},
    {Tend::post_pay, "post_pay"},   {Tend::release, "release"},
};

/// What holds for a number because of those below it.
struct Line {
  bool in_order = true;    ///< everything below was posted
  bool is_stuck = false;   ///< nothing was mined of it for too long
  bool is_lowest = false;
};

// A number of the account's: its noop is signed, posted, posted again while it is nowhere, and made
// dearer while it is the lowest and stuck.
Tend tend_own(const OpenNumber& number, const Line& line) {
  if (!line.in_order) return Tend::leave;
  if (!number.has_noop) return Tend::sign_noop;
  if (!number.noop_is_out) return Tend::post_noop;
  if (!line.is_stuck || !number.is_quiet) return Tend::leave;
  switch (number.found) {
    case FoundAt::not_asked: return Tend::look;
    case FoundAt::not_found: return number.noop_is_refused ? Tend::dearer_noop : Tend::post_noop;
    case FoundAt::pending:
      return line.is_lowest && number.block_since_post ? Tend::dearer_noop : Tend::leave;
    case FoundAt::unknown:
    case FoundAt::mined: return Tend::leave;
  }
  return Tend::leave;
}

// A payment that nobody delivers: its bytes go out again while they are nowhere.
Tend tend_waiting(const OpenNumber& number, const Line& line) {
  if (number.item == IntentState::needs_review && number.is_unwanted) return Tend::hand_over;
  if (!line.in_order || !line.is_stuck || !number.is_quiet || number.is_unwanted) {
    return Tend::leave;
  }
  if (number.found == FoundAt::not_asked) return Tend::look;
  return number.found == FoundAt::not_found ? Tend::post_pay : Tend::leave;
}

Tend tend_taken_back(const OpenNumber& number, const Line& line) {
  if (!line.is_stuck) return Tend::leave;
  if (number.found == FoundAt::not_asked) return Tend::look;
  return number.found == FoundAt::not_found ? Tend::hand_over : Tend::leave;
}

// A number nothing was signed for, of a payment that stands on somebody else's transaction or waits
// for a person: nobody will sign there, and what is above would wait for it.
bool is_idle(const OpenNumber& number) {
  return number.state == SlotState::reserved && number.item &&
         (*number.item == IntentState::confirming || *number.item == IntentState::needs_review);
}

Tend tend_one(const OpenNumber& number, const Line& line) {
  if (is_idle(number)) return Tend::release;
  if (!is_signed_and_unconsumed(number.state)) return Tend::leave;
  if (number.handed_over || !number.item) return tend_own(number, line);
  // What was signed there would pay beside what was signed at the number it has now.
  if (number.is_left) return Tend::hand_over;
  switch (*number.item) {
    case IntentState::confirming:
    case IntentState::needs_review: return tend_waiting(number, line);
    // An ended payment's number was handed over as it ended, or consumed; if what consumed it was
    // taken back with finality, and is nowhere, the account fills it.
    case IntentState::settled:
    case IntentState::failed: return tend_taken_back(number, line);
    default: return Tend::leave;  // a delivery's
  }
}

// After this tending, is the number out of the way of those above it?
bool is_out(const OpenNumber& number, Tend what) {
  if (posts(what) || what == Tend::release) return true;
  return number.state == SlotState::broadcast ||
         number.state == SlotState::reconciliation_required || number.noop_is_out;
}

}  // namespace

std::string_view to_text(Tend what) { return text_of(tend_texts, what); }

bool posts(Tend what) {
  return what == Tend::sign_noop || what == Tend::post_noop || what == Tend::dearer_noop ||
         what == Tend::post_pay;
}

std::vector<Tend> tend(std::span<const OpenNumber> numbers, bool is_stuck) {
  std::vector<Tend> out;
  out.reserve(numbers.size());
  Line line;
  line.is_stuck = is_stuck;
  for (const OpenNumber& number : numbers) {
    line.is_lowest = out.empty();
    out.push_back(tend_one(number, line));
    line.in_order = line.in_order && is_out(number, out.back());
  }
  return out;
}

}  // namespace holdfast::domain
