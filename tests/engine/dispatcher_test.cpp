// When jobs are leased, and when not; and the order in which an engine ends.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

TEST_CASE("dispatcher: while a chain is down its jobs are left alone, and nobody spins") {
  Rig rig;
  rig.start();
  rig.chain.script().set_down(true);
  REQUIRE(rig.world.run_until([&] { return !rig.engine->chains().front().usable; }, 60'000));
  for (int i = 0; i < 20; ++i) rig.create("k" + std::to_string(i), rig.payout());
  const std::uint64_t before = rig.world.loop().steps();
  rig.world.run_for(60'000);
  // A look at the node and one at the queue each second; a spin would be a thousand a second.
  CHECK(rig.world.loop().steps() - before < 6'000);
  CHECK(rig.engine->stats().leased == 0);
}

TEST_CASE("dispatcher: a drain stops leasing, lets deliveries finish, and listeners go last") {
  RigOptions options;
  options.block_ms = 0;
  options.latency_ms = 2'000;
  options.config.max_in_flight = 2;
  Rig rig(options);
  rig.start();
  const domain::Intent final_soon = rig.create("final", rig.payout());
  REQUIRE(rig.reaches(final_soon.id, IntentState::confirming, 30'000));
  rig.chain.mine(4);
  rig.world.run_for(8'000);  // the listener reads block after block
  const domain::Intent one = rig.create("one", rig.payout());
  const domain::Intent two = rig.create("two", rig.payout());
  const domain::Intent waiting = rig.create("waiting", rig.payout());
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == 3; }, 10'000));

  bool told = false;
  boost::asio::co_spawn(
      rig.world.executor(),
      rig.engine->wait(std::nullopt, waiting.id, engine::WaitFor::settled, 3'600'000),
      [&](const std::exception_ptr&, const Result<domain::Intent>&) { told = true; });
  rig.world.run_ready();
  CHECK_FALSE(told);
  REQUIRE(rig.state(final_soon.id) == IntentState::confirming);
  std::optional<std::size_t> cut_short;
  boost::asio::co_spawn(rig.world.executor(), rig.engine->drain(60'000),
                        [&](const std::exception_ptr&, std::size_t cut) { cut_short = cut; });
  rig.world.run_for(1'000);
  CHECK(told);  // at once, not when all is over
  CHECK_FALSE(cut_short.has_value());
  REQUIRE(rig.world.run_until([&] { return cut_short.has_value(); }, 60'000));

  CHECK(cut_short == 0);
  CHECK(rig.state(one.id) == IntentState::confirming);
  CHECK(rig.state(two.id) == IntentState::confirming);
  CHECK(rig.engine->stats().leased == 3);
  CHECK(rig.state(waiting.id) == IntentState::authorized);
  CHECK(rig.job(waiting.id)->deliveries == 0);
  // Not seen as final when the drain began: who listens saw it while the deliveries finished.
  check_paid_once(rig, final_soon);
  check_audit(rig);
}

TEST_CASE("dispatcher: a fresh number after a stranger's use ends the old one first") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.chain.script().next_post(sim::NextPost::drop_answer_unknown());
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().posts == 1; }, 10'000));
  const domain::TxHash theirs = rig.chain.run_elsewhere({rig.accounts[0],
                                                         {0},
                                                         rig.chain.noop_call(rig.accounts[0]),
                                                         {U256{2'000}, U256{100}, 60'000}});
  rig.chain.mine(4);
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 120'000));
  CHECK(rig.detail(intent.id).slot->sequence == domain::Sequence{1});
  rig.chain.mine(4);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
  check_paid_once(rig, intent);
  const auto old = rig.read([&](store::Txn& txn) {
    const auto facts = store::find_facts(txn, intent.id);
    return facts ? facts->earlier_slots : std::vector<domain::Slot>{};
  });
  REQUIRE(old.size() == 1);
  CHECK(old[0].state == domain::SlotState::consumed);
  CHECK(old[0].consumed_by == theirs);
  check_audit(rig);
}
