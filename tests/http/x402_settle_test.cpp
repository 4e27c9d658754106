// The x402 routes over a socket, before a real engine and store: one payment, one success told.
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/json/array.hpp>

#include "payments.hpp"
#include "x402.hpp"

namespace holdfast::testing {

using namespace x402;

namespace {

constexpr const char* used = "invalid_exact_evm_nonce_already_used";

bool is_hash(const std::string& text) { return text.size() == 66 && text.starts_with("0x"); }

HttpAnswer settled_once(Scene& scene, const std::string& body) {
  const HttpAnswer answer = settle(scene, body);
  CAPTURE(answer.body);
  REQUIRE(answer.status == 200);
  REQUIRE(answer.at("success") == "true");
  return answer;
}

std::string settle_request(Scene&, const std::string& body) {
  return request_text("POST", "/x402/settle", {}, {}, body);
}

}  // namespace

TEST_CASE("x402: supported lists what settles, in both versions, and who signs") {
  Scene scene(open_scene());
  wait_until_open(scene);
  const HttpAnswer answer = scene.get("/x402/supported");
  REQUIRE(answer.status == 200);
  const auto body = answer.json();
  std::set<std::string> kinds;
  for (const auto& kind : body.at("kinds").as_array()) {
    CHECK(kind.at("scheme") == "exact");
    CHECK(kind.at("extra").at("name") == "USD Coin");
    CHECK(kind.at("extra").at("version") == "2");
    CHECK(kind.at("extra").at("assetTransferMethod") == "eip3009");
    kinds.insert(std::to_string(kind.at("x402Version").as_int64()) + " " +
                 std::string(kind.at("network").as_string()));
  }
  CHECK(kinds == std::set<std::string>{"1 " + network_v1, "2 " + network});
  CHECK(body.at("extensions").as_array().at(0) == "payment-identifier");
  CHECK(body.at("signers").at("sim:*").as_array().at(0) == "relayer0");
}

TEST_CASE("x402: a chain that is down is not listed, and both routes say so, until it is back") {
  SceneOptions options = open_scene();
  options.chain_starts_down = true;
  Scene scene(options);
  CHECK(scene.get("/x402/supported").json().at("kinds").as_array().empty());
  const std::string body = text(body_of({}));
  const HttpAnswer verified = verify(scene, body);
  CHECK(verified.status == 200);
  CHECK(verified.at("isValid") == "false");
  CHECK(verified.at("invalidReason") == "invalid_network");
  const HttpAnswer refused = settle(scene, body);
  check_settle_shape(refused);
  CHECK(refused.status == 200);
  CHECK(refused.at("errorReason") == "invalid_network");
  CHECK(refused.at("transaction").empty());
  CHECK(refused.at("network") == network);
  CHECK(refused.at("payer") == payer);
  scene.set_chain_down(false);
  wait_until_open(scene);
  settled_once(scene, body);
}

TEST_CASE("x402: a payment of either version verifies and settles, and the payee is paid") {
  for (const int version : {1, 2}) {
    CAPTURE(version);
    Scene scene(open_scene());
    wait_until_open(scene);
    const std::string body = text(body_of({.version = version, .amount = "25"}));
    const HttpAnswer verified = verify(scene, body);
    CHECK(verified.status == 200);
    CHECK(verified.at("isValid") == "true");
    CHECK(verified.at("payer") == payer);
    CHECK(scene.earned() == "0");
    const HttpAnswer answer = settled_once(scene, body);
    check_settle_shape(answer);
    CHECK(is_hash(answer.at("transaction")));
    CHECK(answer.at("network") == (version == 1 ? network_v1 : network));
    CHECK(answer.at("payer") == payer);
    CHECK(answer.at("amount") == (version == 1 ? "" : "25"));
    CHECK(scene.earned() == "25");
  }
}

TEST_CASE("x402: without a key a success is told once, and then refused with its hash") {
  Scene scene(open_scene());
  wait_until_open(scene);
  const std::string body = text(body_of({.amount = "25"}));
  const std::string hash = settled_once(scene, body).at("transaction");
  for (int i = 0; i < 3; ++i) {
    const HttpAnswer again = settle(scene, body);
    check_settle_shape(again);
    CHECK(again.status == 200);
    CHECK(again.at("success") == "false");
    CHECK(again.at("errorReason") == used);
    CHECK(again.at("transaction") == hash);
  }
  scene.restart();
  wait_until_open(scene);
  CHECK(settle(scene, body).at("errorReason") == used);
  CHECK(verify(scene, body).at("invalidReason") == used);
  CHECK(scene.earned() == "25");
  // The same number on other terms is no other payment.
  const HttpAnswer other_terms = settle(scene, text(body_of({.amount = "26"})));
  CHECK(other_terms.at("success") == "false");
  CHECK(other_terms.at("transaction").empty());
  CHECK(scene.earned() == "25");
}

TEST_CASE("x402: a duplicate is refused with its hash, whoever brings it, however it is signed") {
  Scene scene(open_scene());
  const std::string old_key = scene.add_key("shop", {"x402"});
  const std::string new_key = scene.add_key("shop-2", {"x402"});
  wait_until_open(scene, old_key);
  auto body = body_of({.amount = "25"});
  const HttpAnswer first = settle(scene, text(body), old_key);
  REQUIRE(first.at("success") == "true");
  const HttpAnswer others = settle(scene, text(body), new_key);
  x402::at(body, {"paymentPayload", "payload", "signature"}) = "0x" + std::string(64, '1');
  for (const HttpAnswer& again : {others, settle(scene, text(body), old_key)}) {
    CAPTURE(again.body);
    check_settle_shape(again);
    CHECK(again.status == 200);
    CHECK(again.at("errorReason") == used);
    CHECK(again.at("transaction") == first.at("transaction"));
  }
  CHECK(scene.earned() == "25");
}

TEST_CASE("x402: under a key or an identifier the same request gets the same success again") {
  SceneOptions options = open_scene();
  Scene scene(options);
  wait_until_open(scene);
  const std::string token_of_key = scene.add_key("shop", {"x402"});
  const std::string body = text(body_of({.amount = "25"}));
  const HttpAnswer first = settle(scene, body, token_of_key, "order-1");
  REQUIRE(first.at("success") == "true");
  CHECK(settle(scene, body, token_of_key, "order-1").body == first.body);
  scene.restart();
  wait_until_open(scene);
  CHECK(settle(scene, body, token_of_key, "order-1").body == first.body);
  CHECK(settle(scene, body, token_of_key, "order-2").at("success") == "false");
  CHECK(settle(scene, body, token_of_key).at("success") == "false");
  CHECK(settle(scene, body).at("success") == "false");
  const HttpAnswer other_payment =
      settle(scene, text(body_of({.nonce = 2})), token_of_key, "order-1");
  check_settle_shape(other_payment);
  CHECK(other_payment.status == 409);
  CHECK(other_payment.at("transaction").empty());

  const std::string id(16, 'i');
  const std::string named = text(body_of({.amount = "30", .nonce = 3, .payment_id = id}));
  const HttpAnswer told = settled_once(scene, named);
  CHECK(settle(scene, named).body == told.body);
  CHECK(settle(scene, text(body_of({.amount = "30", .nonce = 4, .payment_id = id}))).status == 409);
  CHECK(scene.earned() == "55");
}

TEST_CASE("x402: fifty at once are one payment, one success, and the same hash for all") {
  Scene scene(open_scene());
  wait_until_open(scene);
  const std::string request = settle_request(scene, text(body_of({.amount = "25"})));
  std::vector<Client> clients = connected(scene, 50);
  for (Client& client : clients) REQUIRE(client.send(request));
  int successes = 0;
  std::set<std::string> hashes;
  for (Client& client : clients) {
    const HttpAnswer answer = client.read();
    check_settle_shape(answer);
    CHECK(answer.status == 200);
    if (answer.at("success") == "true") {
      ++successes;
    } else {
      CHECK(answer.at("errorReason") == used);
    }
    hashes.insert(answer.at("transaction"));
  }
  CHECK(successes == 1);
  CHECK(hashes.size() == 1);
  CHECK(scene.earned() == "25");
}

TEST_CASE("x402: over the budget a payment is pending with its hash, and goes on") {
  SceneOptions options = open_scene();
  options.http.x402.budget_ms = 3'000;
  Scene scene(options);
  wait_until_open(scene);
  scene.hold_pool(true);
  const std::string body = text(body_of({.amount = "25"}));
  const HttpAnswer pending = settle(scene, body);
  check_settle_shape(pending);
  CHECK(pending.status == 200);
  CHECK(pending.at("success") == "false");
  CHECK(pending.at("errorReason") == "settlement_pending");
  CHECK(is_hash(pending.at("transaction")));
  CHECK(pending.at("network") == network);
  CHECK(pending.at("payer") == payer);
  // At once and the same, as the clients do: it waits again. Other terms are judged again.
  CHECK(settle(scene, body).at("transaction") == pending.at("transaction"));
  auto other_terms = body_of({.amount = "25"});
  x402::at(other_terms, {"paymentRequirements", "amount"}) = "26";
  CHECK(settle(scene, text(other_terms)).at("errorReason") ==
        "invalid_exact_evm_payload_authorization_value_mismatch");
  // Nobody else is told that it is good: they could not settle it.
  const std::string stranger = scene.add_key("stranger", {"x402"});
  CHECK(verify(scene, body).at("isValid") == "true");
  CHECK(verify(scene, body, stranger).at("invalidReason") == used);
  CHECK(settle(scene, body, stranger).at("errorReason") == used);
  // A chain that is down meanwhile takes nothing back.
  scene.set_chain_down(true);
  CHECK(settle(scene, body).at("errorReason") == "settlement_pending");
  CHECK(verify(scene, body).at("isValid") == "true");
  CHECK(settle(scene, body).at("transaction") == pending.at("transaction"));
  scene.set_chain_down(false);
  scene.hold_pool(false);
  HttpAnswer answer;
  do {
    answer = settle(scene, body);
  } while (answer.at("errorReason") == "settlement_pending");
  CHECK(answer.at("success") == "true");
  CHECK(answer.at("transaction") == pending.at("transaction"));
  CHECK(scene.earned() == "25");
}

TEST_CASE("x402: a caller who hung up leaves the success to the next one") {
  Scene scene(open_scene());
  wait_until_open(scene);
  const std::string body = text(body_of({.amount = "25"}));
  {
    Client client(scene.port());
    REQUIRE(client.send(settle_request(scene, body)));
    while (scene.get("/metrics").body.find("holdfast_attempts_stored_total 1") ==
           std::string::npos) {
    }
  }
  const HttpAnswer answer = settle(scene, body);
  CAPTURE(answer.body);
  CHECK(answer.at("success") == "true");
  CHECK(settle(scene, body).at("errorReason") == used);
  CHECK(scene.earned() == "25");
}

TEST_CASE("x402: verify says of a payment that is made what settle would say of it") {
  Scene scene(open_scene());
  wait_until_open(scene);
  const std::string body = text(body_of({.amount = "25"}));
  {
    Client client(scene.port());
    REQUIRE(client.send(settle_request(scene, body)));
    while (scene.get("/metrics").body.find("holdfast_attempts_stored_total 1") ==
           std::string::npos) {
    }
  }
  while (scene.earned() != "25") {
  }
  // Sellers verify first. Nobody was told, so who paid is not sent away for having paid.
  CHECK(verify(scene, body).at("isValid") == "true");
  CHECK(settle(scene, body).at("success") == "true");
  const HttpAnswer told = verify(scene, body);
  CHECK(told.at("isValid") == "false");
  CHECK(told.at("invalidReason") == used);
}

TEST_CASE("x402: a server that stops answers what it knows, and its payments go on") {
  SceneOptions options = open_scene();
  Scene scene(options);
  wait_until_open(scene);
  scene.hold_pool(true);
  const std::string body = text(body_of({.amount = "25"}));
  Client client(scene.port());
  REQUIRE(client.send(settle_request(scene, body)));
  while (scene.get("/metrics").body.find("holdfast_attempts_stored_total 1") == std::string::npos) {
  }
  CHECK(scene.stop(10'000) == 0);
  const HttpAnswer answer = client.read();
  CHECK(answer.at("errorReason") == "settlement_pending");
  CHECK(is_hash(answer.at("transaction")));
  scene.hold_pool(false);
  scene.restart();
  wait_until_open(scene);
  CHECK(settled_once(scene, body).at("transaction") == answer.at("transaction"));
}

TEST_CASE("x402: slow nodes and a short budget end in a hash, or may be tried again at once") {
  SceneOptions options = open_scene();
  options.http.x402.budget_ms = 2'000;
  options.chain_latency_ms = 400;
  Scene scene(options);
  wait_until_open(scene);
  const std::string body = text(body_of({.amount = "25"}));
  HttpAnswer answer;
  bool done = false;
  for (int i = 0; i < 100 && !done; ++i) {
    answer = settle(scene, body);
    done = answer.at("success") == "true";
    check_settle_shape(answer);
    CHECK(answer.status == 200);
    const std::string reason = answer.at("errorReason");
    CAPTURE(reason);
    CHECK(
        (reason.empty() || reason == "settlement_pending" || reason == "unexpected_settle_error"));
    CHECK(is_hash(answer.at("transaction")) == (reason != "unexpected_settle_error"));
  }
  CHECK(answer.at("success") == "true");
  CHECK(scene.earned() == "25");
}

TEST_CASE("x402: what is wrong with a signature, a window or a balance is told, and nothing sent") {
  Scene scene(open_scene());
  wait_until_open(scene);
  const auto both = [&](const boost::json::object& body, const std::string& reason) {
    const HttpAnswer verified = verify(scene, text(body));
    CHECK(verified.status == 200);
    CHECK(verified.at("invalidReason") == reason);
    CHECK(verified.at("payer") == payer);
    const HttpAnswer refused = settle(scene, text(body));
    check_settle_shape(refused);
    CHECK(refused.status == 200);
    CHECK(refused.at("errorReason") == reason);
    CHECK(refused.at("transaction").empty());
    CHECK(refused.at("network") == network);
    CHECK(verified.at("invalidMessage") == refused.at("errorMessage"));
  };
  auto forged = body_of({});
  x402::at(forged, {"paymentPayload", "payload", "signature"}) = "0x" + std::string(64, '1');
  both(forged, "invalid_exact_evm_signature");
  both(body_of({.nonce = 2, .valid_before_s = 1}),
       "invalid_exact_evm_payload_authorization_valid_before");
  both(body_of({.nonce = 3, .valid_after_s = far_s - 1}),
       "invalid_exact_evm_payload_authorization_valid_after");
  auto poor = body_of({.nonce = 4});
  x402::at(poor, {"paymentPayload", "payload", "authorization", "from"}) = other;
  const HttpAnswer stranger = verify(scene, text(poor));
  CHECK(stranger.at("isValid") == "false");
  CHECK(stranger.at("payer") == other);
  CHECK(scene.earned() == "0");
  CHECK(scene.get("/metrics").body.find("holdfast_attempts_stored_total 0") != std::string::npos);
}

TEST_CASE("x402: requests and reasons are counted, settles are timed") {
  Scene scene(open_scene());
  wait_until_open(scene);
  settled_once(scene, text(body_of({})));
  settle(scene, text(body_of({})));
  verify(scene, "{}");
  const std::string page = scene.get("/metrics").body;
  for (const char* line :
       {"holdfast_x402_requests_total{route=\"settle\",reason=\"none\"} 1",
        "holdfast_x402_requests_total{route=\"settle\",reason=\"invalid_exact_evm_nonce_already_"
        "used\"} 1",
        "holdfast_x402_requests_total{route=\"verify\",reason=\"invalid_payload\"} 1",
        "holdfast_x402_settle_seconds_count{reason=\"none\"} 1"}) {
    CAPTURE(line);
    CHECK(page.find(line) != std::string::npos);
  }
}

}  // namespace holdfast::testing
