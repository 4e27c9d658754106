// Authorizations that are used after their payments have ended: for a person, who hears of it.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::check_audit;
using testing::Rig;
using testing::RigOptions;

namespace {

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  return options;
}

std::ptrdiff_t times_told(Rig& rig, const domain::IntentId& id, const domain::TxHash& use) {
  const auto history = rig.detail(id).history;
  return std::count_if(history.begin(), history.end(), [&](const engine::HistoryItem& item) {
    return item.kind == "alarm" && item.tx_hash == use;
  });
}

}  // namespace

TEST_CASE("late use: an authorization used after its payment was canceled is told, once") {
  enum class Engine { stays, crashes, crashes_and_is_ahead, is_away };
  for (const Engine what :
       {Engine::stays, Engine::crashes, Engine::crashes_and_is_ahead, Engine::is_away}) {
    CAPTURE(static_cast<int>(what));
    Rig rig(by_hand());
    rig.start();
    rig.chain.script().fail_next(sim::ChainCall::simulate, ports::Unknown{"no answer"}, 1'000);
    const domain::Intent intent = rig.create_authorized("one", rig.from_payer());
    const auto canceled = rig.run(rig.engine->cancel(rig.caller("c"), intent.id, "changed mind"));
    REQUIRE(canceled.has_value());
    rig.world.run_for(5'000);
    REQUIRE_FALSE(rig.job(intent.id).has_value());  // or its delivery would look after it
    if (what == Engine::crashes_and_is_ahead) rig.world.clock().step_wall(2'592'000'000);
    if (what == Engine::crashes || what == Engine::crashes_and_is_ahead) rig.crash();
    rig.world.run_for(2'000);
    const auto call = rig.authorizations.call(rig.find(intent.id));
    REQUIRE(call.has_value());
    if (what == Engine::is_away) rig.crash_without_restart();
    rig.chain.give({"stranger"}, domain::native_asset, *U256::from_decimal("1000000000000"));
    const domain::TxHash theirs =
        rig.chain.run_elsewhere({{"stranger"}, {0}, *call, {U256{2'000}, U256{100}, 60'000}});
    rig.mine_for(6);
    if (what == Engine::is_away) rig.start();
    rig.mine_for(6);
    CHECK(rig.state(intent.id) == IntentState::canceled);
    CHECK(times_told(rig, intent.id, theirs) == 1);
    CHECK(rig.engine->stats().alarms >= 1);
    check_audit(rig);
  }
}

TEST_CASE("late use: what a payment that came later has used is no late use of the one before") {
  Rig rig(by_hand());
  rig.start();
  domain::Nonce nonce;
  nonce.value.fill(7);
  const domain::Intent probe = rig.create("probe", rig.from_payer());
  const std::int64_t now_s = rig.world.clock().wall_ms() / 1'000;
  const auto mine = sim::authorize(probe.terms, nonce, {0, now_s + 3'600});
  const auto first = rig.run(rig.engine->submit(rig.caller("a"), rig.from_payer(), mine));
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  REQUIRE(rig.run(rig.engine->cancel(rig.caller("c"), first->intent.id, "no")).has_value());
  const auto second = rig.run(rig.engine->submit(rig.caller("b"), rig.from_payer(), mine));
  REQUIRE_MESSAGE(second.has_value(), second.error().detail);
  REQUIRE(second->intent.id != first->intent.id);
  for (int i = 0; i < 30 && rig.state(second->intent.id) != IntentState::settled; ++i) {
    rig.mine_for(1);
  }
  REQUIRE(rig.state(second->intent.id) == IntentState::settled);
  rig.crash();  // nothing of the second payment is followed any more, and the first is asked for
  rig.mine_for(10);
  CHECK(times_told(rig, first->intent.id, *rig.find(second->intent.id).tx_hash) == 0);
  CHECK(rig.engine->stats().alarms == 0);
  check_audit(rig);
}
