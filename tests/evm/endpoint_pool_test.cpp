// The pool: who is asked, who is passed over, set aside or quarantined, and what it takes to come
// back.
#include <doctest/doctest.h>

#include "evm/node_errors.hpp"
#include "evm/pool_scene.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using Kind = ports::RefusalKind;
using enum EndpointState;

namespace {
Answer posted(const PoolScene& scene) { return json::value(scene.sent.hex()); }
}  // namespace

TEST_CASE("endpoint pool: reads ask the endpoint of the highest weight, and only that one") {
  PoolScene scene({1, 5, 5});
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  CHECK(scene.e(2).node.count("eth_blockNumber") == 1);
  CHECK(scene.e(1).node.count("eth_blockNumber") == 0);
  CHECK(scene.e(3).node.count("eth_blockNumber") == 0);
}

TEST_CASE(
    "endpoint pool: a read that fails is asked of the next, and after three the first rests") {
  PoolScene scene;
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(1).down = silence;
  for (int read = 0; read < 5; ++read) CHECK(scene.ask(1).ok() != nullptr);
  CHECK(scene.state(1) == set_aside);
  const std::size_t before = scene.e(1).calls;
  CHECK(scene.ask(1).ok() != nullptr);
  CHECK(scene.e(1).calls == before);
  CHECK(scene.pool->endpoint_texts().at(0) ==
        "http://e1: set aside, unknown: no answer within 5000 ms");
  CHECK(scene.pool->endpoint_texts().at(1) == "http://e2: usable");
}

TEST_CASE("endpoint pool: an endpoint that is set aside is probed, and comes back with its chain") {
  PoolScene scene;
  scene.every_post(posted(scene));
  scene.e(1).down = refused_connection;
  CHECK(scene.ask().ok() != nullptr);
  CHECK(scene.state(1) == set_aside);
  scene.e(1).down.reset();
  CHECK(scene.ask(first_back_off_ms - 1).ok() != nullptr);
  CHECK(scene.state(1) == set_aside);
  CHECK(scene.ask(1).ok() != nullptr);
  CHECK(scene.state(1) == usable);
  const std::size_t before = scene.e(1).node.count("eth_blockNumber");
  CHECK(scene.ask().ok() != nullptr);
  CHECK(scene.e(1).node.count("eth_blockNumber") == before + 1);
}

TEST_CASE("endpoint pool: nobody left is not sent, with a sentence that names them all") {
  PoolScene scene;
  scene.e(1).down = refused_connection;
  scene.e(2).serves(5);
  const Answer answer = scene.ask();
  REQUIRE(answer.not_sent() != nullptr);
  CHECK(answer.not_sent()->reason ==
        "no endpoint of eip155:31337 can be used; http://e1: set aside, not sent: no connection: "
        "Connection refused; http://e2: quarantined, it serves eip155:5, the configuration says "
        "eip155:31337");
  const auto check = scene.run(scene.chain->check());
  REQUIRE(check.refused() != nullptr);
  CHECK(check.refused()->message.starts_with("no endpoint of eip155:31337 can be used"));
  CHECK(scene.post().not_sent() != nullptr);
  CHECK(scene.run(scene.chain->head()).not_sent() != nullptr);
  CHECK(scene.run(scene.chain->find(scene.sent)).not_sent() != nullptr);
  // As soon as one is repaired it goes on, a second later at most.
  scene.e(2).serves(31337);
  scene.every_post(posted(scene));
  CHECK(scene.ask(desperate_ms).ok() != nullptr);
}

TEST_CASE("endpoint pool: whoever lacks the method is passed over; a no of any other kind stands") {
  PoolScene scene;
  scene.e(1).node.overrides["m"] = always(Answer(ports::Refused{Kind::no_such_method, "no"}));
  scene.e(2).node.overrides["m"] = always(json::value(1));
  CHECK(scene.ask(0, "m").ok() != nullptr);
  scene.e(1).node.overrides["m"] = always(Answer(ports::Refused{Kind::reverted, "no"}));
  CHECK(scene.ask(0, "m").refused()->kind == Kind::reverted);
  CHECK(scene.state(1) == usable);
}

TEST_CASE("T1: no answer of the catalogue, and none outside it, counts against an endpoint") {
  PoolScene scene;
  CHECK(scene.run(scene.chain->check()).ok() != nullptr);
  std::vector<std::string> texts{"something nobody has catalogued"};
  for (const ErrorRow& row : error_rows()) texts.emplace_back(row.text);
  for (const std::string& text : texts) {
    CAPTURE(text);
    for (const int code : {-32000, -32603, 7}) {
      json::object error{{"code", code}, {"message", text}};
      const Answer answer = outcome_of_error(error);
      scene.every_post(answer);
      for (int times = 0; times < 5; ++times) {
        scene.clock.now_ms += 1;
        const auto outcome = scene.post();
        const ErrorMeaning meaning = classify(code, text, "");
        if (std::holds_alternative<AlreadyKnown>(meaning)) {
          CHECK(outcome.ok() != nullptr);
        } else if (const auto* kind = std::get_if<Kind>(&meaning)) {
          REQUIRE(outcome.refused() != nullptr);
          CHECK(outcome.refused()->kind == *kind);
        } else {
          CHECK(outcome.unknown() != nullptr);
        }
      }
      CHECK(scene.state(1) == usable);
      CHECK(scene.state(2) == usable);
      CHECK(scene.pool->endpoints()[0].health.failures == 0);
    }
  }
}

