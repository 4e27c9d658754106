// The scripted chain: pool, blocks, finality, reorgs, scripted answers.
#include "sim/chain.hpp"

#include <string>
#include <vector>

#include "sim/chain_rig.hpp"

namespace holdfast::testing {
namespace {

using domain::Moved;
using ports::RefusalKind;
using Place = ports::Whereabouts::Place;
using sim::NextPost;
using Fate = sim::ScriptedChain::Fate;

TEST_CASE("sim chain: a posted payout is pending, mined, final; money moves once and gas is paid") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    ChainRig rig(seed);
    const auto intent = rig.intent("a", 40);
    const auto tx = rig.sign(rig.call(intent), 0);
    REQUIRE(rig.post(tx).ok() != nullptr);
    CHECK(rig.place(tx.hash) == Place::pending);
    CHECK(rig.counts(rig.ours).pending.value == 1);
    CHECK(rig.counts(rig.ours).latest.value == 0);

    rig.chain.mine();
    const auto mined = rig.chain.mined(tx.hash);
    REQUIRE(mined);
    CHECK(mined->succeeded);
    CHECK(mined->trailing_ref == intent.ref);
    CHECK(mined->fee_paid == U256(55'000'000));
    CHECK(rig.payout.evidence(intent, *mined, false).moved == Moved::exact);
    CHECK(rig.chain.balance(rig.shop, rig.token) == U256(40));
    CHECK(rig.chain.balance(rig.ours, rig.token) == U256(960));
    CHECK(rig.chain.moved(intent.ref) == 1);
    CHECK(rig.counts(rig.ours).latest.value == 1);
    CHECK(rig.counts(rig.ours).finalized.value == 0);
    CHECK_FALSE(rig.world.run(rig.chain.consumer(rig.ours, {0})).ok()->has_value());

    rig.chain.mine(2);
    CHECK(rig.counts(rig.ours).finalized.value == 1);
    CHECK(rig.world.run(rig.chain.consumer(rig.ours, {0})).ok()->value().hash == tx.hash);
    const auto head = rig.world.run(rig.chain.head());
    CHECK(head.ok()->latest.height == 3);
    CHECK(head.ok()->finalized.height == 1);
    const auto block = rig.world.run(rig.chain.block(1));
    CHECK(block.ok()->value().txs.size() == 1);
    CHECK_FALSE(rig.world.run(rig.chain.block(4)).ok()->has_value());
  }
}

