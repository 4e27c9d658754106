// The delivery budget in the running engine: workers that die spend it, outages do not, and what
// has none left ends safely while everything behind it goes on.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/dead_letters.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

/// `times` workers of another process lease the job one after the other, and each dies with it.
void die_with_it(Rig& rig, const domain::IntentId& id, int times) {
  constexpr std::int64_t lease_ms = 20;
  for (int i = 0; i < times; ++i) {
    store::LeaseRequest wanted;
    wanted.now_ms = rig.world.clock().wall_ms();
    wanted.lease_ms = lease_ms;
    wanted.instance = rig.world.entropy().bytes<domain::InstanceId>();
    wanted.receipts = {rig.world.entropy().bytes<domain::Receipt>()};
    const auto leased = rig.run(
        rig.store->write([wanted](store::Txn& txn) { return store::lease_jobs(txn, wanted); }));
    REQUIRE(leased.size() == 1);
    REQUIRE(leased[0].facts.intent.id == id);
    rig.world.run_for(lease_ms + 1);
  }
}

std::vector<store::DeadLetter> letters(Rig& rig) {
  return rig.read([](store::Txn& txn) { return store::dead_letters(txn, 100, 0, true); }).letters;
}

RigOptions small_budget(std::int64_t block_ms = 1'000) {
  RigOptions options;
  options.block_ms = block_ms;
  options.config.policy.max_lapsed_leases = 2;
  return options;
}

}  // namespace

TEST_CASE(
    "Q6: workers that die with a job spend its budget; the payment goes to review, its job to"
    " the dead letters, and the five behind it settle") {
  Rig rig(small_budget(0));
  rig.chain.script().next_post(sim::NextPost::accept_answer_unknown());
  rig.start();
  const domain::Intent sick = rig.create("sick", rig.payout());
  while (rig.chain.posts().empty()) rig.world.run_for(10);
  rig.crash_without_restart();  // the bytes are out, no answer was stored
  rig.run(rig.store->write([now_ms = rig.world.clock().wall_ms()](store::Txn& txn) {
    return store::return_leases(txn, now_ms);
  }));
  die_with_it(rig, sick.id, 4);
  // The last of them is counted by whoever leases next: the engine that starts now.
  rig.run(rig.store->write([now_ms = rig.world.clock().wall_ms()](store::Txn& txn) {
    return store::return_leases(txn, now_ms);
  }));
  rig.start();
  REQUIRE(rig.reaches(sick.id, IntentState::needs_review, 5'000));
  const auto detail = rig.detail(sick.id);
  CHECK(detail.intent.reason == "budget_spent");
  CHECK(detail.slot->state != domain::SlotState::released);
  CHECK(rig.pending_hold("sim:1").decimal() == "1000000");
  CHECK_FALSE(rig.job(sick.id).has_value());
  REQUIRE(letters(rig).size() == 1);
  CHECK(letters(rig)[0].job.intent == sick.id);
  CHECK(letters(rig)[0].lapsed_leases == 3);
  CHECK(letters(rig)[0].state == IntentState::needs_review);
  CHECK(rig.engine->stats().alarms >= 2);  // the review, and the parking

  std::vector<domain::Intent> behind;
  behind.reserve(5);
  for (int i = 0; i < 5; ++i) {
    behind.push_back(rig.create("behind" + std::to_string(i), rig.payout()));
  }
  // Mined at last: the hash is evidence, and ends the review by itself.
  rig.chain.set_block_ms(1'000);
  REQUIRE(rig.reaches(sick.id, IntentState::settled, 20'000));
  check_paid_once(rig, sick);
  for (const domain::Intent& one : behind) {
    REQUIRE(rig.reaches(one.id, IntentState::settled, 20'000));
    check_paid_once(rig, one);
  }
  CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
  CHECK(letters(rig).size() == 1);  // signed away by a person only
  check_audit(rig);
}

TEST_CASE(
    "budget: spent before anything was signed, the payment ends canceled and its job parked") {
  Rig rig(small_budget());
  rig.chain.script().set_down(true);
  rig.start();
  const domain::Intent sick = rig.create("sick", rig.payout());
  rig.world.run_for(100);
  die_with_it(rig, sick.id, 4);
  rig.chain.script().set_down(false);
  REQUIRE(rig.reaches(sick.id, IntentState::canceled, 30'000));
  CHECK(rig.find(sick.id).reason == "budget_spent");
  REQUIRE(letters(rig).size() == 1);
  CHECK(letters(rig)[0].state == IntentState::canceled);
  CHECK(rig.chain.posts().empty());
  check_audit(rig);
}

TEST_CASE("budget: an outage of hours spends nothing, however often the job is delivered") {
  for (const sim::ChainCall silent : {sim::ChainCall::simulate, sim::ChainCall::post}) {
    Rig rig(small_budget());
    rig.start();
    rig.chain.script().fail_next(silent, ports::Unknown{"no answer"}, 100'000);
    if (silent == sim::ChainCall::post) {
      for (int i = 0; i < 2'000; ++i) rig.chain.script().next_post(sim::NextPost::not_sent());
    }
    const domain::Intent intent = rig.create("one", rig.payout());
    rig.world.run_for(7'200'000);
    const auto job = rig.job(intent.id);
    REQUIRE(job.has_value());
    CHECK(job->deliveries > 20);
    CHECK(job->lapsed_leases == 0);
    CHECK(letters(rig).empty());
    const auto state = rig.state(intent.id);
    CHECK((state == IntentState::authorized || state == IntentState::settling));
  }
}

TEST_CASE(
    "budget: a disk that is full for a quarter of an hour is neither poison nor a lost lease") {
  RigOptions options;
  options.on_disk = true;
  options.config.policy.max_lapsed_leases = 0;
  Rig rig(options);
  rig.start();
  std::vector<domain::Intent> intents;
  intents.reserve(5);
  for (int i = 0; i < 5; ++i) {
    intents.push_back(rig.create("k" + std::to_string(i), rig.payout()));
  }
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == 5; }, 5'000));
  rig.disk.fill_up();
  rig.world.run_for(900'000);
  rig.disk.make_room();
  for (const domain::Intent& intent : intents) {
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
    check_paid_once(rig, intent);
  }
  CHECK(letters(rig).empty());
  check_audit(rig);
}

TEST_CASE("poison: a delivery that goes round in circles ends its payment safely, and is parked") {
  struct Row {
    int steps;
    IntentState ending;
  };
  // A send slot and a simulation are asked for, then the claim; with it comes the signature.
  for (const Row row : {Row{1, IntentState::canceled}, Row{3, IntentState::failed},
                        Row{4, IntentState::needs_review}}) {
    CAPTURE(row.steps);
    RigOptions options = small_budget(0);
    options.config.most_steps = row.steps;
    Rig rig(options);
    rig.start();
    const domain::Intent intent = rig.create("one", rig.payout());
    REQUIRE(rig.reaches(intent.id, row.ending, 5'000));
    CHECK(rig.find(intent.id).reason == "budget_spent");
    CHECK_FALSE(rig.job(intent.id).has_value());
    REQUIRE(letters(rig).size() == 1);
    CHECK(letters(rig)[0].verdict == "declared_poison");
    CHECK(letters(rig)[0].lapsed_leases == 0);
    const bool open = row.ending == IntentState::needs_review;
    CHECK(rig.pending_hold("sim:1").decimal() == (open ? "1000000" : "0"));
    CHECK(rig.chain.moved(intent.ref) == 0);
    check_audit(rig);
  }
}
