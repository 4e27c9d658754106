// Endpoints of differing lag behind a scripted chain.
#include "sim/endpoints.hpp"

#include <set>

#include "sim/chain_rig.hpp"

namespace holdfast::testing {
namespace {

using Fate = sim::ScriptedChain::Fate;
using Place = ports::Whereabouts::Place;

TEST_CASE(
    "sim endpoints: one that is behind shows the chain of so many blocks ago, until it is level") {
  ChainRig rig;
  sim::Endpoints endpoints(1, {{.lag = 2, .hears_ms = 0}});
  rig.chain.stand_behind(&endpoints);
  const auto tx = rig.sign(rig.call(rig.intent("a", 1)), 0);
  CHECK(rig.post(tx).ok() != nullptr);
  rig.chain.mine(2);
  CHECK(rig.place(tx.hash) == Place::pending);
  CHECK(rig.counts(rig.ours).latest.value == 0);
  CHECK(rig.world.run(rig.chain.head()).ok()->latest.height == 0);
  rig.chain.mine(2);
  CHECK(rig.place(tx.hash) == Place::mined);
  CHECK(rig.counts(rig.ours).latest.value == 1);
  CHECK(rig.counts(rig.ours).finalized.value == 0);
  CHECK_FALSE(rig.world.run(rig.chain.consumer(rig.ours, {0})).ok()->has_value());
  endpoints.level();
  CHECK(rig.counts(rig.ours).finalized.value == 1);
  CHECK(rig.world.run(rig.chain.head()).ok()->latest.height == 4);
}

TEST_CASE("sim endpoints: one that does not see a number used takes another transaction in vain") {
  ChainRig rig;
  sim::Endpoints endpoints(1, {{.lag = 1, .hears_ms = 0}});
  rig.chain.stand_behind(&endpoints);
  CHECK(rig.post(rig.sign(rig.call(rig.intent("a", 1)), 0)).ok() != nullptr);
  rig.chain.mine();
  const auto late = rig.sign(rig.call(rig.intent("b", 1)), 0);
  CHECK(rig.post(late).ok() != nullptr);
  CHECK(endpoints.counts().vain_yes == 1);
  CHECK(rig.chain.was_taken(late.hash));
  CHECK(rig.place(late.hash) == Place::not_found);
  rig.chain.mine();
  CHECK(rig.post(late).refused()->kind == ports::RefusalKind::nonce_too_low);
}

TEST_CASE("sim endpoints: what was posted to one, another hears of later") {
  ChainRig rig(7);
  sim::Endpoints endpoints(1, {{}, {.lag = 0, .hears_ms = 5'000}});
  rig.chain.stand_behind(&endpoints);
  std::set<Place> places;
  std::set<std::uint64_t> pending;
  const auto ask = [&](const domain::TxHash& hash) {
    places.clear();
    pending.clear();
    for (int call = 0; call < 40; ++call) {
      places.insert(rig.place(hash));
      pending.insert(rig.counts(rig.ours).pending.value);
    }
  };
  // Posted until the one that hears at once has got one of them: then the other has not.
  std::uint64_t number = 0;
  domain::TxHash hash;
  do {
    const auto tx = rig.sign(rig.call(rig.intent("a" + std::to_string(number), 1)), number);
    CHECK(rig.post(tx).ok() != nullptr);
    hash = tx.hash;
    ++number;
    ask(hash);
  } while (places.size() < 2 && number < 20);
  CHECK(places == std::set<Place>{Place::not_found, Place::pending});
  CHECK(pending == std::set<std::uint64_t>{number - 1, number});
  CHECK(endpoints.counts().unheard > 0);
  rig.world.run_for(5'000);
  ask(hash);
  CHECK(places == std::set<Place>{Place::pending});
  CHECK(pending == std::set<std::uint64_t>{number});
}

TEST_CASE(
    "sim endpoints: one that is behind shows blocks that were taken back, never against finality") {
  for (const std::uint64_t finality_lag : {2, 5}) {
    sim::ScriptedChainOptions options;
    options.finality_lag = finality_lag;
    ChainRig rig(0, options);
    sim::Endpoints endpoints(1, {{.lag = 1, .hears_ms = 0}});
    rig.chain.stand_behind(&endpoints);
    rig.chain.mine();
    const auto tx = rig.sign(rig.call(rig.intent("a", 1)), 0);
    CHECK(rig.post(tx).ok() != nullptr);
    rig.chain.mine(2);
    const auto old = rig.world.run(rig.chain.block_hash(2)).ok()->value();
    CHECK(rig.place(tx.hash) == Place::mined);
    rig.chain.reorg(2, Fate::dropped);
    CHECK(rig.world.run(rig.chain.block_hash(2)).ok()->value() == old);
    CHECK(rig.world.run(rig.chain.block(2)).ok()->value().txs.size() == 1);
    CHECK(rig.place(tx.hash) == Place::mined);
    rig.chain.mine();
    CHECK(rig.world.run(rig.chain.block_hash(2)).ok()->value() != old);
    CHECK(rig.place(tx.hash) == Place::not_found);
    CHECK(endpoints.counts().old_branch > 0);
    if (finality_lag != 2) continue;
    // Blocks that were final are gone for all at once: finality is every node's.
    const auto last = rig.world.run(rig.chain.block_hash(3)).ok()->value();
    rig.chain.reorg(3, Fate::dropped);
    CHECK(rig.chain.finalized() >= 2);
    CHECK(rig.world.run(rig.chain.block_hash(3)).ok()->value() != last);
  }
}

}  // namespace
}  // namespace holdfast::testing
