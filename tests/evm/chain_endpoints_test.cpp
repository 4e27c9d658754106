// The chain's word over several endpoints that do not say the same.
#include <doctest/doctest.h>

#include "evm/methods_authorization.hpp"
#include "evm/pool_scene.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using Place = ports::Whereabouts::Place;

namespace {

MadeTx from_alice(std::uint64_t nonce) { return {.from = alice, .to = bob, .nonce = nonce}; }

}  // namespace

TEST_CASE("chain endpoints: whoever has a transaction is believed, before whoever has not") {
  PoolScene scene;
  const domain::TxHash hash = scene.e(2).node.add(80, from_alice(0));
  const auto found = scene.run(scene.chain->find(hash));
  REQUIRE(found.ok() != nullptr);
  CHECK(found.ok()->place == Place::mined);
}

TEST_CASE("chain endpoints: not found takes all of them, and one that errs leaves it unknown") {
  PoolScene scene;
  CHECK(scene.run(scene.chain->find(scene.sent)).ok()->place == Place::not_found);
  scene.e(2).node.overrides["eth_getTransactionByHash"] = always(silence);
  CHECK(scene.run(scene.chain->find(scene.sent)).unknown() != nullptr);
}

TEST_CASE("chain endpoints: counts take the lowest finalized and the highest of the others") {
  PoolScene scene;
  scene.e(1).node.add(80, from_alice(0));
  scene.e(2).node.add(80, from_alice(0));
  scene.e(2).node.add(85, from_alice(1));
  scene.e(2).node.add(99, from_alice(2));
  const auto counts = scene.run(scene.chain->sequences({alice}));
  REQUIRE(counts.ok() != nullptr);
  CHECK(counts.ok()->latest.value == 3);
  CHECK(counts.ok()->pending.value == 3);
  CHECK(counts.ok()->finalized.value == 1);
}

TEST_CASE("chain endpoints: who used a number is unknown where one of them has no such use") {
  PoolScene scene;
  scene.e(1).node.add(80, from_alice(0));
  CHECK(scene.run(scene.chain->consumer({alice}, {0})).unknown() != nullptr);
  CHECK_FALSE(scene.run(scene.chain->consumer({alice}, {1})).ok()->has_value());
}

TEST_CASE("chain endpoints: one that keeps no old state must at least know the transaction") {
  PoolScene scene;
  scene.e(1).node.add(80, from_alice(0));
  scene.e(2).node.add(80, from_alice(0));
  scene.e(2).node.overrides["eth_getTransactionCount"] =
      always(Answer(ports::Unknown{"missing trie node", false, true}));
  const auto found = scene.run(scene.chain->consumer({alice}, {0}));
  REQUIRE(found.ok() != nullptr);
  REQUIRE(found.ok()->has_value());
  scene.e(2).node.blocks.at(80).receipts.at(0)["status"] = "0x0";
  CHECK(scene.run(scene.chain->consumer({alice}, {0})).unknown() != nullptr);
  scene.e(2).node.reorganise(80);
  CHECK(scene.run(scene.chain->consumer({alice}, {0})).unknown() != nullptr);
}

TEST_CASE("chain endpoints: a transaction of ours that failed has failed with all of them") {
  PoolScene scene;
  MadeTx failed = from_alice(0);
  failed.succeeded = false;
  const domain::TxHash hash = scene.e(1).node.add(80, failed);
  CHECK(scene.run(scene.chain->find(hash)).unknown() != nullptr);
  scene.e(2).node.add(80, from_alice(0));
  CHECK(scene.run(scene.chain->find(hash)).unknown() != nullptr);
  scene.e(2).node.blocks.at(80).receipts.at(0)["status"] = "0x0";
  const auto found = scene.run(scene.chain->find(hash));
  REQUIRE(found.ok() != nullptr);
  CHECK_FALSE(found.ok()->tx->succeeded);
}