TEST_CASE("T2: a rate limit sends reads elsewhere, ends no post, and sets nobody aside") {
  PoolScene scene;
  const Answer limited{ports::Unknown{"HTTP 429, the endpoint asks for fewer calls", true}};
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(1).down = limited;
  scene.e(1).held_ms = 2'000;
  for (int read = 0; read < 20; ++read) CHECK(scene.ask(100).ok() != nullptr);
  // Held back, it is asked last: nobody waits for its pause while another may be asked.
  CHECK(scene.e(1).node.count("eth_blockNumber") == 1);
  CHECK(scene.state(1) == usable);
  CHECK(scene.pool->endpoint_texts().at(0) == "http://e1: usable, asks for a pause of 2000 ms");

  scene.e(2).down = limited;
  for (int times = 0; times < 10; ++times) {
    scene.clock.now_ms += 100;
    const auto post = scene.post();
    REQUIRE(post.unknown() != nullptr);
    CHECK(post.unknown()->rate_limited);
  }
  // What was held back in our own queue never left.
  scene.e(1).down = scene.e(2).down = Answer{ports::NotSent{"held back, as asked for"}};
  scene.e(2).held_ms = 2'000;
  for (int times = 0; times < 10; ++times) {
    scene.clock.now_ms += 100;
    CHECK(scene.post().not_sent() != nullptr);
  }
  CHECK(scene.state(1) == usable);
  CHECK(scene.state(2) == usable);
}

TEST_CASE("T3: an endpoint that changes its chain is found within 30 s, and its word is ignored") {
  PoolScene scene;
  scene.every_post(posted(scene));
  CHECK(scene.run(scene.chain->head()).ok() != nullptr);
  scene.e(1).serves(5);
  scene.e(1).node.finalized = 99;
  CHECK(scene.ask(proof_lasts_ms).ok() != nullptr);
  CHECK(scene.state(1) == quarantined);
  const auto head = scene.run(scene.chain->head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->finalized.height == 90);
  // Nothing is sent there, and nothing is read from there.
  CHECK(scene.post().ok() != nullptr);
  CHECK(scene.e(1).node.count("eth_sendRawTransaction") == 0);
  CHECK(scene.pool->endpoint_texts().at(0) ==
        "http://e1: quarantined, it serves eip155:5, the configuration says eip155:31337");

  // Both wrong: nobody is asked, and no bytes are made for another chain than the configured one.
  scene.e(2).serves(5);
  CHECK(scene.ask(proof_lasts_ms).ok() == nullptr);
  CHECK(scene.run(scene.chain->check()).refused() != nullptr);
  CHECK(scene.chain->number() == 31337);

  scene.e(1).serves(31337);
  CHECK(scene.run(scene.chain->head()).not_sent() != nullptr);
  scene.clock.now_ms += desperate_ms;
  CHECK(scene.run(scene.chain->check()).ok() != nullptr);
  CHECK(scene.state(1) == usable);
  CHECK(scene.state(2) == quarantined);
}

TEST_CASE("T3: an answer over a new connection counts once its chain id was checked") {
  PoolScene scene;
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(1).serves(5);
  scene.e(1).node.overrides["eth_blockNumber"] = always(json::value("0xdead"));
  scene.e(1).connected = 2;
  const Answer answer = scene.ask();
  REQUIRE(answer.ok() != nullptr);
  CHECK(*answer.ok() == json::value("0x64"));
  CHECK(scene.state(1) == quarantined);
}

TEST_CASE("T3: what came over a new connection is unknown while the chain is not named") {
  PoolScene scene({1});
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(1).connected = 2;
  scene.e(1).node.overrides["eth_chainId"] = always(silence);
  // An acceptance too: the bytes may be with a node of another chain, where they can never run.
  const auto post = scene.post();
  REQUIRE(post.unknown() != nullptr);
  CHECK(post.unknown()->reason ==
        "http://e1: asked which chain it serves before its answer counts, it did not say");
  // Right after a probe as well, and however often it answers in between: it is set aside for it.
  CHECK(scene.ask(1).unknown() != nullptr);
  CHECK(scene.ask(1).unknown() != nullptr);
  CHECK(scene.state(1) == set_aside);
  scene.e(1).serves(31337);
  CHECK(scene.ask(first_back_off_ms).ok() != nullptr);
  CHECK(scene.post().ok() != nullptr);
}

