// The same request again, at once, later, elsewhere: one payment and one answer.
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "payments.hpp"

namespace holdfast::testing {

TEST_CASE("payments: a repeated creation is the first answer, byte for byte, whatever happened") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay", "payout"});
  for (const std::string& body : {payout_body(), transfer_body()}) {
    const std::string key = "key-" + std::to_string(body.size());
    const HttpAnswer first = scene.post(intents, token, key, body);
    REQUIRE(first.status == 201);
    if (body == payout_body()) {
      CHECK(settled(scene, first, token).at("state") == "settled");
    } else {
      CHECK(scene.post(path_of(first, "/cancel"), token, "c", "{}").at("state") == "canceled");
    }
    const HttpAnswer again = scene.post(intents, token, key, body);
    CHECK(again.status == 201);
    CHECK(again.body == first.body);
    CHECK(again.header("Location") == first.header("Location"));
    CHECK(again.header("Idempotent-Replayed") == "true");
  }
  // Other blanks, other order: the same request.
  const HttpAnswer first = scene.post(intents, token, "spelled", payout_body("5"));
  const HttpAnswer again = scene.post(
      intents, token, "spelled",
      R"({ "amount":"5", "payee":"merchant", "asset":"tkn", "method":"payout", "chain":"sim:1" })");
  CHECK(again.status == 201);
  CHECK(again.body == first.body);
}

TEST_CASE("payments: a key with another request is refused and the first payment untouched") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer first = scene.post(intents, token, "k", payout_body("1000000"));
  REQUIRE(first.status == 201);
  const HttpAnswer other = scene.post(intents, token, "k", payout_body("2000000"));
  CHECK(other.status == 422);
  CHECK(other.at("error") == "key_reused");
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().size() == 1);
  CHECK(settled(scene, first, token).at("amount") == "1000000");
  // On another route the key is another key: its own answer, never the first route's.
  const HttpAnswer elsewhere = scene.post(path_of(first, "/cancel"), token, "k", "{}");
  CHECK(elsewhere.status == 409);
  CHECK(elsewhere.at("error") == "too_late");
}

TEST_CASE("payments: fifty at once with one key make one payment, and nobody gets a 5xx") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  for (int round = 0; round < 5; ++round) {
    const std::string key = "round-" + std::to_string(round);
    const std::string text = request_text("POST", intents, token, key, payout_body());
    std::vector<Client> clients = connected(scene, 50);
    for (Client& client : clients) REQUIRE(client.send(text));
    int fresh = 0;
    std::set<std::string> bodies;
    for (Client& client : clients) {
      const HttpAnswer answer = client.read();
      CHECK((answer.status == 201 || answer.status == 409));
      if (answer.status == 409) {
        CHECK(answer.at("error") == "in_progress");
        CHECK(answer.header("Retry-After") == "1");
        continue;
      }
      bodies.insert(answer.body);
      if (answer.header("Idempotent-Replayed").empty()) ++fresh;
    }
    CHECK(fresh == 1);
    CHECK(bodies.size() == 1);
    for (int i = 0; i < 5; ++i) {
      const HttpAnswer again = scene.post(intents, token, key, payout_body());
      CHECK(again.status == 201);
      CHECK(bodies.contains(again.body));
      CHECK(again.header("Idempotent-Replayed") == "true");
    }
    const HttpAnswer done = scene.get(
        path_of(scene.post(intents, token, key, payout_body()), "?wait=settled&timeout_s=60"),
        token);
    CHECK(done.at("state") == "settled");
    CHECK(scene.moved(done.at("id")) == 1);
  }
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().size() == 5);
}

TEST_CASE("payments: two amounts at once under one key make one payment") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  std::vector<Client> clients = connected(scene, 20);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i].send(request_text("POST", intents, token, "k", payout_body(i % 2 ? "1" : "2")));
  }
  int fresh = 0;
  for (Client& client : clients) {
    const HttpAnswer answer = client.read();
    CHECK((answer.status == 201 || answer.status == 409 || answer.status == 422));
    fresh += answer.status == 201 && answer.header("Idempotent-Replayed").empty();
  }
  CHECK(fresh == 1);
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().size() == 1);
}

TEST_CASE("payments: a key still being answered is told to come back") {
  SceneOptions options;
  options.chain_latency_ms = 6'000;
  Scene scene(options);
  const std::string token = scene.add_key("shop", {"pay"});
  HttpAnswer busy;
  // On a busy machine the two may not meet: then another payment.
  for (int tries = 0; busy.status != 409 && tries < 20; ++tries) {
    const std::string key = "key-" + std::to_string(tries);
    const HttpAnswer created = scene.post(intents, token, key, transfer_body());
    REQUIRE(created.status == 201);
    const std::string text = request_text("POST", path_of(created, "/authorize"), token, key,
                                          signature_body(scene.signature(created.at("id"))));
    std::vector<Client> both = connected(scene, 2);
    for (Client& client : both) client.send(text);
    for (Client& client : both) {
      const HttpAnswer answer = client.read();
      CHECK((answer.status == 200 || answer.status == 409));
      if (answer.status == 409) busy = answer;
    }
    both[0].send(text);
    const HttpAnswer again = both[0].read();
    CHECK(again.status == 200);
    CHECK(again.header("Idempotent-Replayed") == "true");
  }
  CHECK(busy.status == 409);
  CHECK(busy.at("error") == "in_progress");
  CHECK(busy.header("Retry-After") == "1");
}

TEST_CASE("payments: after a restart the same key has the same payment, and no key is stuck") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer first = scene.post(intents, token, "k", payout_body());
  REQUIRE(first.status == 201);
  scene.restart();
  const HttpAnswer again = scene.post(intents, token, "k", payout_body());
  CHECK(again.status == 201);
  CHECK(again.body == first.body);
  CHECK(again.header("Idempotent-Replayed") == "true");
  CHECK(settled(scene, first, token).at("state") == "settled");
  CHECK(scene.moved(first.at("id")) == 1);
}

}  // namespace holdfast::testing
