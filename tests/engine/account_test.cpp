// What a sending account does by itself: noops where a payment should not run any more, lost pools
// posted again in order, gaps filled, dearer transactions at the same number.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::AttemptKind;
using domain::IntentState;
using domain::SlotState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  return options;
}

std::size_t noops(Rig& rig, const domain::IntentId& id) {
  const auto attempts = rig.detail(id).attempts;
  return static_cast<std::size_t>(
      std::count_if(attempts.begin(), attempts.end(),
                    [](const domain::Attempt& one) { return one.kind == AttemptKind::noop; }));
}

void abandon(Rig& rig, const domain::IntentId& id) {
  REQUIRE(rig.run(rig.engine->abandon(rig.by("ann"), id, "not wanted")).has_value());
}

/// Payments in line with their bytes: the first keeps its number and is not signed yet, so none is
/// posted.
std::vector<domain::Intent> in_line(Rig& rig, std::size_t count) {
  for (int i = 0; i < 2; ++i) rig.signer.fail_next(ports::Unknown{"no answer", false});
  std::vector<domain::Intent> out{rig.create("k0", rig.payout())};
  while (!rig.detail(out.front().id).slot) rig.world.run_for(10);
  rig.world.run_for(100);
  REQUIRE(rig.detail(out.front().id).attempts.empty());
  rig.signer.fail_next(ports::Unknown{"no answer", false});
  while (out.size() < count) {
    out.push_back(rig.create("k" + std::to_string(out.size()), rig.payout()));
    const domain::IntentId id = out.back().id;
    for (int i = 0; i < 500 && rig.detail(id).attempts.empty(); ++i) rig.world.run_for(10);
    REQUIRE_FALSE(rig.detail(id).attempts.empty());
  }
  REQUIRE(rig.chain.posts().empty());
  return out;
}

}  // namespace

