// Bad input over a socket: each gets a clear sentence and the right status, and nothing is created.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";

/// A payout's body with one member replaced by other JSON; nothing: left out.
std::string body_with(const std::string& member, const std::string& json) {
  const std::vector<std::pair<std::string, std::string>> members = {{"chain", "\"sim:1\""},
                                                                    {"method", "\"payout\""},
                                                                    {"asset", "\"tkn\""},
                                                                    {"payee", "\"merchant\""},
                                                                    {"amount", "\"1\""}};
  std::string out;
  bool placed = false;
  for (const auto& [name, value] : members) {
    const std::string& now = name == member ? json : value;
    placed = placed || name == member;
    if (now.empty()) continue;
    out.append(out.empty() ? "\"" : ",\"").append(name).append("\":").append(now);
  }
  if (!placed) out.append(",\"").append(member).append("\":").append(json);
  return "{" + out + "}";
}

}  // namespace

TEST_CASE("bad input: a creation that is not right is refused with its field named") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay", "payout"});
  struct Row {
    std::string body;
    std::string code;
    std::string says;
  };
  const std::string long_text = "\"" + std::string(129, 'x') + "\"";
  const std::vector<Row> table = {
      {"{", "bad_json", "JSON"},
      {"[]", "bad_json", "object"},
      {"", "bad_json", "empty"},
      {R"({"chain":"sim:1","chain":"sim:1"})", "bad_json", "'chain'"},
      {"{\"chain\":\"\xff\"}", "bad_json", "UTF-8"},
      {body_with("chain", ""), "missing_field", "chain"},
      {body_with("method", ""), "missing_field", "method"},
      {body_with("asset", ""), "missing_field", "asset"},
      {body_with("payee", ""), "missing_field", "payee"},
      {body_with("amount", ""), "missing_field", "amount"},
      {body_with("chain", "1"), "bad_field", "chain"},
      {body_with("payee", "null"), "bad_field", "payee"},
      {body_with("payee", "[\"merchant\"]"), "bad_field", "payee"},
      {body_with("payee", "{}"), "bad_field", "payee"},
      {body_with("payee", long_text), "bad_field", "payee"},
      {body_with("asset", long_text), "bad_field", "asset"},
      {body_with("memo", "\"x\""), "unknown_field", "'memo'"},
      {body_with("Amount", "\"1\""), "unknown_field", "'Amount'"},
      {body_with("validity_s", "\"60\""), "bad_field", "validity_s"},
      {body_with("validity_s", "1"), "bad_validity", "validity_s"},
      {body_with("validity_s", "9999999"), "bad_validity", "validity_s"},
      {body_with("chain", "\"eip155:1\""), "unknown_chain", "chain"},
      {body_with("method", "\"bank_wire\""), "unknown_method", "method"},
      {body_with("asset", "\"no/asset\""), "bad_terms", "asset"},
      {body_with("payee", "\"no/address\""), "bad_terms", "payee"},
      {body_with("payee", "\"relayer0\""), "bad_terms", "payee"},
      {body_with("payer", "\"stranger\""), "bad_terms", "payer"},
      {body_with("payer", "\"\""), "bad_field", "payer"},
  };
  int number = 0;
  for (const Row& row : table) {
    CAPTURE(row.body.substr(0, 80));
    const HttpAnswer answer =
        scene.post(intents, token, "bad-" + std::to_string(++number), row.body);
    CHECK(answer.status == 400);
    CHECK(answer.at("error") == row.code);
    CHECK(answer.at("detail").find(row.says) != std::string::npos);
  }
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().empty());
  // A payer's own method needs the payer.
  const HttpAnswer no_payer =
      scene.post(intents, token, "no-payer", body_with("method", "\"transfer_authorization\""));
  CHECK(no_payer.status == 400);
  CHECK(no_payer.at("detail") == "payer: the field is missing");
}

TEST_CASE("bad input: only a plain decimal string is an amount, and it is echoed unchanged") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay"});
  const std::string most =
      "115792089237316195423570985008687907853269984665640564039457584007913129639935";
  const std::string too_many =
      "115792089237316195423570985008687907853269984665640564039457584007913129639936";
  int number = 0;
  for (const std::string& good :
       {std::string("1"), std::string("9007199254740993"), std::string("1000000"), most}) {
    const HttpAnswer answer =
        scene.post(intents, token, "good-" + std::to_string(++number), transfer_body(good));
    REQUIRE(answer.status == 201);
    CHECK(answer.at("amount") == good);
    CHECK(answer.json().at("typed_data").at("message").at("value").as_string() == good.c_str());
  }
  for (const std::string& bad :
       {"\"" + too_many + "\"", std::string("\"0\""), std::string("\"-1\""), std::string("\"1e6\""),
        std::string("\"0x10\""), std::string("\"01\""), std::string("\" 1\""),
        std::string("\"1.0\""), std::string("\"\""), std::string("9007199254740993"),
        std::string("1")}) {
    CAPTURE(bad);
    const HttpAnswer answer =
        scene.post(intents, token, "bad-" + std::to_string(++number), body_with("amount", bad));
    CHECK(answer.status == 400);
    CHECK(answer.at("detail").find("amount: ") == 0);
  }
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().size() == 4);
}

