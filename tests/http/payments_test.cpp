// Payments over a socket: what is answered, what is replayed, and what is paid.
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";

std::string path_of(const HttpAnswer& created, const std::string& rest = {}) {
  return std::string(intents) + "/" + created.at("id") + rest;
}

HttpAnswer settled(Scene& scene, const HttpAnswer& created, const std::string& token) {
  return scene.get(path_of(created, "?wait=settled&timeout_s=60"), token);
}

std::vector<Client> connected(Scene& scene, std::size_t count) {
  std::vector<Client> out;
  out.reserve(count);
  while (out.size() < count) out.emplace_back(scene.port());
  return out;
}

std::string signature_body(const std::string& signature) {
  return R"({"signature":")" + signature + "\"}";
}

}  // namespace

TEST_CASE("payments: a payout is created, settles, and shows its whole way") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer created = scene.post(intents, token, "one", payout_body("9007199254740993"));
  REQUIRE(created.status == 201);
  CHECK(created.header("Location") == path_of(created));
  CHECK(created.header("Idempotent-Replayed").empty());
  CHECK(created.at("state") == "authorized");
  CHECK(created.at("amount") == "9007199254740993");
  CHECK(created.at("payer") == "relayer0");
  CHECK(created.at("typed_data").empty());
  CHECK(created.at("validity").empty());

  const HttpAnswer done = settled(scene, created, token);
  REQUIRE(done.status == 200);
  CHECK(done.at("state") == "settled");
  CHECK(done.at("amount") == "9007199254740993");
  CHECK(scene.moved(created.at("id")) == 1);
  const auto whole = done.json().as_object();
  REQUIRE(whole.at("attempts").as_array().size() == 1);
  const auto& attempt = whole.at("attempts").as_array()[0].as_object();
  CHECK(attempt.at("hash") == whole.at("tx_hash"));
  CHECK(attempt.at("kind") == "pay");
  CHECK_FALSE(attempt.contains("bytes"));
  CHECK(whole.at("history").as_array().size() >= 4);
  for (const auto& step : whole.at("history").as_array()) {
    CHECK_FALSE(step.as_object().contains("who"));
  }
  std::set<std::string> entries;
  for (const auto& entry : whole.at("journal").as_array()) {
    entries.emplace(entry.at("kind").as_string());
  }
  CHECK(entries.contains("hold"));
  CHECK(entries.contains("post"));

  const HttpAnswer by_ref = scene.get("/v1/payment_refs/" + created.at("ref"), token);
  CHECK(by_ref.status == 200);
  CHECK(by_ref.at("id") == created.at("id"));
}

TEST_CASE("payments: a payer signs the typed data whose nonce is the ref, and it settles") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay"});
  const HttpAnswer created = scene.post(intents, token, "one", transfer_body());
  REQUIRE(created.status == 201);
  CHECK(created.at("state") == "created");
  const auto whole = created.json().as_object();
  const auto& message = whole.at("typed_data").at("message").as_object();
  CHECK(message.at("nonce") == whole.at("ref"));
  CHECK(message.at("value") == "1000000");
  CHECK(message.at("validBefore").as_string() ==
        std::to_string(whole.at("validity").at("before").as_int64()));

  const std::string body = signature_body(scene.signature(created.at("id")));
  const HttpAnswer authorized = scene.post(path_of(created, "/authorize"), token, "two", body);
  REQUIRE(authorized.status == 200);
  CHECK(authorized.at("state") == "authorized");
  CHECK(settled(scene, created, token).at("state") == "settled");
  CHECK(scene.moved(created.at("id")) == 1);

  const HttpAnswer again = scene.post(path_of(created, "/authorize"), token, "two", body);
  CHECK(again.status == 200);
  CHECK(again.body == authorized.body);
  CHECK(again.header("Idempotent-Replayed") == "true");
  const HttpAnswer other = scene.post(path_of(created, "/authorize"), token, "two",
                                      signature_body("0x" + std::string(64, '1')));
  CHECK(other.status == 422);
  CHECK(other.at("error") == "key_reused");
}

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

