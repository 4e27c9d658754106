// Whatever a stranger sends to the x402 routes: an answer in their words, never a 5xx.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/json/array.hpp>

#include "payments.hpp"
#include "x402.hpp"

namespace holdfast::testing {

using namespace x402;

TEST_CASE("x402: every spoilt body is answered in the wire format with 400") {
  Scene scene(open_scene());
  std::vector<std::string> bodies = {"",
                                     "{",
                                     "null",
                                     "[]",
                                     "{}",
                                     std::string(1'000'000, ' '),
                                     std::string(1 << 16, '['),
                                     R"({"paymentPayload":1,"paymentPayload":2})",
                                     "{\"a\":\"\xff\"}"};
  auto body = body_of({});
  x402::at(body, {"paymentRequirements", "amount"}) = 1'000'000;
  bodies.push_back(text(body));
  body = body_of({});
  x402::at(body, {"paymentPayload", "x402Version"}) = 3;
  bodies.push_back(text(body));
  body = body_of({});
  x402::at(body, {"paymentRequirements", "network"}) = 8453;
  bodies.push_back(text(body));
  body = body_of({});
  x402::remove(body, {"paymentPayload", "payload"});
  bodies.push_back(text(body));
  for (const std::string& each : bodies) {
    CAPTURE(each.substr(0, 60));
    const HttpAnswer refused = settle(scene, each);
    CHECK(refused.status == 400);
    check_settle_shape(refused);
    CHECK(refused.at("success") == "false");
    CHECK(refused.at("transaction").empty());
    const HttpAnswer verified = verify(scene, each);
    CHECK(verified.status == 400);
    CHECK(verified.at("isValid") == "false");
    CHECK_FALSE(verified.at("invalidReason").empty());
  }
  CHECK(settle(scene, text(body)).at("network") == network);  // what can be read is repeated
  CHECK(scene.earned() == "0");
}

TEST_CASE("x402: what is refused before a body is read is in the wire format, too") {
  SceneOptions options = open_scene();
  options.http.x402.require_key = true;
  options.http.max_body_bytes = 4'096;
  Scene scene(options);
  const std::string pays = scene.add_key("shop", {"pay"});
  const std::string token_of_key = scene.add_key("seller", {"x402"});
  const std::string body = text(body_of({}));

  const HttpAnswer nobody = settle(scene, body);
  CHECK(nobody.status == 401);
  check_settle_shape(nobody);
  CHECK(nobody.at("errorReason") == "unauthorized");
  CHECK_FALSE(nobody.header("WWW-Authenticate").empty());
  CHECK(verify(scene, body).status == 401);
  CHECK(verify(scene, body).at("isValid") == "false");
  CHECK(scene.get("/x402/supported").status == 401);
  CHECK(settle(scene, body, "hf_wrong").status == 401);

  const HttpAnswer other_scope = settle(scene, body, pays);
  CHECK(other_scope.status == 403);
  check_settle_shape(other_scope);
  CHECK(other_scope.at("errorReason") == "forbidden");

  const HttpAnswer large = settle(scene, std::string(5'000, ' '), token_of_key);
  CHECK(large.status == 413);
  check_settle_shape(large);
  Client client(scene.port());
  REQUIRE(client.send("POST /x402/settle HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " +
                      token_of_key +
                      "\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"));
  const HttpAnswer plain = client.read();
  CHECK(plain.status == 415);
  check_settle_shape(plain);
  CHECK(settle(scene, body, token_of_key, std::string(256, 'k')).status == 400);
  CHECK(scene.get("/x402/settle", token_of_key).status == 405);

  wait_until_open(scene, token_of_key);
  CHECK(settle(scene, body, token_of_key).at("success") == "true");
  CHECK(scene.get("/x402/supported", token_of_key).status == 200);
}

TEST_CASE("x402: who asks too often is told when to come back, and others are not") {
  SceneOptions options = open_scene();
  options.http.x402.requests_per_s = 1;
  options.http.x402.burst = 3;
  Scene scene(options);
  const std::string token_of_key = scene.add_key("seller", {"x402"});
  HttpAnswer answer;
  for (int i = 0; i < 200 && answer.status != 429; ++i) answer = verify(scene, "{}");
  REQUIRE(answer.status == 429);
  CHECK(answer.at("isValid") == "false");
  CHECK(answer.at("invalidReason") == "rate_limited");
  CHECK(answer.header("Retry-After") == "1");
  CHECK(verify(scene, "{}", token_of_key).status == 400);
}

TEST_CASE("x402: a day's gas that is spent refuses new payments and follows the known ones") {
  SceneOptions options = open_scene();
  options.http.x402.gas_per_day = U256{1'000'000'000};  // some five payments' most
  Scene scene(options);
  const std::string token_of_key = scene.add_key("seller", {"x402"});
  wait_until_open(scene);
  std::uint64_t nonce = 0;
  HttpAnswer answer;
  do {
    answer = settle(scene, text(body_of({.nonce = ++nonce})));
    check_settle_shape(answer);
  } while (answer.at("success") == "true" && nonce < 100);
  CHECK(nonce > 1);
  CHECK(answer.status == 200);
  CHECK(answer.at("errorReason") == "gas_budget_spent");
  CHECK(answer.at("transaction").empty());
  CHECK(verify(scene, text(body_of({.nonce = nonce}))).at("invalidReason") == "gas_budget_spent");
  CHECK(verify(scene, text(body_of({.nonce = nonce})), token_of_key).at("isValid") == "true");
  const HttpAnswer known = settle(scene, text(body_of({.nonce = 1})));
  CHECK(known.at("errorReason") == "invalid_exact_evm_nonce_already_used");
  CHECK_FALSE(known.at("transaction").empty());
  CHECK(settle(scene, text(body_of({.nonce = nonce})), token_of_key).at("success") == "true");
}

TEST_CASE("x402: a server that is no facilitator has no such path, and another base is another") {
  {
    Scene scene;
    CHECK(scene.get("/x402/supported").status == 404);
  }
  SceneOptions options = open_scene();
  options.http.x402.base = "/pay/402";
  Scene scene(options);
  CHECK(scene.get("/x402/supported").status == 404);
  CHECK(scene.get("/pay/402/supported").status == 200);
  CHECK(scene.get("/pay/402").status == 404);
  while (scene.get("/pay/402/supported").json().at("kinds").as_array().empty()) {
  }
  CHECK(scene.post("/pay/402/settle", {}, {}, text(body_of({}))).at("success") == "true");
}

}  // namespace holdfast::testing
