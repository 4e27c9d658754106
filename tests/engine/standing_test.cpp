// Whoever waits for a payment: how it stands, giving up, and who is told of its success.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using engine::Ended;
using engine::EngineError;
using engine::SuccessOffer;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

engine::Caller keyless() { return {{"shop"}, "", {}}; }
engine::Caller keyed(const std::string& key, const std::string& request = "one") {
  return {{"shop"}, key, sha256(as_bytes(request))};
}

domain::Authorization brought(Rig& rig, std::uint8_t byte = 7) {
  const domain::Intent probe = rig.create("probe", rig.from_payer());
  domain::Nonce nonce;
  nonce.value.fill(byte);
  return sim::authorize(probe.terms, nonce, {0, rig.world.clock().wall_ms() / 1000 + 3'600});
}

Result<engine::Answer> submit(Rig& rig, const engine::Caller& caller,
                              const domain::Authorization& mine, Ended ended = Ended::begins_anew) {
  return rig.run(rig.engine->submit(caller, rig.from_payer(), mine, ended));
}

SuccessOffer offer(Rig& rig, const engine::Caller& caller, const domain::IntentId& id) {
  const auto got = rig.run(rig.engine->offer_success(caller, id));
  REQUIRE_MESSAGE(got.has_value(), got.error().detail);
  return *got;
}

void deliver(Rig& rig, const domain::IntentId& id, bool written) {
  rig.run(rig.engine->delivered(id, written));
}

engine::Standing give_up(Rig& rig, const domain::IntentId& id, std::int64_t ms = 3'000) {
  const auto got = rig.run(rig.engine->give_up(keyless(), id, "nobody waits any more", ms));
  REQUIRE_MESSAGE(got.has_value(), got.error().detail);
  return *got;
}

}  // namespace

TEST_CASE("standing: nothing signed, posted, included: what a waiting caller can be told") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const auto mine = brought(rig);
  const auto answer = submit(rig, keyless(), mine);
  REQUIRE_MESSAGE(answer.has_value(), answer.error().detail);
  const domain::IntentId id = answer->intent.id;
  const auto at = [&] { return *rig.run(rig.engine->standing(domain::CallerId{"shop"}, id)); };
  CHECK_FALSE(at().hash.has_value());
  CHECK_FALSE(at().included);
  REQUIRE(rig.reaches(id, IntentState::confirming, 10'000));
  CHECK(at().hash.has_value());
  CHECK_FALSE(at().included);
  rig.mine_for(2);
  CHECK(at().included);
  CHECK_FALSE(rig.run(rig.engine->standing(domain::CallerId{"another"}, id)).has_value());
  const auto found = rig.run(rig.engine->find_submitted(rig.from_payer(), mine));
  REQUIRE(found.has_value());
  CHECK(found->id == id);
  CHECK_FALSE(rig.run(rig.engine->find_submitted(rig.from_payer("7"), mine)).has_value());
}

TEST_CASE("give up: nothing was signed: canceled, and the same authorization may begin anew") {
  Rig rig;
  rig.start();
  const auto mine = brought(rig);
  const auto first = submit(rig, keyless(), mine);
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  const engine::Standing over = give_up(rig, first->intent.id);
  CHECK(over.intent.state == IntentState::canceled);
  CHECK_FALSE(over.hash.has_value());
  // Asked the old way the request has its answer; asked anew it is another payment.
  CHECK(submit(rig, keyless(), mine, Ended::is_the_answer)->intent.id == first->intent.id);
  const auto second = submit(rig, keyless(), mine);
  REQUIRE_MESSAGE(second.has_value(), second.error().detail);
  CHECK_FALSE(second->replayed);
  CHECK(second->intent.id != first->intent.id);
  CHECK(submit(rig, keyless(), mine)->intent.id == second->intent.id);
  REQUIRE(rig.reaches(second->intent.id, IntentState::settled, 30'000));
  CHECK(rig.chain.posts().size() == 1);
  check_audit(rig);
}

TEST_CASE("give up: a stored attempt is told by its hash, and goes on to its end") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const auto first = submit(rig, keyless(), brought(rig));
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  REQUIRE(rig.reaches(first->intent.id, IntentState::confirming, 10'000));
  const engine::Standing at = give_up(rig, first->intent.id);
  CHECK(at.intent.state == IntentState::confirming);
  REQUIRE(at.hash.has_value());
  rig.mine_for(8);
  REQUIRE(rig.reaches(first->intent.id, IntentState::settled, 10'000));
  CHECK(rig.find(first->intent.id).tx_hash == at.hash);
  check_audit(rig);
}

TEST_CASE("success: one caller is told; who gives a key is told again; a failed write frees it") {
  Rig rig;
  rig.start();
  const auto first = submit(rig, keyless(), brought(rig));
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  const domain::IntentId id = first->intent.id;
  REQUIRE(rig.reaches(id, IntentState::settled, 30'000));
  CHECK(offer(rig, keyless(), id) == SuccessOffer::first);
  CHECK(offer(rig, keyless(), id) == SuccessOffer::taken);
  deliver(rig, id, false);
  CHECK(offer(rig, keyed("k"), id) == SuccessOffer::first);
  CHECK(offer(rig, keyed("k"), id) == SuccessOffer::again);
  // One of the twins did not get through: the other one may have.
  deliver(rig, id, false);
  CHECK(offer(rig, keyless(), id) == SuccessOffer::taken);
  deliver(rig, id, true);
  CHECK(offer(rig, keyless(), id) == SuccessOffer::taken);
  CHECK(offer(rig, keyed("k"), id) == SuccessOffer::again);
  deliver(rig, id, true);
  const auto other = rig.run(rig.engine->offer_success(keyed("k", "two"), id));
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == EngineError::key_reused);
}

TEST_CASE("success: offered before a crash and not delivered, the next may be told") {
  Rig rig;
  rig.start();
  const auto first = submit(rig, keyless(), brought(rig));
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  const domain::IntentId id = first->intent.id;
  REQUIRE(rig.reaches(id, IntentState::settled, 30'000));
  CHECK(offer(rig, keyless(), id) == SuccessOffer::first);
  rig.crash();
  rig.world.run_for(3'000);
  CHECK(offer(rig, keyless(), id) == SuccessOffer::first);
  deliver(rig, id, true);
  rig.crash();
  rig.world.run_for(3'000);
  CHECK(offer(rig, keyless(), id) == SuccessOffer::taken);
}

TEST_CASE("submit: what the chain would refuse is refused before anything is stored") {
  Rig rig;
  rig.start();
  const auto mine = brought(rig);
  rig.chain.set_token(domain::AssetId{rig.from_payer().asset}, sim::TokenKind::reverts);
  const auto said = rig.run(rig.engine->verify(rig.from_payer(), mine));
  REQUIRE_FALSE(said.has_value());
  const auto refused = submit(rig, keyless(), mine);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == said.error().code);
  CHECK_FALSE(rig.run(rig.engine->find_submitted(rig.from_payer(), mine)).has_value());
}