TEST_CASE("payments: another caller with the same key has a payment of its own and sees no other") {
  Scene scene;
  const std::string ours = scene.add_key("a", {"pay", "payout"});
  const std::string theirs = scene.add_key("b", {"pay", "payout"});
  const HttpAnswer first = scene.post(intents, ours, "1", transfer_body());
  const HttpAnswer same = scene.post(intents, theirs, "1", transfer_body());
  const HttpAnswer other = scene.post(intents, theirs, "2", transfer_body("77"));
  REQUIRE(first.status == 201);
  CHECK(same.status == 201);
  CHECK(same.header("Idempotent-Replayed").empty());
  CHECK(same.at("id") != first.at("id"));
  CHECK(other.status == 201);

  const std::string sign = signature_body(scene.signature(first.at("id")));
  const std::vector<HttpAnswer> foreign = {
      scene.get(path_of(first), theirs),
      scene.get(path_of(first, "?wait=settled&timeout_s=1"), theirs),
      scene.get("/v1/payment_refs/" + first.at("ref"), theirs),
      scene.post(path_of(first, "/authorize"), theirs, "3", sign),
      scene.post(path_of(first, "/cancel"), theirs, "4", "{}")};
  for (const HttpAnswer& answer : foreign) {
    CHECK(answer.status == 404);
    CHECK(answer.at("error") == "not_found");
    CHECK(answer.body.find(first.at("ref")) == std::string::npos);
  }
  const HttpAnswer list = scene.get(intents, theirs);
  CHECK(list.json().at("payment_intents").as_array().size() == 2);
  CHECK(list.body.find(first.at("id")) == std::string::npos);
  CHECK(scene.get(path_of(first), ours).at("state") == "created");
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

TEST_CASE("payments: canceling works before settling only, and is repeated safely") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay", "payout"});
  const HttpAnswer created = scene.post(intents, token, "one", transfer_body());
  const std::string path = path_of(created, "/cancel");
  const HttpAnswer canceled = scene.post(path, token, "c", R"({"reason":"zu spät"})");
  CHECK(canceled.status == 200);
  CHECK(canceled.at("state") == "canceled");
  CHECK(canceled.at("reason") == "zu spät");
  const HttpAnswer again = scene.post(path, token, "c", R"({"reason":"zu spät"})");
  CHECK(again.body == canceled.body);
  CHECK(again.header("Idempotent-Replayed") == "true");
  CHECK(scene.post(path, token, "c", R"({"reason":"other"})").status == 422);
  // Signing what was canceled: too late.
  const HttpAnswer late = scene.post(path_of(created, "/authorize"), token, "s",
                                     signature_body(scene.signature(created.at("id"))));
  CHECK(late.status == 409);

  const HttpAnswer paid = scene.post(intents, token, "two", payout_body());
  REQUIRE(settled(scene, paid, token).at("state") == "settled");
  const HttpAnswer refused = scene.post(path_of(paid, "/cancel"), token, "d", "");
  CHECK(refused.status == 409);
  CHECK(refused.at("error") == "too_late");
  CHECK(scene.get(path_of(paid), token).at("state") == "settled");
}

TEST_CASE("payments: an operator abandons anybody's, with a reason") {
  Scene scene;
  const std::string shop = scene.add_key("shop", {"pay"});
  const std::string ops = scene.add_key("desk", {"ops"});
  const HttpAnswer created = scene.post(intents, shop, "one", transfer_body());
  const std::string path = path_of(created, "/abandon");
  CHECK(scene.post(path, shop, "a", R"({"reason":"x"})").status == 403);
  CHECK(scene.post(path, ops, "a", "{}").status == 400);
  const HttpAnswer abandoned = scene.post(path, ops, "b", R"({"reason":"a dispute"})");
  CHECK(abandoned.status == 200);
  CHECK(abandoned.at("state") == "canceled");
  CHECK(scene.post(path, ops, "b", R"({"reason":"a dispute"})").status == 200);
  // The operator's name is for operators.
  const HttpAnswer theirs = scene.get(path_of(created), shop);
  CHECK(theirs.body.find("desk") == std::string::npos);
  CHECK(scene.get(path_of(created), ops).body.find(R"("who":"desk")") != std::string::npos);
}

