// Many payments that end by one block: settled together, from what is watched of them.
#include <vector>

#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

namespace {

constexpr int payments = 40;

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  options.max_unconsumed = payments;
  return options;
}

/// All confirming, and none of them mined.
std::vector<domain::Intent> confirming(Rig& rig) {
  rig.start();
  std::vector<domain::Intent> out;
  out.reserve(payments);
  for (int i = 0; i < payments; ++i) {
    out.push_back(rig.create("key " + std::to_string(i), rig.payout(std::to_string(1000 + i))));
  }
  for (const domain::Intent& one : out) {
    REQUIRE(rig.reaches(one.id, IntentState::confirming, 60'000));
  }
  return out;
}

}  // namespace

TEST_CASE("listener: payments that are final by one block are settled in one commit") {
  Rig rig(by_hand());
  const auto intents = confirming(rig);
  rig.chain.mine(1);
  rig.world.run_for(5'000);
  for (const domain::Intent& one : intents) REQUIRE(rig.state(one.id) == IntentState::confirming);
  while (rig.engine->stats().settled == 0) {
    rig.chain.mine(1);
    const auto before = rig.store->stats();
    rig.world.run_for(5'000);
    if (rig.engine->stats().settled == 0) continue;
    CHECK(rig.engine->stats().settled == payments);
    // Not one for each of them, beside what an idle engine writes.
    CHECK(rig.store->stats().steps - before.steps < payments / 2);
  }
  for (const domain::Intent& one : intents) testing::check_paid_once(rig, one);
  testing::check_audit(rig);
}

// What is watched is old then: its version is another, and the facts are read.
TEST_CASE(
    "listener: a payment that was written to behind the watch's back is settled all the same") {
  Rig rig(by_hand());
  const auto intents = confirming(rig);
  const domain::IntentId other = intents[7].id;
  const auto asked = rig.run(rig.store->write([other](store::Txn& txn) {
    return store::ask_cancel(txn, other, {}, domain::Actor::operator_, {"ann", "too late", {}, 1});
  }));
  REQUIRE(asked.has_value());
  rig.mine_for(60);
  CHECK(rig.engine->stats().settled == payments);
  for (const domain::Intent& one : intents) testing::check_paid_once(rig, one);
  testing::check_audit(rig);
}
