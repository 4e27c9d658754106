// What giving up must leave alone, and what a success offered before a crash is worth after it.
#include <doctest/doctest.h>

#include "rig.hpp"

namespace holdfast::testing {
namespace {

using domain::IntentState;
using engine::EngineError;
using engine::SuccessOffer;

engine::Caller shop(const std::string& key) { return {{"shop"}, key, sha256(as_bytes(key))}; }

domain::Intent submitted(Rig& rig, const std::string& key) {
  const domain::Intent probe = rig.create("probe", rig.from_payer());
  domain::Nonce nonce;
  nonce.value.fill(9);
  const std::int64_t before_s = rig.world.clock().wall_ms() / 1000 + 3'600;
  auto answer = rig.run(rig.engine->submit(shop(key), rig.from_payer(),
                                           sim::authorize(probe.terms, nonce, {0, before_s})));
  REQUIRE_MESSAGE(answer.has_value(), answer.error().detail);
  return answer->intent;
}

SuccessOffer offer(Rig& rig, const std::string& key, const domain::IntentId& id) {
  const auto got = rig.run(rig.engine->offer_success(shop(key), id));
  REQUIRE_MESSAGE(got.has_value(), got.error().detail);
  return *got;
}

}  // namespace

TEST_CASE("give up: what is with a node is not asked to be canceled") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const domain::IntentId id = submitted(rig, "a").id;
  REQUIRE(rig.reaches(id, IntentState::confirming, 10'000));
  const auto at = rig.run(rig.engine->give_up(shop("a"), id, "nobody waits", 1'000));
  REQUIRE_MESSAGE(at.has_value(), at.error().detail);
  CHECK(at->hash.has_value());
  CHECK_FALSE(rig.find(id).cancel_asked);
}

TEST_CASE("give up: what waits long for a node is taken back at once, and told so") {
  Rig rig;
  rig.start();
  rig.chain.script().fail_next(sim::ChainCall::quote, sim::unknown(), 1'000);
  const domain::IntentId id = submitted(rig, "a").id;
  rig.world.run_for(60'000);  // each wait is longer than the one before
  REQUIRE(rig.find(id).state == IntentState::settling);
  REQUIRE(rig.detail(id).attempts.empty());
  const auto at = rig.run(rig.engine->give_up(shop("a"), id, "nobody waits", 500));
  REQUIRE_MESSAGE(at.has_value(), at.error().detail);
  CHECK(at->intent.state == IntentState::failed);
  CHECK(at->intent.reason == "cancel_asked");
  CHECK_FALSE(at->hash.has_value());
  check_audit(rig);
}

TEST_CASE("give up: bytes whose post nobody answered are not asked to be canceled") {
  Rig rig;
  rig.start();
  rig.chain.script().next_post(sim::NextPost::drop_answer_unknown());
  const domain::IntentId id = submitted(rig, "a").id;
  for (int i = 0; i < 250 && rig.detail(id).attempts.empty(); ++i) rig.world.run_for(20);
  REQUIRE_FALSE(rig.detail(id).attempts.empty());
  const auto at = rig.run(rig.engine->give_up(shop("a"), id, "nobody waits", 1'000));
  REQUIRE_MESSAGE(at.has_value(), at.error().detail);
  CHECK(at->hash.has_value());
  CHECK_FALSE(rig.find(id).cancel_asked);
  REQUIRE(rig.reaches(id, IntentState::settled, 120'000));
  CHECK(rig.find(id).tx_hash == at->hash);
  check_audit(rig);
}

TEST_CASE(
    "success: told again after a crash, it is no stranger's while that answer is on its way") {
  Rig rig;
  rig.start();
  const domain::IntentId id = submitted(rig, "a").id;
  REQUIRE(rig.reaches(id, IntentState::settled, 30'000));
  CHECK(offer(rig, "a", id) == SuccessOffer::first);
  rig.crash();
  rig.world.run_for(3'000);
  CHECK(offer(rig, "a", id) == SuccessOffer::again);
  CHECK(offer(rig, "b", id) == SuccessOffer::taken);
  rig.run(rig.engine->delivered(id, false));
  CHECK(offer(rig, "b", id) == SuccessOffer::first);
}

TEST_CASE("success: it is no other caller's, and there is none before the payment is made") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.chain.script().fail_next(sim::ChainCall::quote, sim::unknown(), 50);
  const domain::IntentId id = submitted(rig, "a").id;
  const auto early = rig.run(rig.engine->offer_success(shop("a"), id));
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().code == EngineError::wrong_state);
  const auto theirs = rig.run(rig.engine->offer_success({{"stranger"}, "a", {}}, id));
  REQUIRE_FALSE(theirs.has_value());
  CHECK(theirs.error().code == EngineError::not_found);
}

TEST_CASE(
    "submit: what ends before anything would be posted is refused, and verify says the same") {
  Rig rig;
  rig.start();
  rig.world.run_for(1'000);
  const domain::Intent probe = rig.create("probe", rig.from_payer());
  const auto good_for = [&](std::uint8_t byte, std::int64_t seconds) {
    domain::Nonce nonce;
    nonce.value.fill(byte);
    const std::int64_t now_s = rig.world.clock().wall_ms() / 1000;
    return sim::authorize(probe.terms, nonce, {0, now_s + seconds});
  };
  const std::int64_t margin_s = engine::Config{}.publish_margin_s;
  const auto late = good_for(1, margin_s - 1);
  const auto verified = rig.run(rig.engine->verify(rig.from_payer(), late));
  REQUIRE_FALSE(verified.has_value());
  CHECK(verified.error().code == ports::VerifyError::expired);
  const auto refused = rig.run(rig.engine->submit(shop("a"), rig.from_payer(), late));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ports::VerifyError::expired);
  CHECK_FALSE(rig.run(rig.engine->find_submitted(rig.from_payer(), late)).has_value());

  const auto mine = good_for(2, margin_s + 20);
  CHECK(rig.run(rig.engine->verify(rig.from_payer(), mine)).has_value());
  const auto taken = rig.run(rig.engine->submit(shop("b"), rig.from_payer(), mine));
  REQUIRE_MESSAGE(taken.has_value(), taken.error().detail);
  REQUIRE(rig.reaches(taken->intent.id, IntentState::settled, 120'000));
}

TEST_CASE("submit: one payment costs one simulation and one post") {
  Rig rig;
  rig.start();
  const domain::IntentId id = submitted(rig, "a").id;
  REQUIRE(rig.reaches(id, IntentState::settled, 30'000));
  CHECK(rig.chain.script().calls(sim::ChainCall::simulate) == 1);
  CHECK(rig.chain.script().calls(sim::ChainCall::post) == 1);
}

}  // namespace holdfast::testing
