// Payments over a socket: what is answered, and what is paid.
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "payments.hpp"

namespace holdfast::testing {

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
  for (const char* without : {"", "{}"}) {
    const HttpAnswer refused = scene.post(path, ops, "a", without);
    CHECK(refused.status == 400);
    CHECK(refused.at("error") == "missing_field");
    CHECK(refused.at("detail") == "reason: the field is missing");
  }
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
  CHECK(chains.body.find("\"endpoints\"") == std::string::npos);
  CHECK(scene.get("/v1/chains", ops).body.find("\"why\"") != std::string::npos);
  CHECK(scene.get("/v1/chains", ops).body.find("\"endpoints\":[]") != std::string::npos);
}

}  // namespace holdfast::testing
