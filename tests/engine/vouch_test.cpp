// What one node showed ends nothing by itself where several are in use.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using sim::ChainCall;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  return options;
}

}  // namespace

TEST_CASE("vouch: a payment is settled once all nodes say the same of its final transaction") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  rig.chain.script().fail_next(ChainCall::vouch, sim::unknown("they disagree"), 30);
  rig.mine_for(10);
  CHECK(rig.chain.script().calls(ChainCall::vouch) >= 3);
  CHECK(rig.state(intent.id) == IntentState::confirming);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 30'000));
  check_paid_once(rig, intent);
  check_audit(rig);
}

TEST_CASE("vouch: a payout whose transaction reverted, says one node, has not failed for it") {
  Rig rig(by_hand());
  rig.start();
  // Each asks for all the account has: both simulate, the second mined one reverts.
  const domain::Intent one = rig.create("one", rig.payout("1000000000000"));
  const domain::Intent two = rig.create("two", rig.payout("1000000000000"));
  REQUIRE(rig.reaches(one.id, IntentState::confirming, 5'000));
  REQUIRE(rig.reaches(two.id, IntentState::confirming, 5'000));
  rig.chain.script().fail_next(ChainCall::vouch, sim::unknown("they disagree"), 30);
  rig.chain.mine(4);
  rig.world.run_for(8'000);
  CHECK(rig.chain.script().calls(ChainCall::vouch) >= 6);
  CHECK(rig.state(one.id) == IntentState::confirming);
  CHECK(rig.state(two.id) == IntentState::confirming);
  rig.world.run_for(20'000);
  const bool one_paid = rig.state(one.id) == IntentState::settled;
  check_paid_once(rig, one_paid ? one : two);
  CHECK(rig.state(one_paid ? two.id : one.id) == IntentState::failed);
  check_audit(rig);
}

TEST_CASE("vouch: a number is not used up by what one node showed in a block") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  rig.chain.forget_pool();
  rig.chain.run_elsewhere(
      {{"relayer0"}, {0}, rig.chain.noop_call({"relayer0"}), {U256{5'000}, U256{500}, 60'000}});
  rig.chain.script().fail_next(ChainCall::vouch, sim::unknown("they disagree"), 10'000);
  rig.chain.script().fail_next(ChainCall::consumer, sim::unknown("they disagree"), 10'000);
  rig.mine_for(20);
  CHECK(rig.state(intent.id) == IntentState::confirming);
  // Sent back as stuck by now, its delivery believes it no more than the account did.
  rig.mine_for(90);
  const auto detail = rig.detail(intent.id);
  REQUIRE(detail.slot.has_value());
  CHECK(detail.slot->sequence == domain::Sequence{0});
  CHECK(detail.slot->state != domain::SlotState::consumed);
  CHECK(rig.chain.bodies({"relayer0"}, {1}).empty());
  check_audit(rig);
}

TEST_CASE("vouch: what one node showed, and nobody shows any more, was never there") {
  Rig rig(by_hand());
  rig.start();
  rig.chain.hold_pool(true);
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  const domain::TxHash hash = *rig.find(intent.id).tx_hash;
  rig.mine_for(6);
  REQUIRE(rig.chain.invent(hash));
  rig.crash_without_restart();
  bool is_mined = false;
  SUBCASE("and it is in a block that nobody has read") { is_mined = true; }
  SUBCASE("and it is in none") { REQUIRE(rig.chain.forget(hash)); }
  rig.chain.hold_pool(false);
  rig.chain.mine(6);
  rig.start();  // it asks for everybody's hash
  rig.mine_for(10);
  CHECK(rig.chain.mined(hash).has_value() == is_mined);
  CHECK(rig.state(intent.id) == IntentState::confirming);
  CHECK(rig.engine->chains().front().endpoints.size() == 1);
  rig.chain.invent_nothing();
  for (int i = 0; i < 90 && rig.state(intent.id) != IntentState::settled; ++i) rig.mine_for(1);
  check_paid_once(rig, intent);
  check_audit(rig);
}

TEST_CASE("vouch: a payment has not failed because one node shows the noop in its place") {
  Rig rig(by_hand());
  rig.start();
  rig.chain.hold_pool(true);
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  REQUIRE(rig.run(rig.engine->abandon(rig.by("ann"), intent.id, "asked to")).has_value());
  const auto noop = [&]() -> std::optional<domain::TxHash> {
    for (const domain::Attempt& one : rig.detail(intent.id).attempts) {
      if (one.kind == domain::AttemptKind::noop) return one.hash;
    }
    return std::nullopt;
  };
  for (int i = 0; i < 300 && !noop(); ++i) rig.mine_for(1);
  REQUIRE(noop().has_value());
  rig.mine_for(2);
  REQUIRE(rig.chain.invent(*noop()));
  rig.mine_for(60);
  CHECK(rig.state(intent.id) == IntentState::settling);
  rig.chain.invent_nothing();
  rig.chain.hold_pool(false);
  for (int i = 0; i < 120 && rig.state(intent.id) != IntentState::failed; ++i) rig.mine_for(1);
  CHECK(rig.state(intent.id) == IntentState::failed);
  check_audit(rig);
}
