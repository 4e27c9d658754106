#include <doctest/doctest.h>

#include <holdfast/domain/unredeemable.hpp>

#include "domain/decide_scene.hpp"

namespace holdfast::test {
namespace {

using How = AuthorizationDead::How;

/// A payout with one attempt at each of two numbers, and the noops that took both.
struct TwoSlots {
  Scene s = signed_scene();
  AllSlotsConsumed proof;

  TwoSlots() {
    s.attempt();
    s.facts.attempts[0].slot = SlotId{6};
    Slot first = *s.facts.slot;
    first.id = {6};
    first.sequence = {39};
    MinedTx earlier = mined(8);
    earlier.sequence = {39};
    proof.consumers = {consumer_of(first, earlier), consumer_of(*s.facts.slot, mined(9))};
  }
  MinedTx& tx() { return proof.consumers[1].tx; }
  bool proves() const { return proves_unredeemable(s.facts.intent, s.facts.attempts, proof); }
};

bool proves(const Scene& s, How how, std::int64_t time_s, std::optional<MinedTx> use = {}) {
  return proves_unredeemable(s.facts.intent, s.facts.attempts,
                             AuthorizationDead{how, time_s, std::move(use)});
}

}  // namespace

TEST_CASE("unredeemable: proof 1 holds while there is no attempt row of any kind") {
  for (const bool bearer : {true, false}) {
    Scene s = claimed(bearer);
    CHECK(proves_unredeemable(s.facts.intent, s.facts.attempts, NeverAsked{}));
    s.attempt(AttemptOutcome::not_sent, AttemptKind::noop);
    CHECK_FALSE(proves_unredeemable(s.facts.intent, s.facts.attempts, NeverAsked{}));
  }
}

TEST_CASE("unredeemable: proof 2 holds when every sequence was consumed by something harmless") {
  CHECK(TwoSlots{}.proves());
}

TEST_CASE("unredeemable: proof 2 misses one sequence, and is none") {
  TwoSlots t;
  t.proof.consumers.pop_back();
  CHECK_FALSE(t.proves());
  t.proof.consumers.clear();
  CHECK_FALSE(t.proves());
}

TEST_CASE("unredeemable: proof 2 of no attempt at all is none, and never one without a slot") {
  TwoSlots t;
  t.s.facts.attempts.clear();
  CHECK_FALSE(t.proves());
  TwoSlots slotless;
  slotless.s.facts.attempts[0].slot.reset();
  CHECK_FALSE(slotless.proves());
}

TEST_CASE("unredeemable: proof 2 is not for a bearer authorization: it can run without us") {
  TwoSlots t;
  t.s.facts.intent.bearer = true;
  CHECK_FALSE(t.proves());
}

TEST_CASE("unredeemable: a consumer counts only at its slot's own account and sequence") {
  TwoSlots t;
  t.tx().sequence = {41};  // a higher count is nothing: this is a later transaction
  CHECK_FALSE(t.proves());
  t.tx().sequence = {39};
  CHECK_FALSE(t.proves());
  t = {};
  t.tx().sender = {"0xSomebody"};
  CHECK_FALSE(t.proves());
  t = {};
  t.proof.consumers[1].slot = SlotId{6};
  CHECK_FALSE(t.proves());
}

TEST_CASE("unredeemable: a pay attempt of this intent is a consumer only when it reverted") {
  TwoSlots t;
  t.tx().hash = *t.s.facts.attempts[1].hash;
  CHECK_FALSE(t.proves());  // it ran: that no transfer was logged proves nothing
  t.tx().succeeded = false;
  CHECK(t.proves());
  // The first attempt's hash at the second number, for whatever it is worth.
  t.tx().succeeded = true;
  t.tx().hash = *t.s.facts.attempts[0].hash;
  CHECK_FALSE(t.proves());
  // Our own noop may run.
  t.s.facts.attempts[0].kind = AttemptKind::noop;
  CHECK(t.proves());
}

TEST_CASE("unredeemable: a consumer that moved this very money, or carries the ref, is no proof") {
  TwoSlots t;
  t.tx().transfers = {{token, our_account, payee, {1000}, 0}};
  CHECK_FALSE(t.proves());
  t.tx().transfers[0].from = {"0xQ"};
  CHECK_FALSE(t.proves());
  for (const Transfer& harmless : {Transfer{{"0xU"}, our_account, payee, {1000}, 0},
                                   Transfer{token, our_account, {"0xX"}, {1000}, 0},
                                   Transfer{token, our_account, payee, {999}, 0}}) {
    t.tx().transfers = {harmless};
    CHECK(t.proves());
  }
  t.tx().transfers.clear();
  t.tx().trailing_ref = t.s.facts.intent.ref;
  CHECK_FALSE(t.proves());
  t.tx().trailing_ref = filled<Ref>(0x01);
  CHECK(t.proves());
  t.tx().trailing_ref = t.s.facts.intent.ref;
  t.tx().succeeded = false;  // it was ours, and it moved nothing
  CHECK(t.proves());
}

TEST_CASE("unredeemable: proof 3 needs a final block at the end of the authorization, not before") {
  const Scene s = signed_scene(true);
  CHECK_FALSE(proves(s, How::expired_unused, validity_end_s - 1));
  CHECK(proves(s, How::expired_unused, validity_end_s));
  CHECK_FALSE(proves(s, How::expired_unused, 0));
}

TEST_CASE("unredeemable: proof 3 goes by what was signed, not by what was proposed") {
  Scene s = signed_scene(true);
  s.facts.intent.validity.before_s = noon_s;
  CHECK_FALSE(proves(s, How::expired_unused, validity_end_s - 1));
  s.facts.intent.authorization.reset();
  CHECK_FALSE(proves(s, How::expired_unused, validity_end_s));
}

TEST_CASE("unredeemable: proof 3 by cancellation needs the cancellation itself") {
  const Scene s = signed_scene(true);
  CHECK(proves(s, How::canceled, 0, cancellation(9)));
  CHECK_FALSE(proves(s, How::canceled, 0));
  CHECK_FALSE(proves(s, How::canceled, 0, use_of_authorization(9, {"0xX"})));
  MinedTx tx = cancellation(9);
  tx.succeeded = false;
  CHECK_FALSE(proves(s, How::canceled, 0, tx));
  tx = cancellation(9);
  tx.authorizations[0].nonce = filled<Nonce>(0x01);
  CHECK_FALSE(proves(s, How::canceled, 0, tx));
  tx = cancellation(9);
  tx.authorizations[0].authorizer = {"0xQ"};
  CHECK_FALSE(proves(s, How::canceled, 0, tx));
}

TEST_CASE("unredeemable: proof 3 by another use needs a use that is not this intent's transfer") {
  const Scene s = signed_scene(true);
  CHECK(proves(s, How::used_otherwise, 0, use_of_authorization(9, {"0xX"})));
  CHECK_FALSE(proves(s, How::used_otherwise, 0));
  CHECK_FALSE(proves(s, How::used_otherwise, 0, use_of_authorization(9)));
  CHECK_FALSE(proves(s, How::used_otherwise, 0, use_of_authorization(9, payee, {990})));
  CHECK_FALSE(proves(s, How::used_otherwise, 0, cancellation(9)));
  MinedTx silent = use_of_authorization(9);  // used, and no transfer was logged
  silent.transfers.clear();
  CHECK_FALSE(proves(s, How::used_otherwise, 0, silent));
  CHECK_FALSE(proves(s, How::used_otherwise, 0, mined(9)));
}

TEST_CASE("unredeemable: what our own bytes did to an odd token is for a person, not a proof") {
  const Scene s = signed_scene(true);
  CHECK_FALSE(proves(s, How::used_otherwise, 0, use_of_authorization(1, {"0xX"})));
}

TEST_CASE("unredeemable: proof 3 is for bearer authorizations only; a revert is no proof of one") {
  const Scene payout = signed_scene();
  CHECK_FALSE(proves(payout, How::expired_unused, validity_end_s));
  CHECK_FALSE(proves(payout, How::canceled, 0, cancellation(9)));
  Scene bearer = signed_scene(true);
  MinedTx tx = mined(1);
  tx.succeeded = false;
  const AllSlotsConsumed reverted{{consumer_of(*bearer.facts.slot, tx)}};
  CHECK_FALSE(proves_unredeemable(bearer.facts.intent, bearer.facts.attempts, reverted));
  CHECK(rules_out(bearer.facts.intent, bearer.facts.attempts, reverted.consumers[0]));
}

}  // namespace holdfast::test