TEST_CASE("sim chain: a pool answers as nodes do") {
  ChainRig rig;
  const auto call = rig.call(rig.intent("a", 1));
  const auto first = rig.sign(call, 0);
  CHECK_FALSE(rig.post(first).ok()->already_known);
  CHECK(rig.post(first).ok()->already_known);
  CHECK(rig.post(rig.sign(call, 0, 105)).refused()->kind == RefusalKind::replacement_underpriced);
  const auto dearer = rig.sign(call, 0, 400);
  CHECK(rig.post(dearer).ok() != nullptr);
  CHECK(rig.place(first.hash) == Place::not_found);
  CHECK(rig.place(dearer.hash) == Place::pending);

  const auto later = rig.sign(call, 2);  // waits for number 1
  CHECK(rig.post(later).ok() != nullptr);
  CHECK(rig.counts(rig.ours).pending.value == 1);
  rig.chain.mine();
  CHECK(rig.counts(rig.ours).latest.value == 1);
  CHECK(rig.place(later.hash) == Place::pending);
  CHECK(rig.post(first).refused()->kind == RefusalKind::nonce_too_low);
  CHECK(rig.post(rig.sign(call, 1)).ok() != nullptr);
  rig.chain.mine();
  CHECK(rig.counts(rig.ours).latest.value == 3);
  CHECK(rig.chain.moved(rig.intent("a", 1).ref) == 3);  // its own account hides nothing

  auto poor = rig.sign({domain::Address{"poor"}, {0}, call, {U256(2'100), U256(100), 60'000}});
  CHECK(rig.post(poor).refused()->kind == RefusalKind::unfunded);
  poor.bytes[10] ^= 1;
  CHECK(rig.post(poor).refused()->kind == RefusalKind::malformed);
  const auto good = rig.sign(call, 3);
  const auto misnamed = rig.world.run(rig.chain.post(good.bytes, first.hash));
  CHECK(misnamed.unknown() != nullptr);
  CHECK_FALSE(rig.chain.seal({rig.ours, {0}, call, {}}, Bytes(32, Byte{1})).has_value());
}

TEST_CASE("sim chain: a call that cannot pay is refused in simulation and reverts in a block") {
  ChainRig rig;
  const auto intent = rig.intent("a", 1'001);
  const auto simulated = rig.world.run(rig.chain.simulate(rig.ours, rig.call(intent)));
  REQUIRE(simulated.refused() != nullptr);
  CHECK(simulated.refused()->kind == RefusalKind::reverted);
  const auto good = rig.world.run(rig.chain.simulate(rig.ours, rig.call(rig.intent("b", 1'000))));
  CHECK(good.ok()->gas == 50'000);
  CHECK(rig.chain.balance(rig.ours, rig.token) == U256(1'000));  // nothing moved by asking

  const auto tx = rig.sign(rig.call(intent), 0);
  CHECK(rig.post(tx).ok() != nullptr);
  rig.chain.mine();
  CHECK_FALSE(rig.chain.mined(tx.hash)->succeeded);
  CHECK(rig.chain.mined(tx.hash)->fee_paid == U256(55'000'000));
  CHECK(rig.chain.moved(intent.ref) == 0);
  CHECK(rig.payout.evidence(intent, *rig.chain.mined(tx.hash), true).moved == Moved::nothing);
}

TEST_CASE("sim chain: quote adds a margin to the gas and refuses over the cap") {
  ChainRig rig;
  const auto fees = rig.world.run(rig.chain.quote(50'000));
  CHECK(fees.ok()->gas_limit == 60'000);
  CHECK(fees.ok()->max_fee == U256(2'100));
  CHECK(rig.world.run(rig.chain.quote(600'000)).refused()->kind == RefusalKind::gas);
  // A limit under what it uses: reverts, and all of it is paid.
  const auto call = rig.call(rig.intent("a", 1));
  const auto tx = rig.sign({rig.ours, {0}, call, {U256(2'000), U256(100), 30'000}});
  CHECK(rig.post(tx).ok() != nullptr);
  rig.chain.mine();
  CHECK_FALSE(rig.chain.mined(tx.hash)->succeeded);
  CHECK(rig.chain.mined(tx.hash)->fee_paid == U256(33'000'000));
}

TEST_CASE("sim chain: a base fee above what was offered leaves a transaction and its followers") {
  ChainRig rig;
  const auto call = rig.call(rig.intent("a", 1));
  CHECK(rig.post(rig.sign(call, 0)).ok() != nullptr);
  CHECK(rig.post(rig.sign(call, 1, 9'000)).ok() != nullptr);
  rig.chain.set_base_fee(U256(5'000));
  rig.chain.mine();
  CHECK(rig.chain.count(rig.ours) == 0);
  rig.chain.set_base_fee(U256(1'000));
  rig.chain.mine();
  CHECK(rig.chain.count(rig.ours) == 2);
}

TEST_CASE("sim chain: each scripted fate of a post") {
  ChainRig rig;
  const auto tx = rig.sign(rig.call(rig.intent("a", 1)), 0);
  rig.chain.script().next_post(NextPost::drop_answer_unknown());
  rig.chain.script().next_post(NextPost::drop_answer_ok());
  rig.chain.script().next_post(NextPost::refuse(RefusalKind::pool_full, "full"));
  rig.chain.script().next_post(NextPost::not_sent());
  CHECK(rig.post(tx).unknown() != nullptr);
  CHECK(rig.post(tx).ok() != nullptr);
  CHECK(rig.post(tx).refused()->kind == RefusalKind::pool_full);
  CHECK(rig.post(tx).not_sent() != nullptr);
  CHECK(rig.place(tx.hash) == Place::not_found);
  rig.chain.script().next_post(NextPost::accept_answer_unknown());
  CHECK(rig.post(tx).unknown() != nullptr);
  CHECK(rig.place(tx.hash) == Place::pending);
  CHECK(rig.post(tx).ok()->already_known);

  CHECK(rig.chain.posts().size() == 6);
  CHECK(rig.chain.posts()[3].answer == "not sent: connection refused");
  CHECK_FALSE(rig.chain.posts()[3].reached);
  CHECK(rig.chain.posts()[4].reached);
  CHECK(rig.chain.bodies(rig.ours, {0}) == std::set<Bytes>{tx.bytes});
  CHECK(rig.chain.script().calls(sim::ChainCall::post) == 6);
}

TEST_CASE("sim chain: down, wrong and failing nodes") {
  ChainRig rig;
  const auto tx = rig.sign(rig.call(rig.intent("a", 1)), 0);
  CHECK(*rig.world.run(rig.chain.check()).ok());
  rig.chain.script().set_wrong_chain(true);
  CHECK(rig.world.run(rig.chain.check()).refused() != nullptr);
  rig.chain.script().set_down(true);
  CHECK(rig.world.run(rig.chain.check()).unknown() != nullptr);
  CHECK(rig.world.run(rig.chain.head()).unknown() != nullptr);
  CHECK(rig.post(tx).not_sent() != nullptr);
  rig.chain.script().set_down(false);
  rig.chain.script().fail_next(sim::ChainCall::head, sim::unknown("html"), 2);
  CHECK(rig.world.run(rig.chain.head()).unknown()->reason == "html");
  CHECK(rig.world.run(rig.chain.head()).unknown() != nullptr);
  CHECK(rig.world.run(rig.chain.head()).ok() != nullptr);
  CHECK(rig.chain.script().calls(sim::ChainCall::head) == 4);
}

TEST_CASE("sim chain: a reorg takes back what its blocks did, exactly, and changes their hashes") {
  for (const Fate fate : {Fate::repooled, Fate::dropped}) {
    ChainRig rig;
    const auto intent = rig.intent("a", 40);
    const auto held = rig.intent("b", 7);
    CHECK(rig.post(rig.sign(rig.call(held), 0)).ok() != nullptr);
    rig.chain.mine();
    const auto gas_left = rig.chain.balance(rig.ours, domain::native_asset);
    const auto tx = rig.sign(rig.call(intent), 1);
    CHECK(rig.post(tx).ok() != nullptr);
    rig.chain.mine();
    const auto old_hash = **rig.world.run(rig.chain.block_hash(2)).ok();
    rig.chain.reorg(1, fate);
    CHECK(rig.chain.height() == 2);
    CHECK(**rig.world.run(rig.chain.block_hash(2)).ok() != old_hash);
    CHECK(rig.chain.moved(intent.ref) == 0);
    CHECK(rig.chain.moved(held.ref) == 1);
    CHECK(rig.chain.count(rig.ours) == 1);
    CHECK(rig.chain.balance(rig.ours, domain::native_asset) == gas_left);
    CHECK(rig.chain.balance(rig.shop, rig.token) == U256(7));
    CHECK(rig.place(tx.hash) == (fate == Fate::repooled ? Place::pending : Place::not_found));
    rig.chain.mine();
    CHECK(rig.chain.moved(intent.ref) == (fate == Fate::repooled ? 1 : 0));
  }
}

TEST_CASE("sim chain: setting our clock moves no block, not even one that a reorg makes") {
  ChainRig rig;
  rig.chain.mine(2);
  const std::int64_t before_s = rig.chain.time_s();
  rig.world.clock().step_wall(600'000);
  rig.chain.reorg(1, Fate::dropped);
  CHECK(rig.chain.time_s() == before_s);
}

TEST_CASE("sim chain: a reorg below finality happens, and finality never goes back") {
  ChainRig rig;
  const auto intent = rig.intent("a", 40);
  CHECK(rig.post(rig.sign(rig.call(intent), 0)).ok() != nullptr);
  rig.chain.mine(5);
  CHECK(rig.chain.finalized() == 3);
  rig.chain.reorg(5, Fate::dropped);
  CHECK(rig.chain.finalized() == 3);
  CHECK(rig.chain.height() == 5);
  CHECK(rig.chain.moved(intent.ref) == 0);
  CHECK(rig.chain.balance(rig.ours, rig.token) == U256(1'000));
}

TEST_CASE("sim chain: blocks on a timetable hold what had arrived by then") {
  sim::ScriptedChainOptions options;
  options.block_ms = 1'000;
  options.latency_ms = 100;
  ChainRig rig(0, options);
  rig.world.run_for(950);
  const auto early = rig.sign(rig.call(rig.intent("a", 1)), 0);
  const auto late = rig.sign(rig.call(rig.intent("b", 1)), 1);
  CHECK(rig.post(early).ok() != nullptr);  // leaves at 950, arrives at 1000: after the block
  CHECK(rig.world.clock().mono_ms() == 1'050);
  CHECK(rig.chain.height() == 1);
  CHECK_FALSE(rig.chain.mined(early.hash));
  rig.world.run_for(10'000);
  CHECK(rig.post(late).ok() != nullptr);
  rig.world.run_for(1'000);
  CHECK(rig.chain.height() == 12);
  CHECK(rig.chain.mined(early.hash)->block.height == 2);
  CHECK(rig.chain.mined(late.hash)->block.height == 12);
  CHECK(rig.chain.mined(late.hash)->block_time_s == sim::SimClock::default_wall_ms / 1000 + 12);
  rig.chain.hold_pool(true);
  CHECK(rig.post(rig.sign(rig.call(rig.intent("c", 1)), 2)).ok() != nullptr);
  rig.world.run_for(5'000);
  CHECK(rig.chain.pool_size() == 1);
  rig.chain.forget_pool();
  CHECK(rig.chain.pool_size() == 0);
}

TEST_CASE("sim chain: our key used elsewhere takes our number") {
  ChainRig rig;
  const auto mine = rig.sign(rig.call(rig.intent("a", 1)), 0);
  const ports::Order foreign{
      rig.ours, {0}, rig.chain.noop_call(rig.ours), {U256(5'000), U256(500), 60'000}};
  const auto hash = rig.chain.run_elsewhere(foreign);
  CHECK(rig.post(mine).refused()->kind == RefusalKind::replacement_underpriced);
  rig.chain.mine(3);
  CHECK(rig.post(mine).refused()->kind == RefusalKind::nonce_too_low);
  const auto consumer = rig.world.run(rig.chain.consumer(rig.ours, {0}));
  CHECK(consumer.ok()->value().hash == hash);
  CHECK(consumer.ok()->value().transfers.empty());
  CHECK(rig.chain.posts().size() == 2);  // what others post is not in the record
}

TEST_CASE("sim chain: native value moves as a transfer of the native asset") {
  ChainRig rig;
  auto intent = rig.intent("a", 12'345);
  intent.terms.asset = domain::native_asset;
  const auto tx = rig.sign(rig.call(intent), 0);
  CHECK(rig.post(tx).ok() != nullptr);
  rig.chain.mine();
  CHECK(rig.chain.balance(rig.shop, domain::native_asset) == U256(12'345));
  CHECK(rig.payout.evidence(intent, *rig.chain.mined(tx.hash), false).moved == Moved::exact);
}

TEST_CASE("sim chain: accounts and tokens have canonical names") {
  const ChainRig rig;
  CHECK(rig.chain.parse_address("Shop_1")->value == "shop_1");
  CHECK(rig.chain.parse_asset("native").value() == domain::native_asset);
  for (const std::string& bad :
       {std::string(), std::string("a b"), std::string(65, 'a'), std::string("a\"b")}) {
    CHECK(rig.chain.parse_address(bad).error().code ==
          make_error_code(ports::ChainError::bad_address));
    CHECK(rig.chain.parse_asset(bad).error().code == make_error_code(ports::ChainError::bad_asset));
  }
}

TEST_CASE("sim chain: garbage in a payload or a transaction is refused, never read past its end") {
  ChainRig rig;
  const auto tx = rig.sign(rig.call(rig.intent("a", 1)), 0);
  for (std::size_t size = 0; size < tx.bytes.size(); ++size) {
    CHECK_FALSE(sim::decode(ByteView(tx.bytes).first(size)).has_value());
  }
  const ports::Call call = rig.call(rig.intent("a", 1));
  for (std::size_t size = 0; size < call.payload.size(); ++size) {
    ports::Call cut = call;
    cut.payload.resize(size);
    const auto read = sim::read_call(cut);
    // Without its tail it is a transfer without a ref; shorter, it is nothing.
    if (read) CHECK((read->ref.has_value() == false || size == domain::Ref::size));
  }
}

}  // namespace
}  // namespace holdfast::testing
