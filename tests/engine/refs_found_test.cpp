// Refs found in transactions that this store knows nothing of, where a reorg changed which.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

namespace {

const domain::Address relayer{"relayer0"};

/// What the lost part of a store sent for this payment, and a block that is gone again.
struct Scene {
  explicit Scene(RigOptions options = by_hand()) : rig(options) {
    Rig lost(options);
    lost.start();
    paid = lost.create("lost", lost.payout());
    rig.start();
    rig.world.run_for(3'000);
    first = run(5'000);
    rig.mine_for(2);
    REQUIRE(refs_found() == 1);
    rig.chain.reorg(2, sim::ScriptedChain::Fate::dropped);
    REQUIRE_FALSE(rig.chain.mined(first).has_value());
  }

  static RigOptions by_hand() {
    RigOptions options;
    options.block_ms = 0;
    return options;
  }

  std::int64_t refs_found() {
    return rig.read([](store::Txn& txn) {
      auto& count = txn.db().prepare("SELECT count(*) FROM refs_found");
      count.step();
      const std::int64_t out = count.get_int(0);
      while (count.step()) continue;
      return out;
    });
  }

  /// Its bytes at number 0, at this fee.
  domain::TxHash run(std::uint64_t fee) {
    return rig.chain.run_elsewhere(
        {relayer, {0}, *rig.payouts.call(paid), {U256{fee}, U256{500}, 100'000}});
  }

  /// A client asks for it again, and an operator answers for the account.
  domain::Intent asked_again() {
    const domain::Intent again = rig.create("lost", rig.payout());
    CHECK(again.ref == paid.ref);
    rig.mine_for(8);
    const auto adopted =
        rig.run(rig.engine->adopt(rig.by("ann"), rig.chain.info().id, relayer, "restored"));
    REQUIRE_MESSAGE(adopted.has_value(), adopted.error().detail);
    for (int i = 0; i < 90 && rig.state(again.id) != IntentState::settled; ++i) rig.mine_for(1);
    return rig.find(again.id);
  }

  Rig rig;
  domain::Intent paid;
  domain::TxHash first;
};

}  // namespace

TEST_CASE("refs: after a reorg a payout stands on the other transaction that carries its ref") {
  Scene scene;
  const domain::TxHash second = scene.run(6'000);
  REQUIRE(second != scene.first);
  const domain::Intent again = scene.asked_again();
  CHECK(again.state == IntentState::settled);
  CHECK(again.tx_hash == second);
  CHECK(scene.rig.chain.moved(again.ref) == 1);
  CHECK(scene.rig.chain.count(relayer) == 1);
  testing::check_audit(scene.rig);
}

TEST_CASE("refs: a payout whose only carrier lost its number to another for good is paid") {
  Scene scene;
  scene.rig.chain.run_elsewhere(
      {relayer, {0}, scene.rig.chain.noop_call(relayer), {U256{7'000}, U256{500}, 60'000}});
  const domain::Intent again = scene.asked_again();
  CHECK(again.state == IntentState::settled);
  testing::check_paid_once(scene.rig, again);
  CHECK(scene.rig.chain.count(relayer) == 2);
  testing::check_audit(scene.rig);
}

namespace {

RigOptions of_two() {
  RigOptions options = Scene::by_hand();
  options.accounts = 2;
  return options;
}

/// A key whose payment a store of two accounts gives to the second of them.
std::string key_of_second(Rig& two) {
  for (int i = 0;; ++i) {
    std::string key = "k" + std::to_string(i);
    if (two.create(key, two.payout()).terms.payer == two.accounts[1]) return key;
  }
}

}  // namespace

// A store of one account has paid it, and is lost; the next one is configured with two.
TEST_CASE("refs: with other accounts configured, a payout that was sent is not sent once more") {
  for (const bool asked_before_it_is_found : {true, false}) {
    CAPTURE(asked_before_it_is_found);
    Rig probe(of_two());
    probe.start();
    const std::string key = key_of_second(probe);
    Rig lost(Scene::by_hand());
    lost.start();
    const domain::Intent paid = lost.create(key, lost.payout());
    Rig rig(of_two());
    rig.chain.run_elsewhere(
        {relayer, {0}, *rig.payouts.call(paid), {U256{5'000}, U256{500}, 100'000}});
    rig.start();
    rig.world.run_for(3'000);
    domain::Intent again;
    if (asked_before_it_is_found) {
      again = rig.create(key, rig.payout());
      CHECK(again.terms.payer == rig.accounts[1]);
      // As the store was put back, nothing is claimed before its accounts are answered for.
      rig.chain.script().fail_next(sim::ChainCall::simulate, sim::unknown("no answer"), 5);
    }
    rig.mine_for(8);
    if (!asked_before_it_is_found) {
      again = rig.create(key, rig.payout());
      CHECK(again.ref == paid.ref);
    }
    REQUIRE(rig.run(rig.engine->adopt(rig.by("ann"), rig.chain.info().id, relayer, "restored"))
                .has_value());
    rig.mine_for(60);
    const IntentState ends = rig.state(again.id);
    CHECK(ends == (asked_before_it_is_found ? IntentState::needs_review : IntentState::settled));
    CHECK(rig.chain.moved(paid.ref) == 1);
    CHECK(rig.chain.moved(again.ref) == (asked_before_it_is_found ? 0 : 1));
    testing::check_audit(rig);
  }
}

TEST_CASE("refs: a repeated request is answered as before when its account is configured no more") {
  RigOptions options = of_two();
  options.on_disk = true;
  Rig rig(options);
  rig.start();
  const std::string key = key_of_second(rig);
  const domain::Intent first = rig.find(rig.create(key, rig.payout()).id);
  engine::NewPayment named = rig.payout();
  named.payer = rig.accounts[1].value;
  const domain::Intent second = rig.create("named", named);
  rig.accounts.pop_back();
  rig.crash();
  CHECK(rig.create(key, rig.payout()).ref == first.ref);
  const auto again = rig.run(rig.engine->create(rig.caller("named"), named));
  REQUIRE_MESSAGE(again.has_value(), again.error().detail);
  CHECK(again->replayed);
  CHECK(again->intent.ref == second.ref);
  CHECK_FALSE(rig.run(rig.engine->create(rig.caller("new"), named)).has_value());
}

// Found by the simulator (hell, seed 43946): other bytes at its own number, which the store has
// lost, had paid. Confirmed on them before they were on record, it stood on nothing.
TEST_CASE("refs: what a payment is confirmed on is on record before it stands there") {
  RigOptions options;
  options.block_ms = 0;
  options.latency_ms = 300;
  Rig rig(options);
  rig.start();
  for (int i = 0; i < 20; ++i) {
    rig.chain.script().next_post(sim::NextPost::drop_answer_unknown());
  }
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::settling, 5'000));
  for (int i = 0; i < 100 && rig.detail(intent.id).attempts.empty(); ++i) rig.world.run_for(50);
  REQUIRE_FALSE(rig.detail(intent.id).attempts.empty());
  rig.crash_without_restart();
  rig.chain.run_elsewhere(
      {relayer, {0}, *rig.payouts.call(intent), {U256(20'000), U256(500), 100'000}});
  rig.chain.mine(6);
  rig.start();
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 60'000));
  testing::check_audit(rig);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
  testing::check_paid_once(rig, intent);
}

// Found by the simulator, rough 3100397.
TEST_CASE(
    "refs: what a payer's own nonce was sent in is known of the payment that brings it again") {
  RigOptions options = Scene::by_hand();
  Rig lost(options);
  lost.start();
  const domain::Intent probe = lost.create("probe", lost.from_payer());
  domain::Nonce nonce;
  nonce.value.fill(7);
  const std::int64_t now_s = lost.world.clock().wall_ms() / 1'000;
  const auto mine = sim::authorize(probe.terms, nonce, {0, now_s + 3'600});
  const auto sent = lost.run(lost.engine->submit(lost.caller("a"), lost.from_payer(), mine));
  REQUIRE_MESSAGE(sent.has_value(), sent.error().detail);

  Rig rig(options);
  rig.start();
  rig.world.run_for(3'000);
  rig.chain.run_elsewhere(
      {relayer, {0}, *rig.authorizations.call(sent->intent), {U256{5'000}, U256{500}, 100'000}});
  rig.mine_for(2);
  rig.chain.reorg(2, sim::ScriptedChain::Fate::dropped);
  const auto again = rig.run(rig.engine->submit(rig.caller("a"), rig.from_payer(), mine));
  REQUIRE_MESSAGE(again.has_value(), again.error().detail);
  // It may be mined yet: nobody who stops waiting is told that nothing was sent.
  const auto canceled = rig.run(rig.engine->cancel(rig.caller("c"), again->intent.id, "no"));
  CHECK_FALSE(canceled.has_value());
  const auto over =
      rig.run(rig.engine->give_up(rig.caller("g"), again->intent.id, "enough", 1'000));
  REQUIRE_MESSAGE(over.has_value(), over.error().detail);
  CHECK(over->intent.state != IntentState::canceled);
}
