#include <doctest/doctest.h>

#include "rig.hpp"

namespace holdfast::testing {
namespace {

const U256 a_lot = *U256::from_decimal("1000000000000000000");

void empty(Rig& rig, std::size_t account) {
  const U256 all = rig.chain.balance(rig.accounts[account], domain::native_asset);
  REQUIRE(rig.chain.take(rig.accounts[account], domain::native_asset, all));
}

}  // namespace

TEST_CASE("funds: an account that was emptied is told of once, before a payment finds out") {
  Rig rig;
  rig.start();
  rig.world.run_for(5'000);
  const std::uint64_t before = rig.engine->stats().alarms;
  empty(rig, 0);
  rig.world.run_for(60'000);
  CHECK(rig.engine->stats().alarms == before + 1);
}

TEST_CASE("funds: an account that was filled again and emptied once more is told of anew") {
  Rig rig;
  rig.start();
  rig.world.run_for(5'000);
  const std::uint64_t before = rig.engine->stats().alarms;
  empty(rig, 0);
  rig.world.run_for(30'000);
  rig.chain.give(rig.accounts[0], domain::native_asset, a_lot);
  rig.world.run_for(30'000);
  CHECK(rig.engine->stats().alarms == before + 1);
  empty(rig, 0);
  rig.world.run_for(30'000);
  CHECK(rig.engine->stats().alarms == before + 2);
}

TEST_CASE("funds: a chain can send while one account has money, and again when one is filled") {
  RigOptions options;
  options.accounts = 2;
  Rig rig(options);
  rig.start();
  rig.world.run_for(5'000);
  const auto can_send = [&] { return rig.engine->chains().front().can_send; };
  CHECK(can_send());
  empty(rig, 0);
  rig.world.run_for(15'000);
  CHECK(can_send());
  empty(rig, 1);
  rig.world.run_for(15'000);
  CHECK_FALSE(can_send());
  rig.chain.give(rig.accounts[0], domain::native_asset, a_lot);
  rig.world.run_for(15'000);
  CHECK(can_send());
}

TEST_CASE("funds: a node that does not answer for the money says nothing of it") {
  Rig rig;
  rig.start();
  rig.world.run_for(5'000);
  const std::uint64_t before = rig.engine->stats().alarms;
  rig.chain.script().fail_next(sim::ChainCall::native_balance, sim::unknown(), 100);
  rig.world.run_for(60'000);
  CHECK(rig.engine->stats().alarms == before);
}

}  // namespace holdfast::testing
