// K2: clocks that jump, and processes that sleep. Leases and waits are monotonic, records are wall
// time, and windows end by the chain's time: no jump pays, fails or repeats anything.
#include <string>

#include <doctest/doctest.h>

#include "engine/watch.hpp"
#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::uint64_t payments = 50;

RigOptions without_blocks() {
  RigOptions options;
  options.block_ms = 0;
  options.max_unconsumed = 64;
  return options;
}

std::vector<domain::Intent> create_all(Rig& rig, bool with_payers) {
  std::vector<domain::Intent> out;
  out.reserve(payments);
  for (std::uint64_t i = 0; i < payments; ++i) {
    const std::string key = "k" + std::to_string(i);
    out.push_back(i % 2 == 0 || !with_payers ? rig.create(key, rig.payout())
                                             : rig.create_authorized(key, rig.from_payer()));
  }
  return out;
}

/// Each moved once, with one body at each number and one delivery of each job.
void check_all_well(Rig& rig, const std::vector<domain::Intent>& intents) {
  for (const domain::Intent& intent : intents) {
    // Numbers go out in order, and whoever found an earlier one missing comes back by its backoff.
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 3'600'000));
    check_paid_once(rig, intent);
  }
  CHECK(rig.chain.count(rig.accounts[0]) == payments);
  for (std::uint64_t n = 0; n < payments; ++n) {
    CHECK(rig.chain.bodies(rig.accounts[0], {n}).size() == 1);
  }
  CHECK(rig.engine->stats().failed + rig.engine->stats().canceled == 0);
  CHECK(rig.engine->stats().reviews == 0);
  check_audit(rig);
}

}  // namespace

TEST_CASE(
    "K2: the wall clock jumps 25 hours with 50 in the pool: nothing is sent or ended for it") {
  for (const std::int64_t jump_ms : {25 * hour_ms, -25 * hour_ms}) {
    CAPTURE(jump_ms);
    Rig rig(without_blocks());
    rig.start();
    const auto intents = create_all(rig, true);
    REQUIRE(rig.world.run_until([&] { return rig.chain.posts().size() == payments; }, 60'000));
    rig.world.clock().step_wall(jump_ms);
    rig.world.run_for(20'000);  // of real time: nothing is stuck yet
    CHECK(rig.chain.posts().size() == payments);
    CHECK(rig.engine->stats().leased == payments);
    rig.chain.mine(4);
    check_all_well(rig, intents);
  }
}

TEST_CASE("K2: the wall clock jumps in the middle of 50 deliveries, and back: each moves once") {
  for (const std::int64_t jump_ms : {25 * hour_ms, -25 * hour_ms}) {
    for (const std::int64_t after_ms : {0, 250, 700, 1'100, 1'600}) {
      CAPTURE(jump_ms);
      CAPTURE(after_ms);
      RigOptions options = without_blocks();
      options.latency_ms = 400;
      Rig rig(options);
      rig.chain.script().set_down(true);
      rig.start();
      const auto intents = create_all(rig, false);
      rig.chain.script().set_down(false);
      REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == payments; }, 60'000));
      rig.world.run_for(after_ms);
      rig.world.clock().step_wall(jump_ms);
      rig.world.run_for(15'000);
      for (const domain::Intent& intent : intents) {
        CHECK_FALSE(domain::is_terminal(rig.state(intent.id)));
      }
      rig.world.clock().step_wall(-jump_ms);
      rig.chain.set_block_ms(1'000);
      check_all_well(rig, intents);
    }
  }
}

TEST_CASE("K2: a process that slept ten minutes hands no running job out again") {
  for (const std::int64_t after_ms : {0, 250, 700, 1'100, 1'600}) {
    CAPTURE(after_ms);
    RigOptions options = without_blocks();
    options.latency_ms = 400;
    Rig rig(options);
    rig.chain.script().set_down(true);
    rig.start();
    const auto intents = create_all(rig, false);
    rig.chain.script().set_down(false);
    REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == payments; }, 60'000));
    rig.world.run_for(after_ms);
    rig.world.clock().advance_to(rig.world.clock().mono_ms() + 600'000);
    for (int i = 0; i < 10; ++i) {
      rig.world.run_for(500);
      for (const domain::Intent& intent : intents) {
        const auto job = rig.job(intent.id);
        CHECK((!job || job->lapsed_leases == 0));
      }
    }
    rig.chain.set_block_ms(1'000);
    check_all_well(rig, intents);
  }
}

TEST_CASE("K2: a wall clock that jumps sends nobody's outside payment to review before its time") {
  for (const std::int64_t jump_ms : {25 * hour_ms, -25 * hour_ms}) {
    CAPTURE(jump_ms);
    RigOptions options;
    options.with_opaque = true;
    Rig rig(options);
    rig.start();
    rig.opaque->next_answer(ports::Unknown{"no answer", false});
    engine::NewPayment payment = rig.payout();
    payment.chain = "opaque:1";
    const domain::Intent intent = rig.create("one", payment);
    rig.world.run_for(10'000);
    REQUIRE(rig.state(intent.id) == IntentState::settling);
    rig.world.clock().step_wall(jump_ms);
    rig.world.run_for(200'000);
    CHECK(rig.state(intent.id) == IntentState::settling);  // five minutes are not over
    REQUIRE(rig.reaches(intent.id, IntentState::needs_review, 300'000));
    CHECK(rig.opaque->sends(intent.id) == 1);
  }
}

TEST_CASE(
    "watch: how long a record has been as it is counts the chain's time, from the first look") {
  engine::Watched watched;
  CHECK_FALSE(engine::unchanged_s(watched, 1'000, 0).has_value());
  // A chain whose clock is days ahead of ours, or behind it.
  for (const std::int64_t chain_s : {900'000, 500}) {
    const std::int64_t record_ms = 1'000 + chain_s;
    CHECK(engine::unchanged_s(watched, record_ms, chain_s) == 0);
    CHECK(engine::unchanged_s(watched, record_ms, chain_s + 40) == 40);
  }
  CHECK(engine::unchanged_s(watched, 9'000, 700) == 0);
}