TEST_CASE("T3: a probe sent before the new connection was there proves nothing of it") {
  PoolScene scene({1});
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  // The periodic question is under way to the old node when another one answers a read.
  scene.e(1).hangs = true;
  scene.e(1).hangs_at = "eth_chainId";
  scene.clock.now_ms += proof_lasts_ms;
  const auto read = scene.start(scene.pool->call("eth_blockNumber", {}));
  REQUIRE(read->value);
  scene.e(1).connected = 2;
  const auto next = scene.start(scene.pool->call("eth_blockNumber", {}));
  CHECK_FALSE(next->value);
  scene.e(1).parked.wake_all();  // the old one says the right chain
  scene.turn();
  CHECK_FALSE(next->value);
  scene.e(1).serves(5);  // and the new one another
  scene.e(1).parked.wake_all();
  scene.turn();
  REQUIRE(next->value);
  CHECK(next->value->unknown() != nullptr);
  CHECK(scene.state(1) == quarantined);
}

TEST_CASE("T3: a no that may come of another chain id is unknown while the chain is not named") {
  PoolScene scene({1});
  scene.every_post(Answer(ports::Refused{Kind::malformed, "invalid chain id for signer"}));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(1).node.overrides["eth_chainId"] = always(silence);
  CHECK(scene.post().unknown() != nullptr);
  scene.e(1).serves(31337);
  CHECK(scene.post().refused() != nullptr);
}

TEST_CASE("T3: a no that may come of another chain id is believed once the id was checked") {
  PoolScene scene({1});
  scene.every_post(Answer(ports::Refused{Kind::malformed, "invalid chain id for signer"}));
  CHECK(scene.post().refused() != nullptr);
  scene.e(1).serves(5);
  const auto post = scene.post();
  REQUIRE(post.unknown() != nullptr);
  CHECK(post.unknown()->reason.starts_with("http://e1: quarantined"));
}

TEST_CASE("endpoint pool: a quarantined endpoint that falls silent stays in quarantine") {
  PoolScene scene;
  scene.e(1).serves(5);
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  CHECK(scene.state(1) == quarantined);
  scene.e(1).down = refused_connection;
  for (int i = 0; i < 10; ++i) CHECK(scene.ask(longest_back_off_ms).ok() != nullptr);
  CHECK(scene.state(1) == quarantined);
}

TEST_CASE("endpoint pool: a post goes to all, and the first acceptance is enough") {
  PoolScene scene({1, 1, 1});
  scene.every_post(posted(scene));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(1).hangs = true;
  CHECK(scene.post().ok() != nullptr);
  CHECK(scene.e(2).node.count("eth_sendRawTransaction") == 1);
  CHECK(scene.e(3).node.count("eth_sendRawTransaction") == 1);
  // The slow one gets them too.
  scene.e(1).parked.wake_all();
  scene.turn();
  CHECK(scene.e(1).node.count("eth_sendRawTransaction") == 1);
}

TEST_CASE("endpoint pool: a post that nobody accepted waits for everybody's answer") {
  PoolScene scene;
  scene.every_post(Answer(ports::Refused{Kind::nonce_too_low, "nonce too low"}));
  CHECK(scene.ask().ok() != nullptr);
  scene.e(2).hangs = true;
  const auto run = scene.start(scene.chain->post({1}, scene.sent));
  CHECK_FALSE(run->value);
  scene.e(2).down = silence;
  scene.e(2).parked.wake_all();
  scene.turn();
  REQUIRE(run->value);
  CHECK(run->value->unknown() != nullptr);
}

TEST_CASE("B10: bytes that one endpoint keeps to itself are with the others as well") {
  PoolScene scene;
  scene.every_post(posted(scene));
  std::string seen_by_second;
  scene.e(2).node.overrides["eth_sendRawTransaction"] = [&](const json::array& params) -> Answer {
    seen_by_second = std::string(params.at(0).as_string());
    return json::value(scene.sent.hex());
  };
  // The second was down when they were first sent; posted again, they reach it.
  scene.e(2).down = refused_connection;
  CHECK(scene.post().ok() != nullptr);
  CHECK(seen_by_second.empty());
  scene.e(2).down.reset();
  scene.clock.now_ms += desperate_ms;
  CHECK(scene.ask().ok() != nullptr);
  CHECK(scene.post().ok() != nullptr);
  CHECK(seen_by_second == "0x010203");
}

TEST_CASE("endpoint pool: it goes with calls, probes and posts under way") {
  for (const char* at : {"eth_chainId", "eth_blockNumber", "eth_sendRawTransaction"}) {
    CAPTURE(at);
    PoolScene scene;
    scene.every_post(posted(scene));
    for (FakeClient* client : scene.clients) {
      client->hangs = true;
      client->hangs_at = at;
    }
    const auto read = scene.start(scene.pool->call("eth_blockNumber", {}));
    const auto post = scene.start(scene.chain->post({1}, scene.sent));
    scene.chain.reset();
    scene.pool.reset();
    scene.turn();
    if (at == std::string_view("eth_chainId")) CHECK_FALSE(read->value);
    if (at != std::string_view("eth_blockNumber")) CHECK_FALSE(post->value);
  }
}
