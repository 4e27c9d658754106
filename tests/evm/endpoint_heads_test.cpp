// Endpoints that stopped, lag, or claim what nobody else has: whose newest block counts.
#include <doctest/doctest.h>

#include "evm/pool_scene.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using enum EndpointState;

namespace {

constexpr std::int64_t first_s = 1'700'000'000;

/// The next block of a node, a second after the last.
void grow(FakeNode& node) {
  const std::uint64_t height = node.blocks.size();
  node.blocks.push_back({word(height), first_s + static_cast<std::int64_t>(height), {}, {}});
}

/// The fake nodes' newest block is of this moment, which the clock shows.
struct HeadScene : PoolScene {
  HeadScene() { clock.now_ms = (first_s + 100) * 1000; }
  /// A second in which these grow, and the head is asked for.
  ports::Outcome<ports::Head> second(std::initializer_list<std::size_t> growing) {
    clock.now_ms += 1000;
    for (const std::size_t number : growing) grow(e(number).node);
    return run(chain->head());
  }
  ports::Head head_after(int seconds, std::initializer_list<std::size_t> growing) {
    ports::Outcome<ports::Head> last;
    for (int i = 0; i < seconds; ++i) last = second(growing);
    REQUIRE(last.ok() != nullptr);
    return *last.ok();
  }
};

json::value header(std::uint64_t height, const std::string& hash, std::int64_t time_s) {
  return json::object{{"number", quantity(height)},
                      {"hash", hash},
                      {"parentHash", word(1)},
                      {"timestamp", quantity(static_cast<std::uint64_t>(time_s))},
                      {"transactions", json::array{}}};
}

constexpr int a_while_s = static_cast<int>(behind_after_ms / 1000);

}  // namespace

TEST_CASE("endpoint heads: one that stopped is not the chain's word, and is set aside for it") {
  HeadScene scene;
  scene.e(2).node.finalized = 95;
  CHECK(scene.head_after(a_while_s, {2}).latest.height == 100);
  CHECK(scene.state(1) == usable);
  const ports::Head head = scene.head_after(1, {2});
  CHECK(scene.state(1) == behind);
  CHECK(head.latest.height == 131);
  CHECK(head.latest_time_s == first_s + 131);
  CHECK(head.finalized.height == 95);
  CHECK(scene.pool->endpoint_texts().at(0) ==
        "http://e1: behind, its newest block is 100, and another had 101 more than 30 s ago");
  // It goes on saying which chain it serves; that alone brings it back no more.
  CHECK(scene.head_after(60, {2}).latest.height == 191);
  CHECK(scene.state(1) == behind);
  while (scene.e(1).node.blocks.size() < scene.e(2).node.blocks.size()) grow(scene.e(1).node);
  CHECK(scene.head_after(a_while_s, {1, 2}).latest.height == 221);
  CHECK(scene.state(1) == usable);
}

TEST_CASE("endpoint heads: what is newest and final is what all who keep up have come to") {
  HeadScene scene;
  grow(scene.e(1).node);
  grow(scene.e(1).node);
  scene.e(1).node.finalized = 94;
  scene.e(1).node.safe = 99;
  const auto head = scene.run(scene.chain->head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->latest.height == 100);
  CHECK(head.ok()->latest.hash.hex() == scene.e(2).node.blocks.at(100).hash);
  CHECK(head.ok()->latest_time_s == first_s + 100);
  CHECK(head.ok()->safe_height == 90);
  CHECK(head.ok()->finalized.height == 90);
  CHECK(head.ok()->finalized_time_s == first_s + 90);
  // One that does not answer holds nobody back.
  scene.e(2).down = silence;
  CHECK(scene.run(scene.chain->head()).ok()->latest.height == 102);
}

