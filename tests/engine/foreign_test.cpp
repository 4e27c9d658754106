// Accounts used elsewhere, stores put back from a backup, and chains that take back finality.
#include <algorithm>

#include <doctest/doctest.h>

#include <holdfast/domain/refs.hpp>

#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using domain::SlotState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

const domain::Address relayer{"relayer0"};

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  return options;
}

bool mined_until(Rig& rig, const domain::IntentId& id, IntentState wanted, int seconds) {
  for (int i = 0; i < seconds && rig.state(id) != wanted; ++i) rig.mine_for(1);
  return rig.state(id) == wanted;
}

/// Somebody else runs a transaction of nothing with our key.
domain::TxHash use_elsewhere(Rig& rig, std::uint64_t sequence) {
  return rig.chain.run_elsewhere(
      {relayer, {sequence}, rig.chain.noop_call(relayer), {U256{5'000}, U256{500}, 60'000}});
}

bool is_blocked(Rig& rig) {
  const auto accounts = rig.run(rig.engine->accounts());
  return !accounts.front().blocked.empty();
}

}  // namespace

TEST_CASE("foreign: an account used elsewhere takes no claims until it is adopted") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent first = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(first.id, IntentState::confirming, 5'000));
  rig.mine_for(5);
  REQUIRE(rig.state(first.id) == IntentState::settled);
  use_elsewhere(rig, 1);
  use_elsewhere(rig, 2);
  rig.mine_for(1);
  rig.world.run_for(5'000);
  CHECK(is_blocked(rig));
  const domain::Intent waiting = rig.create("two", rig.payout());
  rig.world.run_for(10'000);
  CHECK(rig.state(waiting.id) == IntentState::authorized);
  // Not final yet: what they were is not known.
  const auto early =
      rig.run(rig.engine->adopt(rig.by("ann"), rig.chain.info().id, relayer, "my script"));
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().code == engine::EngineError::try_again);
  rig.mine_for(6);
  const auto adopted =
      rig.run(rig.engine->adopt(rig.by("ann"), rig.chain.info().id, relayer, "my script"));
  REQUIRE_MESSAGE(adopted.has_value(), adopted.error().detail);
  CHECK(adopted->goes_on_from == domain::Sequence{3});
  REQUIRE(mined_until(rig, waiting.id, IntentState::settled, 90));
  CHECK(rig.detail(waiting.id).slot->sequence == domain::Sequence{3});
  check_paid_once(rig, waiting);
  check_audit(rig);
  // It stays adopted over a restart.
  rig.crash();
  rig.world.run_for(5'000);
  CHECK_FALSE(is_blocked(rig));
  const auto again =
      rig.run(rig.engine->adopt(rig.by("ann"), rig.chain.info().id, relayer, "again"));
  REQUIRE_FALSE(again.has_value());
  CHECK(again.error().code == engine::EngineError::wrong_state);
}

TEST_CASE("C2: a payout that the lost part of the store paid is found by its ref, not paid again") {
  Rig rig(by_hand());
  // As another store of ours paid it, which is gone now: same caller, same key, same terms.
  rig.start();
  const domain::Intent paid = rig.create("lost", rig.payout());
  REQUIRE(rig.reaches(paid.id, IntentState::confirming, 5'000));
  rig.mine_for(5);
  REQUIRE(rig.state(paid.id) == IntentState::settled);

  Rig fresh(by_hand());
  const sim::PostRecord post = rig.chain.posts().front();
  REQUIRE(fresh.run(fresh.chain.post(post.bytes, post.hash)).ok() != nullptr);
  fresh.chain.mine(5);
  fresh.start();
  fresh.world.run_for(5'000);
  CHECK(is_blocked(fresh));
  const domain::Intent retried = fresh.create("lost", fresh.payout());
  CHECK(retried.id == paid.id);
  CHECK(retried.ref == paid.ref);
  fresh.world.run_for(10'000);
  const auto adopted =
      fresh.run(fresh.engine->adopt(fresh.by("ann"), fresh.chain.info().id, relayer, "restored"));
  REQUIRE_MESSAGE(adopted.has_value(), adopted.error().detail);
  REQUIRE(mined_until(fresh, retried.id, IntentState::settled, 90));
  CHECK(fresh.find(retried.id).tx_hash == post.hash);
  CHECK(fresh.chain.moved(retried.ref) == 1);
  CHECK(fresh.chain.posts().size() == 1);
  CHECK(fresh.chain.count(relayer) == 1);
  check_audit(fresh);
}

TEST_CASE("foreign: a number used by no transaction is answered for, shown, and never given") {
  RigOptions options = by_hand();
  options.config.policy.review_after_ms = 20'000;
  Rig rig(options);
  rig.start();
  const domain::Intent first = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(first.id, IntentState::confirming, 5'000));
  rig.mine_for(5);
  rig.chain.use_number(relayer);
  const domain::TxHash theirs = use_elsewhere(rig, 2);
  rig.mine_for(6);
  rig.world.run_for(4'000);
  CHECK(is_blocked(rig));
  const auto status = rig.run(rig.engine->accounts()).front();
  CHECK(status.found_empty == std::vector<domain::Sequence>{{1}});
  const auto adopt = [&] {
    return rig.run(
        rig.engine->adopt(rig.by("ann"), rig.chain.info().id, relayer, "an authorization"));
  };
  const auto early = adopt();
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().code == engine::EngineError::try_again);
  CHECK(early.error().detail.find("number 1 is used, and no transaction") != std::string::npos);
  const auto mismatches = rig.engine->stats().slot_mismatches;
  rig.mine_for(30);
  CHECK(rig.engine->stats().slot_mismatches == mismatches);
  const auto adopted = adopt();
  REQUIRE_MESSAGE(adopted.has_value(), adopted.error().detail);
  CHECK(adopted->goes_on_from == domain::Sequence{3});
  CHECK(rig.chain.mined(theirs).has_value());
  const auto events = rig.run(rig.engine->events(0, 500));
  CHECK(std::any_of(events.begin(), events.end(), [](const engine::HistoryItem& item) {
    return item.reason.find("used, by no transaction found: 1") != std::string::npos;
  }));
  const domain::Intent next = rig.create("next", rig.payout());
  REQUIRE(mined_until(rig, next.id, IntentState::settled, 60));
  CHECK(rig.detail(next.id).slot->sequence == domain::Sequence{3});
  check_audit(rig);
}

TEST_CASE("foreign: numbers that nothing is found at hold up the end of no other") {
  RigOptions options = by_hand();
  options.config.policy.review_after_ms = 20'000;
  options.max_unconsumed = 20;
  Rig rig(options);
  rig.start();
  std::vector<domain::Intent> all;
  all.reserve(18);
  for (int i = 0; i < 18; ++i) {
    const std::string key = "k" + std::to_string(i);
    all.push_back(i < 17 ? rig.create(key, rig.payout())
                         : rig.create_authorized(key, rig.from_payer()));
    REQUIRE(rig.reaches(all.back().id, IntentState::confirming, 20'000));
  }
  const domain::Intent last = rig.find(all.back().id);
  rig.chain.forget_pool();
  for (int i = 0; i < 17; ++i) rig.chain.use_number(relayer);
  // The last one is paid by somebody else, so its number is its account's to end.
  rig.chain.give({"stranger"}, domain::native_asset, *U256::from_decimal("1000000000000"));
  rig.chain.run_elsewhere(
      {{"stranger"}, {0}, *rig.authorizations.call(last), {U256{2'000}, U256{100}, 60'000}});
  rig.mine_for(120);
  for (std::size_t i = 0; i < 17; ++i) CHECK(rig.state(all[i].id) == IntentState::needs_review);
  CHECK(rig.state(last.id) == IntentState::settled);
  CHECK(rig.detail(last.id).slot->state == SlotState::consumed);
  const auto mismatches = rig.engine->stats().slot_mismatches;
  rig.mine_for(60);
  CHECK(rig.engine->stats().slot_mismatches == mismatches);
  check_audit(rig);
}

TEST_CASE(
    "B4: another transaction at our number is no success: a fresh number, once, and an alarm") {
  Rig rig(by_hand());
  rig.start();
  rig.chain.script().next_post(sim::NextPost::not_sent());
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::settling, 5'000));
  rig.world.run_for(100);
  REQUIRE(rig.detail(intent.id).attempts.size() == 1);
  const domain::TxHash theirs = use_elsewhere(rig, 0);
  rig.world.run_for(10'000);
  CHECK(rig.state(intent.id) == IntentState::settling);
  CHECK(rig.chain.posts().size() >= 3);
  CHECK(rig.chain.moved(intent.ref) == 0);
  REQUIRE(mined_until(rig, intent.id, IntentState::settled, 120));
  check_paid_once(rig, intent);
  CHECK(rig.find(intent.id).tx_hash != theirs);
  CHECK(rig.engine->stats().alarms >= 1);
  CHECK(rig.chain.count(relayer) == 2);
  check_audit(rig);
}

TEST_CASE(
    "F7: a chain that takes back finality: nothing is claimed or posted until a person looked") {
  Rig rig(by_hand());
  rig.start();
  std::vector<domain::Intent> settled;
  settled.reserve(3);
  for (int i = 0; i < 3; ++i) settled.push_back(rig.create("k" + std::to_string(i), rig.payout()));
  for (const domain::Intent& one : settled) {
    REQUIRE(rig.reaches(one.id, IntentState::confirming, 10'000));
  }
  rig.mine_for(6);
  for (const domain::Intent& one : settled) REQUIRE(rig.state(one.id) == IntentState::settled);
  const std::size_t posts = rig.chain.posts().size();
  rig.chain.reorg(6, sim::ScriptedChain::Fate::dropped);
  rig.world.run_for(5'000);
  for (const domain::Intent& one : settled) {
    CHECK(rig.state(one.id) == IntentState::settled);
    CHECK(rig.detail(one.id).slot->state == SlotState::reconciliation_required);
  }
  CHECK(rig.engine->chains().front().why.find("was final") != std::string::npos);
  CHECK(rig.engine->stats().alarms >= 1);
  const domain::Intent next = rig.create("next", rig.payout());
  rig.mine_for(60);
  CHECK(rig.state(next.id) == IntentState::authorized);
  CHECK(rig.chain.posts().size() == posts);
  SUBCASE("also over a restart") {
    rig.crash();
    rig.mine_for(30);
    CHECK(rig.state(next.id) == IntentState::authorized);
    CHECK(rig.chain.posts().size() == posts);
  }
  SUBCASE("until it is acknowledged") {
    REQUIRE(
        rig.run(rig.engine->acknowledge(rig.by("ann"), rig.chain.info().id, "looked")).has_value());
    const auto twice =
        rig.run(rig.engine->acknowledge(rig.by("ann"), rig.chain.info().id, "looked"));
    REQUIRE_FALSE(twice.has_value());
    CHECK(twice.error().code == engine::EngineError::wrong_state);
    rig.world.run_for(5'000);
    CHECK(rig.engine->chains().front().why.find("was final") == std::string::npos);
  }
}

TEST_CASE("F7: mined again at another price, a transaction costs what was really paid") {
  for (const bool seen_gone : {true, false}) {
    CAPTURE(seen_gone);
    Rig rig(by_hand());
    rig.start();
    const domain::Intent paid = rig.create("one", rig.payout());
    REQUIRE(rig.reaches(paid.id, IntentState::confirming, 10'000));
    rig.mine_for(6);
    REQUIRE(rig.state(paid.id) == IntentState::settled);
    const domain::TxHash hash = *rig.find(paid.id).tx_hash;
    const domain::Amount before = rig.chain.mined(hash)->fee_paid;
    rig.chain.set_base_fee(U256{700});
    rig.chain.reorg(6, sim::ScriptedChain::Fate::repooled);
    if (seen_gone) rig.world.run_for(5'000);
    rig.mine_for(4);
    REQUIRE(
        rig.run(rig.engine->acknowledge(rig.by("ann"), rig.chain.info().id, "looked")).has_value());
    rig.mine_for(60);
    REQUIRE(rig.chain.mined(hash).has_value());
    const domain::Amount after = rig.chain.mined(hash)->fee_paid;
    REQUIRE(after != before);
    CHECK(rig.state(paid.id) == IntentState::settled);
    CHECK(rig.detail(paid.id).slot->state == SlotState::consumed);
    bool booked = false;
    for (const engine::BalanceItem& item : rig.run(rig.engine->balances(500))) {
      if (item.key.account != "gas:sim:1") continue;
      booked = true;
      CHECK(item.balance.posted.decimal() == after.decimal());
    }
    CHECK(booked);
    check_audit(rig);
    const domain::Intent next = rig.create("next", rig.payout());
    REQUIRE(mined_until(rig, next.id, IntentState::settled, 60));
  }
}

TEST_CASE("reconcile: unsigned numbers come back, signed ones that are nowhere are set apart") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent posted = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(posted.id, IntentState::confirming, 5'000));
  const domain::Intent lost = rig.create("two", rig.payout());
  REQUIRE(rig.reaches(lost.id, IntentState::confirming, 5'000));
  REQUIRE(rig.chain.forget(*rig.find(lost.id).tx_hash));
  const auto report = rig.run(rig.engine->reconcile("ann", rig.chain.info().id, relayer));
  REQUIRE_MESSAGE(report.has_value(), report.error().detail);
  CHECK(report->looked_at == 2);
  REQUIRE(report->changes.size() == 1);
  CHECK(report->changes[0].sequence == domain::Sequence{1});
  CHECK(report->changes[0].to == SlotState::reconciliation_required);
  CHECK(rig.detail(lost.id).slot->state == SlotState::reconciliation_required);
  CHECK_FALSE(rig.run(rig.engine->reconcile("ann", rig.chain.info().id, {"nobody"})).has_value());
  REQUIRE(mined_until(rig, lost.id, IntentState::settled, 90));
  check_paid_once(rig, posted);
  check_paid_once(rig, lost);
  check_audit(rig);
}

TEST_CASE("C2: what the lost part of the store left in the pool blocks the account too") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent paid = rig.create("lost", rig.payout());
  REQUIRE(rig.reaches(paid.id, IntentState::confirming, 5'000));
  Rig fresh(by_hand());
  fresh.chain.hold_pool(true);
  const sim::PostRecord post = rig.chain.posts().front();
  REQUIRE(fresh.run(fresh.chain.post(post.bytes, post.hash)).ok() != nullptr);
  fresh.start();
  fresh.world.run_for(5'000);
  CHECK(is_blocked(fresh));
  const domain::Intent retried = fresh.create("lost", fresh.payout());
  const auto early =
      fresh.run(fresh.engine->adopt(fresh.by("ann"), fresh.chain.info().id, relayer, "restored"));
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().code == engine::EngineError::try_again);
  fresh.chain.hold_pool(false);
  fresh.mine_for(8);
  REQUIRE(
      fresh.run(fresh.engine->adopt(fresh.by("ann"), fresh.chain.info().id, relayer, "restored"))
          .has_value());
  REQUIRE(mined_until(fresh, retried.id, IntentState::settled, 90));
  CHECK(fresh.find(retried.id).tx_hash == post.hash);
  CHECK(fresh.chain.moved(retried.ref) == 1);
  CHECK(fresh.chain.count(relayer) == 1);
  check_audit(fresh);
}
