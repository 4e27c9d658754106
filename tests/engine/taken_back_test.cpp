// A chain that takes back finality: all that it may have taken with it is looked at.
#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/reads.hpp"
#include "store/statements.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using domain::SlotState;
using testing::Rig;
using testing::RigOptions;

namespace {

std::vector<domain::Intent> settled_payouts(Rig& rig, int count) {
  std::vector<domain::Intent> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(rig.create("k" + std::to_string(i), rig.payout()));
  for (const domain::Intent& one : out) {
    REQUIRE(rig.reaches(one.id, IntentState::confirming, 60'000));
  }
  rig.mine_for(8);
  for (const domain::Intent& one : out) REQUIRE(rig.state(one.id) == IntentState::settled);
  return out;
}

int quarantined(Rig& rig, const std::vector<domain::Intent>& all) {
  int out = 0;
  for (const domain::Intent& one : all) {
    if (rig.detail(one.id).slot->state == SlotState::reconciliation_required) ++out;
  }
  return out;
}

}  // namespace

TEST_CASE("F7: more numbers than one look takes are looked at, to where all stands as it was") {
  RigOptions options;
  options.block_ms = 0;
  options.max_unconsumed = 300;
  Rig rig(options);
  rig.start();
  const auto paid = settled_payouts(rig, 250);
  rig.chain.reorg(8, sim::ScriptedChain::Fate::dropped);
  rig.world.run_for(10'000);
  CHECK(quarantined(rig, paid) == 250);
  testing::check_audit(rig);
}

TEST_CASE("F7: a number whose consumer no node told of is asked for again") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const auto paid = settled_payouts(rig, 3);
  rig.chain.reorg(8, sim::ScriptedChain::Fate::dropped);
  rig.chain.script().fail_next(sim::ChainCall::find, sim::unknown("no answer"), 40);
  rig.world.run_for(5'000);
  CHECK(rig.engine->chains().front().why.find("was final") != std::string::npos);
  rig.mine_for(60);
  CHECK(quarantined(rig, paid) == 3);
  testing::check_audit(rig);
}

namespace {

bool is_halted(Rig& rig) {
  const auto chains = rig.engine->chains();
  return chains.front().why.find("was final") != std::string::npos;
}

}  // namespace

TEST_CASE("F7: what was called final in the middle of a poll is known when it is taken back") {
  int called_final = 0;
  for (int at_ms = 0; at_ms < 12'000; at_ms += 500) {
    CAPTURE(at_ms);
    RigOptions options;
    options.block_ms = 0;
    options.latency_ms = 1'000;
    Rig rig(options);
    rig.start();
    rig.world.run_for(20'000);
    REQUIRE(rig.engine->chains().front().usable);
    rig.chain.mine(8);
    rig.world.run_for(at_ms);
    const bool is_called_final = rig.engine->chains().front().finalized >= 1;
    rig.chain.reorg(8, sim::ScriptedChain::Fate::dropped);
    rig.world.run_for(60'000);
    if (!is_called_final) continue;
    ++called_final;
    CHECK(is_halted(rig));
  }
  CHECK(called_final > 0);
}

TEST_CASE("F7: a chain that was not usable meanwhile stands as it was called final before") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.mine_for(15);
  rig.mine_for(4);  // the store notes what is final each ten seconds
  rig.chain.reorg(3, sim::ScriptedChain::Fate::dropped);
  rig.chain.script().set_down(true);
  rig.world.run_for(20'000);
  REQUIRE_FALSE(rig.engine->chains().front().usable);
  rig.chain.script().set_down(false);
  rig.mine_for(20);
  CHECK(is_halted(rig));
}

TEST_CASE("F7: a new final block below all that is followed does not hide the one taken back") {
  for (const std::size_t failed_reads : {0, 1}) {
    CAPTURE(failed_reads);
    RigOptions options;
    options.block_ms = 0;
    Rig rig(options);
    rig.start();
    rig.mine_for(10);
    rig.crash();  // follows from the newest block on
    rig.world.run_for(5'000);
    REQUIRE(rig.engine->chains().front().usable);
    REQUIRE(rig.engine->chains().front().finalized == 8);
    rig.chain.reorg(4, sim::ScriptedChain::Fate::dropped);
    rig.chain.mine(1);
    rig.chain.script().fail_next(sim::ChainCall::block_hash, sim::unknown(), failed_reads);
    rig.world.run_for(30'000);
    CHECK(is_halted(rig));
  }
}

TEST_CASE("F7: the next process knows the final block that a payment ended by") {
  for (const std::size_t failed_reads : {0, 1, 2}) {  // of the first attempts to bring it up
    CAPTURE(failed_reads);
    RigOptions options;
    options.block_ms = 0;
    Rig rig(options);
    rig.start();
    rig.mine_for(13);  // noted a moment ago: the next note is far
    const auto paid = settled_payouts(rig, 1);
    rig.crash_without_restart();
    rig.chain.reorg(8, sim::ScriptedChain::Fate::dropped);
    rig.chain.mine(10);
    rig.chain.script().fail_next(sim::ChainCall::block_hash, sim::unknown(), failed_reads);
    rig.start();
    rig.mine_for(20);
    CHECK(is_halted(rig));
    CHECK(quarantined(rig, paid) == 1);
    testing::check_audit(rig);
  }
}

namespace {

// What was final is taken back while nobody follows the chain, and noticed while the disk is full.
void halt_on_full_disk(Rig& rig) {
  rig.start();
  const auto paid = settled_payouts(rig, 1);
  rig.mine_for(15);
  rig.chain.script().set_down(true);
  rig.world.run_for(20'000);
  REQUIRE_FALSE(rig.engine->chains().front().usable);
  rig.chain.reorg(20, sim::ScriptedChain::Fate::dropped);
  rig.chain.mine(25);
  rig.disk.fill_up();
  rig.chain.script().set_down(false);
  REQUIRE(rig.world.run_until([&] { return is_halted(rig); }, 30'000));
}

std::int64_t halts_on_record(Rig& rig) {
  return rig.read([](store::Txn& txn) {
    return store::number_of(
        txn, "SELECT count(*) FROM events WHERE kind = 'chain' AND reason LIKE '% halted: %'");
  });
}

RigOptions by_hand_on_disk() {
  RigOptions options;
  options.block_ms = 0;
  options.on_disk = true;
  return options;
}

}  // namespace

TEST_CASE("F7: a chain halted while the disk was full is halted on record, and after a restart") {
  Rig rig(by_hand_on_disk());
  halt_on_full_disk(rig);
  CHECK(halts_on_record(rig) == 0);
  rig.disk.make_room();
  rig.world.run_for(10'000);
  CHECK(halts_on_record(rig) == 1);
  rig.crash();
  rig.world.run_for(10'000);
  CHECK(is_halted(rig));
  testing::check_audit(rig);
}

TEST_CASE("F7: a chain halted in memory alone is acknowledged on record, once") {
  Rig rig(by_hand_on_disk());
  halt_on_full_disk(rig);
  REQUIRE(halts_on_record(rig) == 0);
  const auto ann = rig.by("ann");
  const domain::ChainId chain = rig.chain.info().id;
  rig.disk.make_room();
  const auto first = rig.run(rig.engine->acknowledge(ann, chain, "looked"));
  REQUIRE(first.has_value());
  CHECK_FALSE(*first);
  CHECK(halts_on_record(rig) == 1);
  const auto again = rig.run(rig.engine->acknowledge(ann, chain, "looked"));
  REQUIRE(again.has_value());
  CHECK(*again);
  rig.world.run_for(10'000);
  CHECK_FALSE(is_halted(rig));
}

TEST_CASE("F7: an engine whose accounts another has taken over notes no final block any more") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.mine_for(15);
  const auto noted = [&] {
    return rig.read([](store::Txn& txn) { return store::chain_record(txn, {"sim:1"}); })
        .final_block->height;
  };
  const std::uint64_t before = noted();
  REQUIRE(before > 0);
  rig.run(rig.store->write([](store::Txn& txn) {
    return store::take_over_account(txn, {"sim:1"}, {"relayer0"}, "another", 1);
  }));
  rig.mine_for(40);
  REQUIRE_FALSE(rig.engine->broken());
  CHECK(noted() == before);
}

// Found by the simulator (hell, seed 5463): the chain was down for a moment, and what the engine
// had called final by itself before that counted as noted.
TEST_CASE("F7: what a payment ended on is on record, whatever was called final without a note") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  settled_payouts(rig, 1);
  const auto noted = [&] {
    const auto record =
        rig.read([&](store::Txn& txn) { return store::chain_record(txn, rig.chain.info().id); });
    return record.final_block ? record.final_block->height : 0;
  };
  // The next note is some seconds away.
  const std::uint64_t before = noted();
  for (int i = 0; i < 60 && noted() == before; ++i) rig.mine_for(1);
  REQUIRE(noted() > before);
  const domain::Intent next = rig.create("next", rig.payout());
  REQUIRE(rig.reaches(next.id, IntentState::confirming, 5'000));
  rig.chain.script().fail_next(sim::ChainCall::vouch, sim::unknown("they disagree"), 1'000);
  rig.chain.mine(6);
  rig.world.run_for(2'000);
  REQUIRE(rig.state(next.id) == IntentState::confirming);
  rig.chain.script().set_down(true);
  rig.world.run_for(10'000);
  REQUIRE_FALSE(rig.engine->chains().front().usable);
  rig.chain.script().set_down(false);
  rig.world.run_for(5'000);
  REQUIRE(rig.engine->chains().front().usable);
  REQUIRE(rig.state(next.id) == IntentState::confirming);
  rig.chain.script().fail_no_more(sim::ChainCall::vouch);
  REQUIRE(rig.reaches(next.id, IntentState::settled, 10'000));
  const auto paid = rig.chain.mined(*rig.find(next.id).tx_hash);
  REQUIRE(paid.has_value());
  CHECK(noted() >= paid->block.height);
  testing::check_audit(rig);
}