TEST_CASE("bad input: a signature that is none is 400, one that does not authorise is 422") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay"});
  const HttpAnswer created = scene.post(intents, token, "one", transfer_body());
  const HttpAnswer other = scene.post(intents, token, "two", transfer_body("2"));
  const std::string path = std::string(intents) + "/" + created.at("id") + "/authorize";
  struct Row {
    std::string body;
    unsigned status;
    const char* code;
  };
  const std::string foreign = scene.signature(other.at("id"));
  const std::vector<Row> table = {
      {"{}", 400, "missing_field"},
      {R"({"signature":""})", 400, "bad_field"},
      {R"({"signature":"0x"})", 400, "bad_field"},
      {R"({"signature":"0x1"})", 400, "bad_field"},
      {R"({"signature":"hello"})", 400, "bad_field"},
      {R"({"signature":1})", 400, "bad_field"},
      {R"({"signature":"0x)" + std::string(4'096, 'a') + "\"}", 400, "bad_field"},
      {R"({"signature":"0xabcd"})", 400, "bad_signature"},
      {R"({"signature":"0x)" + std::string(64, '0') + "\"}", 422, "wrong_signer"},
      {R"({"signature":")" + foreign + "\"}", 422, "wrong_signer"},
      {R"({"signature":")" + foreign + R"(","nonce":"0x00"})", 400, "unknown_field"},
  };
  int number = 0;
  for (const Row& row : table) {
    CAPTURE(row.body.substr(0, 60));
    const HttpAnswer answer = scene.post(path, token, "s" + std::to_string(++number), row.body);
    CHECK(answer.status == row.status);
    CHECK(answer.at("error") == row.code);
  }
  CHECK(scene.get(std::string(intents) + "/" + created.at("id"), token).at("version") == "1");
}

TEST_CASE("bad input: an authorisation offered twice is one payment") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay"});
  const HttpAnswer created = scene.post(intents, token, "one", transfer_body());
  const std::string id = created.at("id");
  const std::string path = std::string(intents) + "/" + id + "/authorize";
  const std::string body = R"({"signature":")" + scene.signature(id) + "\"}";
  CHECK(scene.post(path, token, "first", body).status == 200);
  const HttpAnswer again = scene.post(path, token, "second", body);
  CHECK(again.status == 200);
  CHECK(again.header("Idempotent-Replayed") == "true");
  CHECK(scene.get(std::string(intents) + "/" + id + "?wait=settled&timeout_s=60", token)
            .at("state") == "settled");
  CHECK(scene.moved(id) == 1);
}

TEST_CASE("bad input: headers that are missing, repeated or wrong") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay", "payout"});
  const std::string body = payout_body();
  const auto status = [&](std::string_view key, std::string_view more) {
    Client client(scene.port());
    client.send(request_text("POST", intents, token, key, body, more));
    return client.read().status;
  };
  CHECK(status("", "") == 400);
  CHECK(status("", "Idempotency-Key:\r\n") == 400);
  CHECK(status("", "Idempotency-Key:    \r\n") == 400);
  CHECK(status("k", "Idempotency-Key: k\r\n") == 400);
  CHECK(status("k", "idempotency-key: other\r\n") == 400);
  CHECK(status("k", "Authorization: Bearer x\r\n") == 400);
  CHECK(status("k", "Content-Length: " + std::to_string(body.size()) + "\r\n") == 400);
  CHECK(status("k", "Content-Length: 1\r\n") == 400);
  CHECK(status("k", "Transfer-Encoding: chunked\r\n") == 400);
  CHECK(status("k", "Content-Type: text/plain\r\n") == 400);
  CHECK(status("k", "Host: other\r\n") == 400);
  CHECK(status("k", "Content-Encoding: gzip\r\n") == 415);
  CHECK(status("k", "Expect: something\r\n") == 417);
  CHECK(status(std::string(256, 'k'), "") == 400);
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().empty());
  CHECK(status("k", "X-Any: 1\r\nX-Any: 2\r\n") == 201);

  Client typeless(scene.port());
  typeless.send("POST /v1/payment_intents HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token +
                "\r\nIdempotency-Key: t\r\nContent-Length: 2\r\n\r\n{}");
  CHECK(typeless.read().status == 415);
}

TEST_CASE("bad input: payments that are not there, and ids that are none") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay", "payout"});
  for (const std::string& id :
       {std::string("pi_") + std::string(32, '0'), std::string("pi_xyz"), std::string("1"),
        std::string("pi_") + std::string(31, '0'), std::string("PI_") + std::string(32, '0')}) {
    const std::string path = std::string(intents) + "/" + id;
    CHECK(scene.get(path, token).status == 404);
    CHECK(scene.post(path + "/cancel", token, "k" + id, "{}").status == 404);
    CHECK(scene.post(path + "/authorize", token, "k" + id, R"({"signature":"0xab"})").status ==
          404);
  }
  CHECK(scene.get("/v1/payment_refs/0x00", token).status == 404);
  CHECK(scene.get("/v1/payment_refs/0x" + std::string(64, '0'), token).status == 404);
}

TEST_CASE("bad input: an engine that drains takes nothing new and says so") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  REQUIRE(scene.post(intents, token, "one", payout_body()).status == 201);
  scene.drain_engine();
  const HttpAnswer refused = scene.post(intents, token, "two", payout_body());
  CHECK(refused.status == 503);
  CHECK(refused.at("error") == "draining");
  CHECK(refused.header("Retry-After") == "1");
  CHECK(scene.get("/healthz").status == 200);
  const HttpAnswer ready = scene.get("/readyz");
  CHECK(ready.status == 503);
  CHECK(ready.at("detail").find("draining") != std::string::npos);
}

}  // namespace holdfast::testing