TEST_CASE("endpoint heads: a final block that not all of them have is nobody's") {
  HeadScene scene;
  const auto text = [&] { return scene.run(scene.chain->head()).text(); };
  scene.e(2).node.reorganise(90);
  CHECK(text() == "unknown: the endpoints disagree about the final block 90");
  // A later final block over another one at that height is no better, nor is silence about it.
  scene.e(2).node.finalized = 95;
  CHECK(text() == "unknown: the endpoints disagree about the final block 90");
  scene.e(2).node.blocks.at(90) = scene.e(1).node.blocks.at(90);
  FakeNode& second = scene.e(2).node;
  second.overrides["eth_getBlockByNumber"] = [&](const json::array& params) -> Answer {
    const bool by_tag =
        params.at(0) == json::value("latest") || params.at(0) == json::value("safe");
    if (by_tag) return header(100, second.blocks.at(100).hash, first_s + 100);
    if (params.at(0) != json::value("finalized")) return silence;
    return header(95, second.blocks.at(95).hash, first_s + 95);
  };
  CHECK(scene.run(scene.chain->head()).unknown() != nullptr);
  second.overrides.clear();
  CHECK(scene.run(scene.chain->head()).ok()->finalized.height == 90);
}

TEST_CASE("endpoint heads: who claims to be far ahead makes nobody late who has a fresh block") {
  HeadScene scene;
  const FakeNode& honest = scene.e(1).node;
  scene.e(2).node.overrides["eth_getBlockByNumber"] = [&](const json::array& params) -> Answer {
    // Also with a time that would end every payment's window.
    if (params.at(0) == json::value("latest")) {
      return header(1'000'000, word(7), first_s + 9'000'000);
    }
    return header(90, honest.blocks.at(90).hash, first_s + 9'000'000);
  };
  const ports::Head head = scene.head_after(3 * a_while_s, {1});
  CHECK(scene.state(1) == usable);
  CHECK(head.latest.height == 100 + 3 * a_while_s);
  CHECK(head.latest_time_s == first_s + 100 + std::int64_t{3} * a_while_s);
  CHECK(head.finalized_time_s == first_s + 90);
}

TEST_CASE("endpoint heads: a chain that stands still sets nobody aside") {
  HeadScene scene;
  CHECK(scene.head_after(10 * a_while_s, {}).latest.height == 100);
  CHECK(scene.state(1) == usable);
  CHECK(scene.state(2) == usable);
}

TEST_CASE("endpoint heads: one that is a block late each time keeps up") {
  HeadScene scene;
  grow(scene.e(2).node);
  CHECK(scene.head_after(3 * a_while_s, {1, 2}).latest.height == 100 + 3 * a_while_s);
  CHECK(scene.state(1) == usable);
}

TEST_CASE("endpoint heads: where the others are gone, one that is behind is asked again") {
  HeadScene scene;
  scene.head_after(a_while_s + 2, {2});
  CHECK(scene.state(1) == behind);
  scene.e(2).down = refused_connection;
  for (int i = 0; i < 4; ++i) scene.second({});
  CHECK(scene.state(2) == set_aside);
  const auto head = scene.second({});
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->latest.height == 100);
  CHECK(scene.state(1) == usable);
  // The other comes back with what it had, and after a while the first is late again.
  scene.e(2).down.reset();
  CHECK(scene.head_after(a_while_s + 32, {2}).latest.height > 130);
  CHECK(scene.state(1) == behind);
}

TEST_CASE("endpoint heads: one that is behind and falls silent, or asks for a pause") {
  HeadScene scene;
  scene.head_after(a_while_s + 2, {2});
  scene.e(1).node.overrides["eth_getBlockByNumber"] =
      always(Answer(ports::Unknown{"HTTP 429, the endpoint asks for fewer calls", true}));
  scene.head_after(10, {2});
  CHECK(scene.state(1) == behind);
  scene.e(1).node.overrides["eth_getBlockByNumber"] = always(silence);
  scene.head_after(40, {2});
  CHECK(scene.state(1) != usable);
  scene.e(1).serves(5);
  scene.head_after(40, {2});
  CHECK(scene.state(1) == quarantined);
}