TEST_CASE("account: an abandoned payment ends by a noop at its number, and those behind it go on") {
  Rig rig(by_hand());
  rig.start();
  rig.chain.hold_pool(true);
  const domain::Intent dropped = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(dropped.id, IntentState::confirming, 5'000));
  const domain::Intent next = rig.create("two", rig.payout());
  REQUIRE(rig.reaches(next.id, IntentState::confirming, 5'000));
  abandon(rig, dropped.id);
  // Nothing mines: it is taken back as stuck, and given to the account.
  rig.mine_for(45);
  CHECK(noops(rig, dropped.id) >= 1);
  rig.chain.hold_pool(false);
  rig.mine_for(20);
  REQUIRE(rig.reaches(dropped.id, IntentState::failed, 120'000));
  CHECK(rig.find(dropped.id).reason == "slot_consumed");
  CHECK(rig.chain.moved(dropped.ref) == 0);
  rig.mine_for(10);
  REQUIRE(rig.reaches(next.id, IntentState::settled, 60'000));
  check_paid_once(rig, next);
  CHECK(rig.chain.count({"relayer0"}) == 2);
  check_audit(rig);
}

TEST_CASE("account: bytes of a payment that is abandoned while they wait in line are not posted") {
  Rig rig(by_hand());
  rig.start();
  const auto line = in_line(rig, 2);
  const domain::Intent& first = line[0];
  const domain::Intent& second = line[1];
  const Bytes bytes = rig.detail(second.id).attempts.front().bytes;
  abandon(rig, second.id);
  rig.mine_for(120);
  CHECK(rig.state(first.id) == IntentState::settled);
  const auto& posts = rig.chain.posts();
  CHECK(std::none_of(posts.begin(), posts.end(),
                     [&](const sim::PostRecord& post) { return post.bytes == bytes; }));
  CHECK(rig.state(second.id) == IntentState::failed);
  CHECK(rig.chain.moved(second.ref) == 0);
  check_audit(rig);
}

TEST_CASE("account: what stands above bytes that are not sent waits for the noop at their number") {
  Rig rig(by_hand());
  rig.start();
  const auto line = in_line(rig, 3);
  const domain::Intent& second = line[1];
  const domain::Intent& third = line[2];
  const Bytes bytes = rig.detail(third.id).attempts.front().bytes;
  abandon(rig, second.id);
  rig.mine_for(120);
  const auto detail = rig.detail(second.id);
  const auto noop = std::ranges::find(detail.attempts, AttemptKind::noop, &domain::Attempt::kind);
  REQUIRE(noop != detail.attempts.end());
  const auto& posts = rig.chain.posts();
  const auto first_post_of = [&](const Bytes& of) {
    return std::ranges::find(posts, of, &sim::PostRecord::bytes) - posts.begin();
  };
  CHECK(first_post_of(noop->bytes) < first_post_of(bytes));
  CHECK(rig.state(third.id) == IntentState::settled);
  check_audit(rig);
}

TEST_CASE("account: an abandoned payment that was mined all the same is settled, not failed") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  abandon(rig, intent.id);
  rig.mine_for(8);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
  check_paid_once(rig, intent);
  check_audit(rig);
}

TEST_CASE("account: a lost pool comes back at once and in order, each with its own bytes") {
  Rig rig(by_hand());
  rig.start();
  std::vector<domain::Intent> intents;
  for (int i = 0; i < 6; ++i) {
    intents.push_back(rig.create("k" + std::to_string(i), rig.payout()));
    REQUIRE(rig.reaches(intents.back().id, IntentState::confirming, 5'000));
  }
  rig.chain.forget_pool();
  const std::size_t before = rig.chain.posts().size();
  rig.world.run_for(45'000);
  CHECK(rig.chain.pool_size() == 6);
  std::vector<domain::TxHash> again;
  for (std::size_t i = before; i < rig.chain.posts().size(); ++i) {
    const domain::TxHash& hash = rig.chain.posts()[i].hash;
    if (std::find(again.begin(), again.end(), hash) == again.end()) again.push_back(hash);
  }
  REQUIRE(again.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(again[i] == rig.find(intents[i].id).tx_hash);
  rig.mine_for(6);
  for (const domain::Intent& intent : intents) {
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
    check_paid_once(rig, intent);
  }
  for (std::uint64_t n = 0; n < 6; ++n) CHECK(rig.chain.bodies({"relayer0"}, {n}).size() == 1);
  check_audit(rig);
}

TEST_CASE(
    "account: stuck in the pool it is made dearer at the same number, and any of them may win") {
  for (const bool first_wins : {true, false}) {
    CAPTURE(first_wins);
    Rig rig(by_hand());
    rig.start();
    const domain::Intent intent = rig.create("one", rig.payout());
    REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
    const sim::PostRecord first = rig.chain.posts().front();
    rig.chain.hold_pool(true);
    rig.mine_for(45);
    REQUIRE(rig.detail(intent.id).attempts.size() >= 2);
    CHECK(rig.chain.bodies({"relayer0"}, {0}).size() >= 2);
    CHECK(rig.chain.bodies({"relayer0"}, {1}).empty());
    rig.chain.hold_pool(false);
    if (first_wins) {
      rig.chain.forget_pool();
      REQUIRE(rig.run(rig.chain.post(first.bytes, first.hash)).ok() != nullptr);
    }
    rig.mine_for(6);
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
    CHECK((rig.find(intent.id).tx_hash == first.hash) == first_wins);
    check_paid_once(rig, intent);
    CHECK(rig.detail(intent.id).slot->consumed_by == rig.find(intent.id).tx_hash);
    check_audit(rig);
  }
}

TEST_CASE("account: no block, no bump: the same bytes go out again") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  rig.world.run_for(20'000);
  rig.chain.forget_pool();
  rig.world.run_for(100'000);
  CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
  CHECK(rig.chain.posts().size() >= 2);
  rig.mine_for(5);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
  check_paid_once(rig, intent);
}

TEST_CASE("account: a noop that cannot be quoted is shown with its account, until it is") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent one = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(one.id, IntentState::confirming, 5'000));
  rig.chain.forget_pool();
  REQUIRE(rig.run(rig.engine->abandon(rig.by("ann"), one.id, "changed mind")).has_value());
  rig.chain.script().fail_next(sim::ChainCall::simulate,
                               ports::Refused{ports::RefusalKind::reverted, "no code"}, 20);
  for (int i = 0; i < 60 && !rig.detail(one.id).slot->handed_over; ++i) rig.world.run_for(1'000);
  REQUIRE(rig.detail(one.id).slot->handed_over);
  rig.world.run_for(5'000);
  const auto trouble = rig.run(rig.engine->accounts()).front().trouble;
  CHECK_MESSAGE(trouble.find("its noop cannot be quoted") != std::string::npos, trouble);
  SUBCASE("and it is signed then") {
    rig.mine_for(60);
    CHECK(rig.run(rig.engine->accounts()).front().trouble.empty());
    CHECK(rig.detail(one.id).slot->state == SlotState::consumed);
  }
  SUBCASE("but not under another engine's epoch: that ends this one's work on the store") {
    rig.run(rig.store->write([](store::Txn& txn) {
      return store::take_over_account(txn, {"sim:1"}, {"relayer0"}, "another", 1);
    }));
    rig.world.run_for(60'000);
    CHECK(rig.engine->broken());
  }
}
