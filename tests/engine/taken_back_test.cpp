// A chain that takes back finality: all that it may have taken with it is looked at.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using domain::SlotState;
using testing::Rig;
using testing::RigOptions;

namespace {

std::vector<domain::Intent> settled_payouts(Rig& rig, int count) {
  std::vector<domain::Intent> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(rig.create("k" + std::to_string(i), rig.payout()));
  for (const domain::Intent& one : out) {
    REQUIRE(rig.reaches(one.id, IntentState::confirming, 60'000));
  }
  rig.mine_for(8);
  for (const domain::Intent& one : out) REQUIRE(rig.state(one.id) == IntentState::settled);
  return out;
}

int quarantined(Rig& rig, const std::vector<domain::Intent>& all) {
  int out = 0;
  for (const domain::Intent& one : all) {
    if (rig.detail(one.id).slot->state == SlotState::reconciliation_required) ++out;
  }
  return out;
}

}  // namespace

TEST_CASE("F7: more numbers than one look takes are looked at, to where all stands as it was") {
  RigOptions options;
  options.block_ms = 0;
  options.max_unconsumed = 300;
  Rig rig(options);
  rig.start();
  const auto paid = settled_payouts(rig, 250);
  rig.chain.reorg(8, sim::ScriptedChain::Fate::dropped);
  rig.world.run_for(10'000);
  CHECK(quarantined(rig, paid) == 250);
  testing::check_audit(rig);
}

TEST_CASE("F7: a number whose consumer no node told of is asked for again") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const auto paid = settled_payouts(rig, 3);
  rig.chain.reorg(8, sim::ScriptedChain::Fate::dropped);
  rig.chain.script().fail_next(sim::ChainCall::find, sim::unknown("no answer"), 40);
  rig.world.run_for(5'000);
  CHECK(rig.engine->chains().front().why.find("was final") != std::string::npos);
  rig.mine_for(60);
  CHECK(quarantined(rig, paid) == 3);
  testing::check_audit(rig);
}