TEST_CASE("chain endpoints: one that is left of several says that it was paid, and not that not") {
  PoolScene scene;
  MadeTx failed = from_alice(1);
  failed.succeeded = false;
  scene.e(1).node.add(80, from_alice(0));
  const domain::TxHash hash = scene.e(1).node.add(81, failed);
  scene.e(2).node.add(80, from_alice(0));
  scene.e(2).node.add(81, failed);
  const auto ends = [&] {
    const auto used = scene.run(scene.chain->consumer({alice}, {0}));
    const auto found = scene.run(scene.chain->find(hash));
    CHECK((used.ok() != nullptr) == (found.ok() != nullptr));
    return used.ok() != nullptr;
  };
  CHECK(ends());
  const domain::MinedTx tx = **scene.run(scene.chain->consumer({alice}, {0})).ok();
  const auto vouched = [&](ports::Says says) {
    return scene.run(scene.chain->vouch(tx, says)).ok() != nullptr;
  };
  CHECK(vouched(ports::Says::unpaid));
  scene.e(2).down = refused_connection;
  for (int i = 0; i < 5; ++i) {
    ++scene.clock.now_ms;
    scene.run(scene.chain->sequences({alice}));
  }
  REQUIRE(scene.state(2) == EndpointState::set_aside);
  CHECK_FALSE(ends());
  CHECK(vouched(ports::Says::paid));
  CHECK_FALSE(vouched(ports::Says::unpaid));
  const auto asked = scene.run(scene.chain->vouch(tx, ports::Says::unpaid));
  CHECK(asked.text().find("http://e2") != std::string::npos);
  // One that serves another chain is none of this chain's, and its word is not missed.
  scene.e(2).down.reset();
  scene.e(2).serves(5);
  scene.ask(60'000);
  scene.ask(60'000);
  REQUIRE(scene.state(2) == EndpointState::quarantined);
  CHECK(ends());
  CHECK(vouched(ports::Says::unpaid));
}

TEST_CASE("chain endpoints: a transaction is vouched for by all, or its word is nobody's") {
  PoolScene scene;
  const domain::TxHash hash = scene.e(1).node.add(80, from_alice(0));
  const auto found = scene.run(scene.chain->find(hash));
  REQUIRE(found.ok() != nullptr);
  const domain::MinedTx tx = *found.ok()->tx;
  const auto vouched = [&] { return scene.run(scene.chain->vouch(tx, ports::Says::paid)); };
  CHECK(vouched().text() == "unknown: the endpoints do not say the same of transaction " +
                                hash.hex() +
                                ": http://e2 does not have it; a node that keeps no old "
                                "transactions never will: configure another in its place");
  scene.e(2).node.add(80, from_alice(0));
  CHECK(vouched().ok() != nullptr);
  // The same hash in the same block, and another end.
  scene.e(2).node.blocks.at(80).receipts.at(0)["status"] = "0x0";
  CHECK(vouched().text().ends_with("http://e2 says something else"));
  scene.e(2).node.blocks.at(80).receipts.at(0)["status"] = "0x1";
  CHECK(vouched().ok() != nullptr);
  scene.e(2).node.overrides["eth_getTransactionReceipt"] = always(silence);
  CHECK(vouched().unknown() != nullptr);
  scene.e(2).node.overrides.clear();
  scene.e(2).node.reorganise(80);
  CHECK(vouched().unknown() != nullptr);

  PoolScene alone({1});
  CHECK(alone.run(alone.chain->check()).ok() != nullptr);
  const std::size_t before = alone.e(1).calls;
  CHECK(alone.run(alone.chain->vouch(tx, ports::Says::unpaid)).ok() != nullptr);
  CHECK(alone.e(1).calls == before);
}

TEST_CASE("chain endpoints: which block is canonical is not one endpoint's word") {
  PoolScene scene;
  CHECK(scene.run(scene.chain->block_hash(80)).ok()->has_value());
  scene.e(2).node.reorganise(80);
  CHECK(scene.run(scene.chain->block_hash(80)).text() ==
        "unknown: the endpoints disagree about block 80");
}

TEST_CASE("chain endpoints: a call is refused when all refuse it, and not by one that is behind") {
  PoolScene scene;
  const auto estimate = [&](std::size_t number, Answer answer) {
    scene.e(number).node.overrides["eth_estimateGas"] = always(std::move(answer));
  };
  const auto simulate = [&] {
    return scene.run(scene.chain->simulate({alice}, {.target = {bob}, .value = 5, .payload = {}}));
  };
  const Answer reverted{ports::Refused{ports::RefusalKind::reverted, "no money"}};
  estimate(1, reverted);
  estimate(2, json::value("0x5208"));
  REQUIRE(simulate().ok() != nullptr);
  CHECK(simulate().ok()->gas == 21'000);
  // Nor is an estimate over the cap, which ends a payment too, one endpoint's word.
  estimate(1, json::value("0xffffffff"));
  REQUIRE(simulate().ok() != nullptr);
  CHECK(simulate().ok()->gas == 21'000);
  estimate(2, silence);
  CHECK(simulate().unknown() != nullptr);
  scene.clock.now_ms += desperate_ms;
  estimate(2, reverted);
  CHECK(simulate().refused() != nullptr);
}

TEST_CASE("chain endpoints: what is final is what all of them call final") {
  PoolScene scene;
  scene.e(2).node.finalized = 70;
  CHECK(scene.run(scene.chain->final_block()).ok()->ref.height == 70);
}

TEST_CASE("chain endpoints: a block that the first does not have yet is read from the next") {
  PoolScene scene;
  scene.e(1).node.blocks.pop_back();
  CHECK(scene.run(scene.chain->block(100)).ok()->has_value());
  CHECK(scene.run(scene.chain->block_hash(100)).ok()->has_value());
  CHECK_FALSE(scene.run(scene.chain->block(101)).ok()->has_value());
  scene.e(2).node.overrides["eth_getBlockByNumber"] = always(silence);
  CHECK(scene.run(scene.chain->block_hash(100)).unknown() != nullptr);
}

TEST_CASE("chain endpoints: of an endpoint whose head cannot be read whole nothing is taken") {
  PoolScene scene;
  scene.e(2).node.safe = 50;
  scene.e(2).node.finalized = 40;
  scene.e(1).node.overrides["eth_getBlockByNumber"] = [](const json::array& params) -> Answer {
    if (params.at(0) == json::value("safe")) return silence;
    return json::value(json::object{{"number", "0xffff"}});
  };
  const auto head = scene.run(scene.chain->head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->safe_height == 40);
  CHECK(head.ok()->finalized.height == 40);
}

TEST_CASE("L5: a call to an address without code is refused before anything is sent") {
  PoolScene scene;
  const ports::Call call{.target = {token}, .value = {}, .payload = {0xa9, 0x05, 0x9c, 0xbb}};
  const auto code = [&](std::size_t number, Answer answer) {
    scene.e(number).node.overrides["eth_getCode"] = always(std::move(answer));
  };
  for (FakeClient* client : scene.clients) {
    client->node.overrides["eth_estimateGas"] = always(json::value("0x5208"));
  }
  code(1, json::value("0x"));
  code(2, json::value("0x"));
  const auto refused = scene.run(scene.chain->simulate({alice}, call));
  REQUIRE(refused.refused() != nullptr);
  CHECK(refused.refused()->kind == ports::RefusalKind::reverted);
  CHECK(refused.refused()->message == "no contract at " + token);
  CHECK(scene.e(1).node.count("eth_estimateGas") == 0);

  // "None" takes all of them.
  code(2, silence);
  CHECK(scene.run(scene.chain->simulate({alice}, call)).unknown() != nullptr);
  code(1, json::value(7));
  CHECK(scene.run(scene.chain->simulate({alice}, call)).unknown() != nullptr);

  // Deployed now, and remembered.
  code(2, json::value("0x6001"));
  CHECK(scene.run(scene.chain->simulate({alice}, call)).ok() != nullptr);
  const std::size_t asked = scene.e(1).node.count("eth_getCode");
  CHECK(scene.run(scene.chain->simulate({alice}, call)).ok() != nullptr);
  CHECK(scene.e(1).node.count("eth_getCode") == asked);
}

TEST_CASE("L5: a native payout needs no contract, whatever ref is in its data") {
  PoolScene scene;
  scene.e(1).node.overrides["eth_estimateGas"] = always(json::value("0x5208"));
  const ports::Call payout{.target = {bob}, .value = 5, .payload = Bytes(32, 1)};
  CHECK(scene.run(scene.chain->simulate({alice}, payout)).ok() != nullptr);
  CHECK(scene.run(scene.chain->simulate({alice}, scene.chain->noop_call({alice}))).ok() != nullptr);
  CHECK(scene.e(1).node.count("eth_getCode") == 0);
}

TEST_CASE("chain endpoints: an authorization is unused with finality when all of them say so") {
  using Result = domain::AuthorizationSeen::Result;
  PoolScene scene;
  TransferAuthorizationMethod method(AuthorizationBench::with_token({}), *scene.chain);
  const auto state = [&](std::size_t number, Answer answer) {
    scene.e(number).node.overrides["eth_call"] = always(std::move(answer));
  };
  const auto read = [&] { return scene.run(method.read_authorization(signed_intent())); };
  state(1, json::value(word(0)));
  state(2, json::value(word(0)));
  scene.e(2).node.finalized = 85;
  CHECK(read().result == Result::unused);
  // The time that all of them vouch for is that of the lowest final block.
  CHECK(read().unused_at_final_s == 1'700'000'085);

  // One that does not say leaves it unknown: it may be the one that has the use.
  state(2, silence);
  CHECK(read().result == Result::unknown);
  // Used in one's final block and not in the other's newest: neither is believed.
  scene.clock.now_ms += desperate_ms;
  state(2, json::value(word(1)));
  CHECK(read().result == Result::unknown);
  // Used with the one and not yet with the other, which is behind.
  scene.e(2).node.overrides["eth_call"] = [](const json::array& params) -> Answer {
    return json::value(word(params.at(1) == json::value("latest") ? 1 : 0));
  };
  CHECK(read().result == Result::unknown);
}

TEST_CASE("chain endpoints: an authorization is canceled with finality when all of them say so") {
  using Result = domain::AuthorizationSeen::Result;
  PoolScene scene;
  TransferAuthorizationMethod method(AuthorizationBench::with_token({}), *scene.chain);
  const domain::Intent intent = signed_intent();
  const MadeTx cancel{
      .from = alice,
      .to = token,
      .logs = {authorization_log(token, alice, intent.ref.hex(), true)},
  };
  scene.e(1).node.add(80, cancel);
  for (FakeClient* client : scene.clients) {
    client->node.overrides["eth_call"] = always(json::value(word(1)));
  }
  scene.e(1).node.overrides["eth_getLogs"] = always(
      json::value(json::array{scene.e(1).node.blocks.at(80).receipts.at(0).at("logs").at(0)}));
  const auto read = [&] { return scene.run(method.read_authorization(intent)); };
  CHECK(read().result == Result::canceled);
  CHECK_FALSE(read().is_final);
  scene.e(2).node.add(80, cancel);
  CHECK(read().is_final);
}