TEST_CASE("payments: a list is filtered and paged, each payment once") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay", "payout"});
  std::set<std::string> made;
  for (int i = 0; i < 7; ++i) {
    made.insert(scene.post(intents, token, "k" + std::to_string(i), transfer_body()).at("id"));
  }
  const HttpAnswer paid = scene.post(intents, token, "paid", payout_body());
  REQUIRE(settled(scene, paid, token).at("state") == "settled");

  std::set<std::string> seen;
  std::size_t rows = 0;
  std::string cursor;
  do {
    const HttpAnswer page = scene.get(std::string(intents) + "?state=created&limit=3" +
                                          (cursor.empty() ? "" : "&cursor=") + cursor,
                                      token);
    REQUIRE(page.status == 200);
    const auto whole = page.json();
    for (const auto& intent : whole.at("payment_intents").as_array()) {
      seen.emplace(intent.at("id").as_string());
      ++rows;
    }
    cursor = page.at("next_cursor");
  } while (cursor != "null");
  CHECK(seen == made);
  CHECK(rows == made.size());

  for (const char* bad : {"?state=done", "?limit=0", "?limit=501", "?limit=x", "?cursor=-1",
                          "?cursor=x", "?colour=red", "?limit=1&limit=2"}) {
    CAPTURE(bad);
    CHECK(scene.get(std::string(intents) + bad, token).status == 400);
  }
}

TEST_CASE("payments: waiting gives up at its time-out and changes nothing") {
  SceneOptions options;
  options.block_ms = 0;  // no block ever comes
  Scene scene(options);
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer created = scene.post(intents, token, "one", payout_body());
  const HttpAnswer waited = scene.get(path_of(created, "?wait=settled&timeout_s=5"), token);
  CHECK(waited.status == 200);
  CHECK(waited.at("state") != "settled");
  CHECK(scene.get(path_of(created, "?wait=settled&timeout_s=0"), token).status == 200);
  for (const char* bad : {"?wait=done", "?wait=settled&timeout_s=61", "?wait=settled&timeout_s=-1",
                          "?timeout_s=5", "?wait=", "?wait=settled&timeout_s=1.5"}) {
    CAPTURE(bad);
    CHECK(scene.get(path_of(created, bad), token).status == 400);
  }
  // Confirming is reached without a block; it takes a node that has it.
  CHECK(scene.get(path_of(created, "?wait=confirming"), token).at("state") == "confirming");
}

TEST_CASE("payments: operators see balances, events and everybody's payments") {
  Scene scene;
  const std::string shop = scene.add_key("shop", {"payout"});
  const std::string ops = scene.add_key("desk", {"ops"});
  const HttpAnswer paid = scene.post(intents, shop, "one", payout_body("123"));
  REQUIRE(settled(scene, paid, ops).at("state") == "settled");
  CHECK(scene.get(intents, ops).body.find(paid.at("id")) != std::string::npos);
  for (const char* path : {"/v1/balances", "/v1/events"}) {
    CHECK(scene.get(path, shop).status == 403);
  }
  const HttpAnswer balances = scene.get("/v1/balances", ops);
  CHECK(balances.body.find(R"("account":"payee:merchant","chain":"sim:1","asset":"tkn",)"
                           R"("posted":"123","pending":"0")") != std::string::npos);
  const HttpAnswer first = scene.get("/v1/events?limit=2", ops);
  REQUIRE(first.json().at("events").as_array().size() == 2);
  const HttpAnswer rest = scene.get("/v1/events?after=" + first.at("next_after"), ops);
  CHECK(rest.json().at("events").as_array()[0].at("seq").as_int64() >
        first.json().at("events").as_array()[1].at("seq").as_int64());
  const HttpAnswer chains = scene.get("/v1/chains", shop);
  CHECK(chains.body.find(R"("id":"sim:1","usable":true)") != std::string::npos);
  CHECK(chains.body.find("\"why\"") == std::string::npos);
  CHECK(scene.get("/v1/chains", ops).body.find("\"why\"") != std::string::npos);
}

}  // namespace holdfast::testing
