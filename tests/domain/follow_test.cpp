#include <holdfast/domain/follow.hpp>

#include <doctest/doctest.h>

using namespace holdfast::domain;

namespace {

struct Row {
  const char* name;
  IntentState state;
  bool bearer;
  FollowSeen seen;
  FollowMove move;
  std::string_view reason;
};

FollowSeen mined(Verdict verdict, Moved moved, bool own = true) {
  FollowSeen seen;
  seen.included = true;
  seen.own_hash = own;
  seen.verdict = verdict;
  seen.evidence.moved = moved;
  return seen;
}

FollowSeen unseen_for(std::int64_t ms) {
  FollowSeen seen;
  seen.lowest_since_post_ms = ms;
  return seen;
}

FollowSeen on_other(FollowSeen seen) {
  seen.own_hash = false;
  seen.stands_on_other = true;
  return seen;
}

using enum IntentState;

const Row rows[] = {
    {"a mined payment of a settling intent is evidence", settling, true,
     mined(Verdict::pending, Moved::exact), FollowMove::confirm, "mined"},
    {"a mined payment ends a review's waiting", needs_review, false,
     mined(Verdict::pending, Moved::exact), FollowMove::confirm, "mined"},
    {"a revert moves a settling intent nowhere", settling, false,
     mined(Verdict::failed, Moved::nothing), FollowMove::wait, ""},
    {"not deep enough: wait", confirming, true, mined(Verdict::pending, Moved::exact),
     FollowMove::wait, ""},
    {"final and exact: settled", confirming, true, mined(Verdict::final, Moved::exact),
     FollowMove::settle, "final"},
    {"somebody else's final payment settles too", confirming, true,
     mined(Verdict::final, Moved::exact, false), FollowMove::settle, "final"},
    {"less arrived: a person decides", confirming, false, mined(Verdict::final, Moved::less),
     FollowMove::review, "transfer_mismatch"},
    {"less arrived, by somebody else's hand: a person decides", confirming, true,
     mined(Verdict::final, Moved::less, false), FollowMove::review, "transfer_mismatch"},
    {"a success without the transfer is no payment", confirming, false,
     mined(Verdict::final, Moved::nothing), FollowMove::review, "transfer_mismatch"},
    {"a foreign transaction without our transfer says nothing", confirming, true,
     mined(Verdict::final, Moved::other, false), FollowMove::wait, ""},
    {"a payout's final revert is proof 2", confirming, false,
     mined(Verdict::failed, Moved::nothing), FollowMove::fail, "reverted"},
    {"a bearer's final revert proves nothing", confirming, true,
     mined(Verdict::failed, Moved::nothing), FollowMove::back, "reverted"},
    {"a block taken back", confirming, true, mined(Verdict::lost, Moved::exact), FollowMove::back,
     "reorg"},
    {"a block taken back is no evidence", settling, true, mined(Verdict::lost, Moved::exact),
     FollowMove::wait, ""},
    {"one millisecond short of stuck", confirming, true, unseen_for(29'999), FollowMove::wait, ""},
    {"stuck and lowest", confirming, true, unseen_for(30'000), FollowMove::back, "stuck"},
    {"not lowest: it does not age", confirming, true, FollowSeen{}, FollowMove::wait, ""},
    {"another's transaction that is gone: back", confirming, true, on_other(unseen_for(30'000)),
     FollowMove::back, "stuck"},
    {"another's transaction that reverts in its new block: back", confirming, true,
     on_other(mined(Verdict::failed, Moved::nothing)), FollowMove::back, "reverted"},
    {"another's final transaction that shows no transfer, and nothing of ours: a person",
     confirming, false, on_other(mined(Verdict::final, Moved::nothing)), FollowMove::review,
     "transfer_mismatch"},
    {"an ended intent is left alone", settled, true, mined(Verdict::final, Moved::exact),
     FollowMove::wait, ""},
};

}  // namespace

TEST_CASE("follow: every situation of a watched intent has its one move") {
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Intent intent;
    intent.state = row.state;
    intent.bearer = row.bearer;
    const Follow got = follow(intent, row.seen, Policy{});
    CHECK(to_text(got.move) == to_text(row.move));
    CHECK(got.reason == row.reason);
  }
}

TEST_CASE("follow: an included transaction is never stuck, however old its post") {
  Intent intent;
  intent.state = confirming;
  FollowSeen seen = mined(Verdict::pending, Moved::exact);
  seen.lowest_since_post_ms = 10'000'000;
  CHECK(follow(intent, seen, Policy{}).move == FollowMove::wait);
}

TEST_CASE("follow: less than was asked is for a person, unless the policy settles it short") {
  Intent intent;
  intent.state = IntentState::confirming;
  FollowSeen seen;
  seen.included = true;
  seen.own_hash = true;
  seen.verdict = Verdict::final;
  seen.evidence = {Moved::less, Amount(990)};
  Policy policy;
  CHECK(follow(intent, seen, policy).move == FollowMove::review);
  policy.settle_short = true;
  CHECK(follow(intent, seen, policy).move == FollowMove::settle);
  intent.state = IntentState::needs_review;  // and then it waits for no person
  CHECK(follow(intent, seen, policy).move == FollowMove::confirm);
  policy.settle_short = false;
  CHECK(follow(intent, seen, policy).move == FollowMove::wait);
  policy.settle_short = true;
  intent.state = IntentState::confirming;
  seen.evidence.arrived = Amount(0);
  CHECK(follow(intent, seen, policy).move == FollowMove::review);
  seen.evidence = {Moved::other, Amount(990)};
  CHECK(follow(intent, seen, policy).move == FollowMove::review);
}
