// A stranger ran a payment in review: whoever sees it first, an operator or the engine.
#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

namespace {

/// The node took nothing, and the engine that asked it is gone: in review.
domain::Intent in_review(Rig& rig) {
  rig.chain.script().next_post(sim::NextPost::drop_answer_unknown());
  rig.start();
  const domain::Intent intent = rig.create_authorized("one", rig.from_payer());
  while (rig.chain.posts().empty()) rig.world.run_for(10);
  rig.crash_without_restart();
  const auto facts = rig.run(rig.store->write([id = intent.id](store::Txn& txn) {
    txn.db().execute("DELETE FROM jobs");
    store::Move move;
    move.id = id;
    move.to = IntentState::needs_review;
    move.actor = domain::Actor::relayer;
    move.reason = "no_receipt";
    return store::move_intent(txn, move);
  }));
  REQUIRE_MESSAGE(facts.has_value(), facts.error().detail);
  return intent;
}

domain::TxHash run_by_stranger(Rig& rig, const domain::IntentId& id) {
  const auto facts = rig.read([id](store::Txn& txn) { return store::find_facts(txn, id); });
  const auto call = rig.authorizations.call(facts->intent);
  REQUIRE(call.has_value());
  rig.chain.give({"stranger"}, domain::native_asset, *U256::from_decimal("1000000000000"));
  return rig.chain.run_elsewhere({{"stranger"}, {0}, *call, {U256{2'000}, U256{100}, 60'000}});
}

}  // namespace

TEST_CASE("desk: what the listener finds while an operator names it is moved once") {
  int moved_by_operator = 0;
  int moved_meanwhile = 0;
  for (int at_ms = 0; at_ms < 3'000; at_ms += 50) {
    CAPTURE(at_ms);
    RigOptions options;
    options.block_ms = 0;
    options.latency_ms = 400;
    Rig rig(options);
    const domain::Intent intent = in_review(rig);
    rig.start();
    rig.world.run_for(20'000);
    REQUIRE(rig.engine->chains().front().usable);
    REQUIRE(rig.state(intent.id) == IntentState::needs_review);
    engine::Resolve wanted;
    wanted.as = domain::Resolution::confirming;
    wanted.tx_hash = run_by_stranger(rig, intent.id);
    wanted.reason = "looked at it";
    rig.chain.mine(1);
    rig.world.run_for(at_ms);
    const auto done = rig.run(rig.engine->resolve(rig.by("ann"), intent.id, wanted));
    if (done) {
      CHECK(done->intent.state == IntentState::confirming);
      const bool was_there = done->note.find("already") != std::string::npos;
      ++(was_there ? moved_meanwhile : moved_by_operator);
    }
    CHECK(rig.state(intent.id) == IntentState::confirming);
    testing::check_audit(rig);
  }
  CHECK(moved_by_operator > 0);
  CHECK(moved_meanwhile > 0);
}

// Its block was made while nobody read blocks, and no delivery drives what waits for a person.
TEST_CASE("desk: a payment in review that somebody ran meanwhile needs nobody") {
  RigOptions options;
  options.block_ms = 0;
  options.config.most_steps = 4;
  Rig rig(options);
  rig.start();
  const domain::Intent intent = rig.create_authorized("one", rig.from_payer());
  REQUIRE(rig.reaches(intent.id, IntentState::needs_review, 5'000));
  const auto call = rig.authorizations.call(rig.find(intent.id));
  REQUIRE(call.has_value());
  rig.crash_without_restart();
  rig.chain.give({"stranger"}, domain::native_asset, *U256::from_decimal("1000000000000"));
  const domain::TxHash theirs =
      rig.chain.run_elsewhere({{"stranger"}, {0}, *call, {U256{2'000}, U256{100}, 60'000}});
  rig.chain.mine(6);
  rig.start();
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 200'000));
  CHECK(rig.find(intent.id).tx_hash == theirs);
  testing::check_paid_once(rig, intent);
}

// Ours reverted behind theirs, and what is found of it by its hash says nothing of the payment.
TEST_CASE("desk: a payment in review that somebody ran before us needs nobody") {
  RigOptions options;
  options.block_ms = 0;
  options.config.most_steps = 5;
  Rig rig(options);
  rig.start();
  const domain::Intent intent = rig.create_authorized("one", rig.from_payer());
  const domain::TxHash theirs = run_by_stranger(rig, intent.id);  // in the pool before ours
  REQUIRE(rig.reaches(intent.id, IntentState::needs_review, 5'000));
  REQUIRE(rig.chain.posts().size() == 1);
  rig.crash_without_restart();
  rig.chain.mine(6);
  rig.start();
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 200'000));
  CHECK(rig.find(intent.id).tx_hash == theirs);
  testing::check_audit(rig);
}

// What the account's count says may be of a moment ago; what was read in a block is not.
TEST_CASE("noop: none is signed for a number that our reverted transaction has used") {
  for (int at_ms = 0; at_ms < 4'000; at_ms += 250) {
    CAPTURE(at_ms);
    RigOptions options;
    options.block_ms = 0;
    options.latency_ms = 200;
    Rig rig(options);
    rig.start();
    rig.world.run_for(3'000 + at_ms);
    const domain::Intent intent = rig.create_authorized("one", rig.from_payer());
    const domain::TxHash theirs = run_by_stranger(rig, intent.id);  // in the pool before ours
    REQUIRE(rig.reaches(intent.id, IntentState::confirming, 20'000));
    rig.chain.mine(8);
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
    rig.world.run_for(30'000);
    CHECK(rig.find(intent.id).tx_hash == theirs);
    CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
    testing::check_audit(rig);
  }
}
