#include <doctest/doctest.h>

#include <holdfast/domain/tend.hpp>

namespace holdfast::domain {
namespace {

OpenNumber of(IntentState item, SlotState state = SlotState::broadcast) {
  OpenNumber out;
  out.state = state;
  out.item = item;
  return out;
}
OpenNumber quiet(OpenNumber number, FoundAt found = FoundAt::not_asked) {
  number.is_quiet = true;
  number.found = found;
  return number;
}
OpenNumber handed(bool signed_noop = false, bool out_already = false) {
  OpenNumber out = of(IntentState::settling);
  out.handed_over = true;
  out.has_noop = signed_noop;
  out.noop_is_out = out_already;
  return out;
}
Tend alone(const OpenNumber& number) { return tend(std::span(&number, 1), true).front(); }

TEST_CASE("tend: a number handed to the account gets a noop, and the noop is posted") {
  CHECK(alone(handed()) == Tend::sign_noop);
  CHECK(alone(handed(true)) == Tend::post_noop);
  CHECK(alone(handed(true, true)) == Tend::leave);
  OpenNumber own = handed();
  own.item.reset();
  own.handed_over = false;
  CHECK(alone(own) == Tend::sign_noop);
}

TEST_CASE("tend: a noop that is stuck is looked for, posted again or made dearer") {
  CHECK(alone(quiet(handed(true, true))) == Tend::look);
  CHECK(alone(quiet(handed(true, true), FoundAt::not_found)) == Tend::post_noop);
  CHECK(alone(quiet(handed(true, true), FoundAt::pending)) == Tend::dearer_noop);
  OpenNumber refused = quiet(handed(true, true), FoundAt::not_found);
  refused.noop_is_refused = true;
  CHECK(alone(refused) == Tend::dearer_noop);
  CHECK(alone(quiet(handed(true, true), FoundAt::unknown)) == Tend::leave);
  CHECK(alone(quiet(handed(true, true), FoundAt::mined)) == Tend::leave);
  OpenNumber no_block = quiet(handed(true, true), FoundAt::pending);
  no_block.block_since_post = false;
  CHECK(alone(no_block) == Tend::leave);
}

// What was signed there must not run beside what was signed at the number its payment has now.
TEST_CASE(
    "tend: a number taken back by the chain, whose payment has another, goes to the account") {
  for (const IntentState item : {IntentState::settling, IntentState::confirming,
                                 IntentState::needs_review, IntentState::settled}) {
    for (const FoundAt found : {FoundAt::not_asked, FoundAt::not_found, FoundAt::pending}) {
      OpenNumber left = of(item, SlotState::reconciliation_required);
      left.found = found;
      left.is_left = true;
      CHECK(tend(std::span(&left, 1), false).front() == Tend::hand_over);
      left.handed_over = true;
      CHECK(alone(left) == Tend::sign_noop);
    }
  }
}

TEST_CASE("tend: only the lowest is made dearer") {
  const std::vector<OpenNumber> line{quiet(of(IntentState::confirming), FoundAt::pending),
                                     quiet(handed(true, true), FoundAt::pending)};
  CHECK(tend(line, true) == std::vector{Tend::leave, Tend::leave});
}

TEST_CASE("tend: a pool that lost everything gets it back in order, once the lowest is quiet") {
  const OpenNumber lost = quiet(of(IntentState::confirming), FoundAt::not_found);
  const std::vector<OpenNumber> line{lost, lost,
                                     quiet(of(IntentState::confirming), FoundAt::pending), lost};
  CHECK(tend(line, true) ==
        std::vector{Tend::post_pay, Tend::post_pay, Tend::leave, Tend::post_pay});
  CHECK(tend(line, false) == std::vector(4, Tend::leave));
  std::vector<OpenNumber> fresh = line;
  fresh.front().is_quiet = false;
  CHECK(tend(fresh, true).front() == Tend::leave);
  const std::vector<OpenNumber> unasked(3, quiet(of(IntentState::confirming)));
  CHECK(tend(unasked, true) == std::vector(3, Tend::look));
}

TEST_CASE("tend: a payment in review keeps its bytes alive inside its window, then goes over") {
  CHECK(alone(quiet(of(IntentState::needs_review), FoundAt::not_found)) == Tend::post_pay);
  OpenNumber late = of(IntentState::needs_review);
  late.is_unwanted = true;
  CHECK(alone(late) == Tend::hand_over);
  OpenNumber late_confirming = quiet(of(IntentState::confirming), FoundAt::not_found);
  late_confirming.is_unwanted = true;
  CHECK(alone(late_confirming) == Tend::leave);
}

TEST_CASE("tend: what a delivery drives is left to it, and holds up those above until it is out") {
  const OpenNumber signing = quiet(of(IntentState::settling, SlotState::signed_));
  CHECK(alone(signing) == Tend::leave);
  const std::vector<OpenNumber> held_up{signing, handed()};
  CHECK(tend(held_up, true) == std::vector{Tend::leave, Tend::leave});
  const std::vector<OpenNumber> out{quiet(of(IntentState::settling)), handed()};
  CHECK(tend(out, true) == std::vector{Tend::leave, Tend::sign_noop});
  const std::vector<OpenNumber> unsigned_below{of(IntentState::settling, SlotState::reserved),
                                               handed()};
  CHECK(tend(unsigned_below, true) == std::vector{Tend::leave, Tend::leave});
}

TEST_CASE("tend: an ended payment's number that was taken back and is nowhere is handed over") {
  // Found in the pool by a reconciliation it is broadcast again, and lost from there later.
  for (const SlotState state : {SlotState::reconciliation_required, SlotState::broadcast}) {
    OpenNumber taken = of(IntentState::settled, state);
    CHECK(alone(taken) == Tend::look);
    taken.found = FoundAt::pending;
    CHECK(alone(taken) == Tend::leave);
    taken.found = FoundAt::not_found;
    CHECK(alone(taken) == Tend::hand_over);
  }
}

// Found by the simulator (hell, seed 30333): its payment stood on another's transaction, then
// waited for a person, and what was signed above waited for both.
TEST_CASE(
    "tend: an unsigned number that its payment does not need is released, and not waited for") {
  for (const IntentState state : {IntentState::confirming, IntentState::needs_review}) {
    const std::vector<OpenNumber> line{of(state, SlotState::reserved), handed()};
    CHECK(tend(line, false) == std::vector{Tend::release, Tend::sign_noop});
  }
  CHECK(alone(of(IntentState::settling, SlotState::reserved)) == Tend::leave);
}

TEST_CASE("tend: no bytes of an ended payment are ever posted") {
  for (const IntentState state : {IntentState::settled, IntentState::failed, IntentState::canceled,
                                  IntentState::created, IntentState::authorized}) {
    for (const FoundAt found : {FoundAt::not_asked, FoundAt::not_found, FoundAt::pending}) {
      CHECK(alone(quiet(of(state), found)) != Tend::post_pay);
    }
  }
}

}  // namespace
}  // namespace holdfast::domain
