// What an operator asks for once more, when the first answer was lost on its way.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using engine::EngineError;
using testing::Rig;
using testing::RigOptions;

namespace {

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  return options;
}

std::ptrdiff_t steps_with(Rig& rig, const std::string& part) {
  const auto events = rig.run(rig.engine->events(0, 1'000));
  return std::count_if(events.begin(), events.end(), [&](const engine::HistoryItem& item) {
    return item.reason.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("repeats: the same adoption again is answered as before, and adopts nothing else") {
  Rig rig(by_hand());
  rig.start();
  const domain::ChainId chain = rig.chain.info().id;
  const domain::Address account = rig.accounts.front();
  const auto use = [&](std::uint64_t sequence) {
    rig.chain.run_elsewhere(
        {account, {sequence}, rig.chain.noop_call(account), {U256{5'000}, U256{500}, 60'000}});
    rig.mine_for(8);
    rig.world.run_for(4'000);
  };
  use(0);
  const engine::Caller ann = rig.by("ann");
  const auto adopt = [&](const engine::Caller& who) {
    return rig.run(rig.engine->adopt(who, chain, account, "mine"));
  };
  const auto first = adopt(ann);
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  CHECK_FALSE(first->replayed);
  const auto again = adopt(ann);
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->goes_on_from == first->goes_on_from);
  // Used elsewhere once more: the old request does not answer for that.
  use(1);
  REQUIRE_FALSE(rig.run(rig.engine->accounts()).front().blocked.empty());
  REQUIRE(adopt(ann)->replayed);
  CHECK_FALSE(rig.run(rig.engine->accounts()).front().blocked.empty());
  CHECK(steps_with(rig, "adopted at number") == 1);
  engine::Caller other = ann;
  other.fingerprint = Digest{};
  CHECK(adopt(other).error().code == EngineError::key_reused);
  CHECK_FALSE(adopt(rig.by("ann"))->replayed);
}

TEST_CASE(
    "repeats: the same acknowledgement again lets a chain go on once, and not the next time") {
  Rig rig(by_hand());
  rig.start();
  const domain::ChainId chain = rig.chain.info().id;
  const auto halt = [&] {
    rig.mine_for(8);
    rig.chain.reorg(6, sim::ScriptedChain::Fate::dropped);
    rig.mine_for(4);
    return rig.engine->chains().front().why.find("was final") != std::string::npos;
  };
  REQUIRE(halt());
  const engine::Caller ann = rig.by("ann");
  const auto first = rig.run(rig.engine->acknowledge(ann, chain, "looked"));
  REQUIRE(first.has_value());
  CHECK_FALSE(*first);
  const auto again = rig.run(rig.engine->acknowledge(ann, chain, "looked"));
  REQUIRE(again.has_value());
  CHECK(*again);
  REQUIRE(halt());
  CHECK(*rig.run(rig.engine->acknowledge(ann, chain, "looked")));
  rig.world.run_for(4'000);
  CHECK(rig.engine->chains().front().why.find("was final") != std::string::npos);
  CHECK(steps_with(rig, "goes on: looked") == 1);
}

TEST_CASE(
    "repeats: the same abandon again is answered as before, also when the payment has ended") {
  for (const bool early : {true, false}) {
    CAPTURE(early);
    Rig rig(by_hand());
    rig.start();
    const domain::Intent intent =
        early ? rig.create("one", rig.from_payer()) : rig.create("one", rig.payout());
    if (!early) REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
    const engine::Caller ann = rig.by("ann");
    const auto abandon = [&](const engine::Caller& who) {
      return rig.run(rig.engine->abandon(who, intent.id, "not wanted"));
    };
    const auto first = abandon(ann);
    REQUIRE(first.has_value());
    CHECK_FALSE(first->replayed);
    CHECK(first->intent.cancel_asked == !early);
    rig.mine_for(10);
    REQUIRE(domain::is_terminal(rig.state(intent.id)));
    const auto again = abandon(ann);
    REQUIRE_MESSAGE(again.has_value(), again.error().detail);
    CHECK(again->replayed);
    CHECK(again->intent.state == first->intent.state);
    CHECK(again->intent.version == first->intent.version);
    CHECK(steps_with(rig, "not wanted") == 1);
    testing::check_audit(rig);
  }
}

TEST_CASE("repeats: reconciling once more finds nothing left to change") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent lost = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(lost.id, IntentState::confirming, 5'000));
  rig.chain.forget_pool();
  const auto reconcile = [&] {
    return rig.run(rig.engine->reconcile("ann", rig.chain.info().id, rig.accounts.front()));
  };
  CHECK(reconcile()->changes.size() == 1);
  CHECK(reconcile()->changes.empty());
}
