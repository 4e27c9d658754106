// A payout whose ref is in a transaction that this store knows nothing of: what that one did ends
// it.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "domain/decide_scene.hpp"

namespace holdfast::test {

TEST_CASE("decide: authorized: a payout whose ref is on the chain does not expire unread") {
  Scene s = authorized(false).past_deadline();
  CHECK(s.take<step::Cancel>().reason == "expired");
  // Its own store lost what it posted: whether the payee has the money is in that transaction.
  s.facts.ref_found_in = {{hash(9), our_account, {0}}};
  CHECK(s.step() == "read_ref_found");
  s.seen.ref_found = RefSeen{{}, true, false};
  CHECK(s.why() == "ref_unreadable");
  s.facts.intent.cancel_asked = true;
  CHECK(s.why() == "ref_unreadable");
  s.facts.intent.cancel_asked = false;
  // Not found is proof of nothing either: whoever holds the bytes can run them.
  s.seen.ref_found->is_unanswered = false;
  CHECK(s.why() == "ref_not_found");
  // Read, it ends: paid late is paid, and what failed with finality leaves the deadline its due.
  s.seen.ref_found->tx = mined(9);
  CHECK(s.step() == "claim_paid");
  s.seen.ref_found->tx->succeeded = false;
  s.seen.ref_found->is_final = true;
  CHECK(s.take<step::Cancel>().reason == "expired");
}

TEST_CASE("decide: settling: nothing signed, and its ref is in a transaction that cannot be read") {
  Scene s = claimed(false).past_deadline();
  CHECK(s.step() == "fail");
  s.facts.ref_found_in = {{hash(9), our_account, {0}}};
  s.seen.ref_found = RefSeen{{}, true, false};
  s.now.chain_s = noon_s;
  CHECK(s.why() == "ref_unreadable");
  s.now.unchanged_s = s.policy.review_after_ms / 1000;
  CHECK(s.why() == "ref_unreadable");  // an outage, however long
  s.past_deadline();
  CHECK(s.why() == "ref_unreadable");
  s.seen.ref_found->is_unanswered = false;
  CHECK(s.take<step::Review>().reason == "outcome_unknown");
  s.now.unchanged_s = 0;
  CHECK(s.why() == "ref_not_found");
  s.seen.ref_found->tx = mined(9);
  CHECK(s.take<step::Confirm>().hash == hash(9));
  s.seen.ref_found->tx->succeeded = false;
  CHECK(s.why() == "ref_not_final");
  s.seen.ref_found->is_final = true;
  CHECK(s.past_deadline().step() == "fail");
}

// Our own transaction ran it before the store was put back: no end before its use was read, and a
// use that logs no transfer is followed, as a payout's is.
TEST_CASE("decide: a bearer payment that a lost transaction of ours used is read before any end") {
  for (Scene s : {authorized(true), claimed(true)}) {
    s.facts.intent.cancel_asked = true;
    CHECK((s.step() == "cancel" || s.step() == "fail"));
    s.facts.ref_found_in = {{hash(9), our_account, {0}}};
    CHECK(s.step() == "read_authorization");
    s.authorization(AuthorizationSeen::Result::unknown);
    CHECK(s.why() == "authorization_unreadable");
    s.authorization(AuthorizationSeen::Result::unused);
    CHECK((s.step() == "cancel" || s.step() == "fail"));
    s.authorization(AuthorizationSeen::Result::used_otherwise, true, use_of_authorization(9));
    CHECK((s.step() == "claim_paid" || s.step() == "confirm"));
  }
}

TEST_CASE("decide: a ref whose transaction can never run again leaves its payout to be made") {
  for (Scene s : {authorized(false), claimed(false)}) {
    const std::string without = s.step();
    s.facts.ref_found_in = {{hash(9), our_account, {0}}};
    s.seen.ref_found = RefSeen{};
    CHECK(s.why() == "ref_not_found");
    s.seen.ref_found->is_replaced = true;
    CHECK(s.step() == without);
  }
}

TEST_CASE("job: a confirming payment stands on another's transaction where none of its own is it") {
  Scene s = signed_scene(false);
  s.facts.intent.tx_hash = hash(9);
  CHECK_FALSE(stands_on_anothers(s.facts));  // settling: nothing was said to be its transaction
  s.facts.intent.state = IntentState::confirming;
  CHECK(stands_on_anothers(s.facts));
  s.facts.intent.tx_hash = s.facts.attempts.front().hash;
  CHECK_FALSE(stands_on_anothers(s.facts));
}

TEST_CASE("decide: of several transactions with one ref, the nearest to having paid counts") {
  RefSeen paid;
  paid.tx = mined(1);
  const RefSeen silent{{}, true, false, false};
  const RefSeen nowhere;
  RefSeen failed = paid;
  failed.tx->succeeded = false;
  RefSeen failed_finally = failed;
  failed_finally.is_final = true;
  const RefSeen replaced{{}, false, false, true};
  const std::vector<RefSeen> nearest_first{paid, silent, nowhere, failed, failed_finally, replaced};
  const auto is_same = [](const RefSeen& a, const RefSeen& b) {
    return a.tx.has_value() == b.tx.has_value() && (!a.tx || a.tx->succeeded == b.tx->succeeded) &&
           a.is_unanswered == b.is_unanswered && a.is_final == b.is_final &&
           a.is_replaced == b.is_replaced;
  };
  for (std::size_t i = 0; i < nearest_first.size(); ++i) {
    CAPTURE(i);
    std::vector<RefSeen> rest(nearest_first.begin() + static_cast<std::ptrdiff_t>(i),
                              nearest_first.end());
    CHECK(is_same(nearest_to_paid(rest), nearest_first[i]));
    std::reverse(rest.begin(), rest.end());
    CHECK(is_same(nearest_to_paid(rest), nearest_first[i]));
  }
}

}  // namespace holdfast::test
