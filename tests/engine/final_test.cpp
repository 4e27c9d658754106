// What is called final is canonical when it is called so: an answer may be of before a
// reorganisation, and deep by its height alone.
#include <doctest/doctest.h>

#include "engine/unit.hpp"
#include "sim/chain.hpp"
#include "sim/world.hpp"

using namespace holdfast;
using engine::Unit;

namespace {

/// A chain of ten blocks, the fifth of which took the place of another.
struct Followed {
  sim::SimWorld world{1};
  sim::ScriptedChain chain{world.clock()};
  Unit unit{chain, world.clock()};
  domain::BlockRef before;
  domain::BlockRef now;

  Followed() {
    chain.mine(5);
    before = block(5).ref;
    chain.reorg(1, sim::ScriptedChain::Fate::dropped);
    chain.mine(5);
    now = block(5).ref;
    REQUIRE(now.hash != before.hash);
  }

  ports::Block block(std::uint64_t height) { return **world.run(chain.block(height)).ok(); }
  /// Follows from this height to the newest block, and hears the head.
  void follow_from(std::uint64_t height) {
    const ports::Head head = *world.run(chain.head()).ok();
    unit.view.restart(block(height).ref);
    while (height < head.latest.height) REQUIRE(unit.view.push(block(++height)));
    unit.view.see(head);
  }
  static domain::MinedTx tx_in(const domain::BlockRef& block) {
    domain::MinedTx tx;
    tx.block = block;
    return tx;
  }
  bool is_final(const domain::BlockRef& block) { return world.run(unit.is_final(tx_in(block))); }
  std::uint64_t asked() { return chain.script().calls(sim::ChainCall::block_hash); }
};

}  // namespace

TEST_CASE("final: what a reorganisation took out of its block is not, however deep that was") {
  Followed followed;
  followed.follow_from(3);
  CHECK_FALSE(followed.is_final(followed.before));
  CHECK(followed.is_final(followed.now));
  CHECK(followed.asked() == 0);
  CHECK(followed.unit.verdict(Followed::tx_in(followed.before), {}) == domain::Verdict::lost);
}

TEST_CASE(
    "final: below what is followed, the chain is asked for the block's hash, until it agrees") {
  Followed followed;
  followed.follow_from(10);
  followed.chain.script().fail_next(sim::ChainCall::block_hash, sim::unknown());
  CHECK_FALSE(followed.is_final(followed.now));  // nobody answered
  CHECK_FALSE(followed.is_final(followed.before));
  CHECK(followed.is_final(followed.now));
  CHECK(followed.asked() == 2);
  CHECK_FALSE(followed.is_final(followed.before));
  CHECK(followed.asked() == 3);
  followed.unit.halted = "a person has to look";
  CHECK_FALSE(followed.is_final(followed.now));
}

TEST_CASE("final: nothing is that is read above a final block which was taken back") {
  Followed followed;
  followed.follow_from(10);
  const domain::BlockRef above = followed.block(6).ref;
  followed.unit.note_called_final(followed.before);
  CHECK_FALSE(followed.is_final(above));
  CHECK(followed.unit.lost_final == followed.before.height);
}

TEST_CASE("final: whether the noted final block stands is asked once for each new head") {
  Followed followed;
  followed.follow_from(9);
  followed.unit.note_called_final(followed.now);
  const domain::BlockRef above = followed.block(6).ref;
  CHECK(followed.is_final(above));
  CHECK(followed.asked() == 2);  // of the block itself, and of the noted one
  CHECK(followed.is_final(above));
  CHECK(followed.asked() == 2);
  followed.chain.mine(1);
  REQUIRE(followed.unit.view.push(followed.block(11)));
  followed.chain.script().fail_next(sim::ChainCall::block_hash, sim::unknown());
  CHECK_FALSE(followed.is_final(above));
  CHECK(followed.is_final(above));
  CHECK_FALSE(followed.unit.lost_final.has_value());
}
