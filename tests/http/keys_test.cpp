// Keys over a socket: who may, who may not, and that a token is shown once and nowhere else.
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <holdfast/base/log.hpp>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";

}  // namespace

TEST_CASE("keys: without a key, or with one that is none, the answer is 401 and how to ask") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"pay"});
  for (const std::string& wrong : {std::string(), std::string("hf_"), token + "x",
                                   token.substr(0, token.size() - 1), std::string(500, 'x')}) {
    const HttpAnswer answer = scene.get(intents, wrong);
    CHECK(answer.status == 401);
    CHECK(answer.at("error") == "unauthorized");
    CHECK(answer.header("WWW-Authenticate") == "Bearer realm=\"holdfast\"");
    if (!wrong.empty()) CHECK(answer.at("detail").ends_with("unknown or revoked token"));
  }
  Client client(scene.port());
  client.send("GET /v1/payment_intents HTTP/1.1\r\nHost: h\r\nAuthorization: Basic " + token +
              "\r\n\r\n");
  CHECK(client.read().status == 401);
  CHECK(scene.get(intents, token).status == 200);
  for (const char* open : {"/healthz", "/readyz", "/metrics"}) CHECK(scene.get(open).status == 200);
}

TEST_CASE("keys: a scope that is missing is named, and nothing is done") {
  Scene scene;
  const std::string pay = scene.add_key("pay", {"pay"});
  const std::string payout = scene.add_key("payout", {"payout"});
  const std::string x402 = scene.add_key("x402", {"x402"});
  const std::string ops = scene.add_key("ops", {"ops"});
  const auto detail = [](const HttpAnswer& answer) {
    CHECK(answer.status == 403);
    CHECK(answer.at("error") == "forbidden");
    return answer.at("detail");
  };
  CHECK(detail(scene.post(intents, pay, "k", payout_body())) == "this key lacks the scope payout");
  CHECK(detail(scene.post(intents, payout, "k", transfer_body())) ==
        "this key lacks the scope pay");
  CHECK(detail(scene.post(intents, x402, "k", transfer_body())) ==
        "this key lacks the scope pay or payout");
  CHECK(detail(scene.post(intents, ops, "k", payout_body())) ==
        "this key lacks the scope pay or payout");
  CHECK(detail(scene.post("/v1/keys", pay, "k", R"({"name":"new","scopes":["ops"]})")) ==
        "this key lacks the scope ops");
  CHECK(detail(scene.remove("/v1/keys/ops", pay)) == "this key lacks the scope ops");
  CHECK(scene.get(intents, ops).json().at("payment_intents").as_array().empty());
  CHECK(scene.post(intents, pay, "k", transfer_body()).status == 201);
  CHECK(scene.post(intents, payout, "k", payout_body()).status == 201);
  // What was made with a key of scope x402 is read with it.
  CHECK(scene.get(intents, x402).status == 200);
}

TEST_CASE("keys: one is made, listed without its token, revoked, and never named again") {
  Scene scene;
  const std::string ops = scene.add_key("desk", {"ops"});
  const std::string body = R"({"name":"till","scopes":["pay","payout"]})";
  const HttpAnswer made = scene.post("/v1/keys", ops, "k", body);
  REQUIRE(made.status == 201);
  const std::string token = made.at("token");
  CHECK(token.size() == 46);
  CHECK(scene.get(intents, token).status == 200);  // at once

  const HttpAnswer list = scene.get("/v1/keys", ops);
  CHECK(list.body.find(R"("name":"till","scopes":["pay","payout"])") != std::string::npos);
  CHECK(list.body.find(token) == std::string::npos);
  CHECK(list.body.find("sha256") == std::string::npos);

  // The same request again: the same answer, for whoever lost the first one.
  const HttpAnswer again = scene.post("/v1/keys", ops, "k", body);
  CHECK(again.status == 201);
  CHECK(again.body == made.body);
  CHECK(again.header("Idempotent-Replayed") == "true");
  scene.restart();
  CHECK(scene.post("/v1/keys", ops, "k", body).body == made.body);
  const HttpAnswer other = scene.post("/v1/keys", ops, "k", R"({"name":"x","scopes":["pay"]})");
  CHECK(other.status == 422);
  CHECK(other.at("error") == "key_reused");
  // Another operator's key of the same text is another request.
  const std::string second = scene.add_key("second", {"ops"});
  const HttpAnswer taken = scene.post("/v1/keys", second, "k", body);
  CHECK(taken.status == 409);
  CHECK(taken.at("error") == "name_taken");
  CHECK(taken.body.find(token) == std::string::npos);

  CHECK(scene.remove("/v1/keys/till", ops).status == 200);
  CHECK(scene.get(intents, token).status == 401);  // at once
  CHECK(scene.remove("/v1/keys/till", ops).status == 404);
  CHECK(scene.remove("/v1/keys/nobody", ops).status == 404);
  CHECK(scene.post("/v1/keys", ops, "k2", body).status == 409);
  CHECK(scene.get("/v1/keys", ops).body.find("\"revoked_at\":\"2026-") != std::string::npos);

  for (const char* bad :
       {R"({"name":"Till","scopes":["pay"]})", R"({"name":"-x","scopes":["pay"]})",
        R"({"name":"x","scopes":[]})", R"({"name":"x","scopes":["root"]})",
        R"({"name":"x","scopes":["pay","pay"]})", R"({"name":"x"})", R"({"scopes":["pay"]})",
        R"({"name":"x","scopes":["pay"],"token":"hf_mine"})"}) {
    CAPTURE(bad);
    CHECK(scene.post("/v1/keys", ops, "bad", bad).status == 400);
  }
}

TEST_CASE("keys: one added or revoked by another process is found out within seconds") {
  Scene scene;
  scene.add_key("shop", {"pay"});
  const std::string token = "hf_" + std::string(43, 'z');
  CHECK(scene.get(intents, token).status == 401);
  scene.add_key_elsewhere("late", token, {"pay"});
  unsigned status = 401;
  for (int tries = 0; status == 401 && tries < 2'000; ++tries) {
    status = scene.get(intents, token).status;
  }
  CHECK(status == 200);
}

TEST_CASE("keys: no token stands in a log line or an error, whatever is asked with it") {
  std::mutex mutex;
  std::string lines;
  log::set_sink([&](log::Level, std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.append(line).append("\n");
  });
  log::set_level(log::Level::debug);
  std::vector<std::string> tokens;
  std::string answers;
  {
    Scene scene;
    tokens = {scene.add_key("shop", {"pay"}), scene.add_key("desk", {"ops"}),
              "hf_" + std::string(43, 'q')};
    for (const std::string& token : tokens) {
      for (const HttpAnswer& answer :
           {scene.get(intents, token), scene.get("/v1/keys", token), scene.get("/nowhere", token),
            scene.get("/v1/keys?token=" + token, token), scene.get("/metrics", token),
            scene.post(intents, token, token, "{\"" + token + "\":"),
            scene.post("/v1/keys", token, "k", R"({"name":"x","scopes":["nothing"]})"),
            scene.remove("/v1/keys/x", token)}) {
        for (const auto& [name, value] : answer.headers) answers += value;
        answers += answer.body;
      }
    }
  }
  log::set_sink([](log::Level, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  });
  log::set_level(log::Level::info);
  CHECK(lines.find("http_listens") != std::string::npos);
  for (const std::string& token : tokens) {
    CHECK(lines.find(token) == std::string::npos);
    // Only where it was asked for by a name of the client's own: a parameter we do not know.
    CHECK(answers.find(token) == std::string::npos);
  }
}

TEST_CASE("keys: without required keys anybody may, on a loopback address only") {
  SceneOptions options;
  options.http.require_keys = false;
  Scene scene(options);
  const HttpAnswer created = scene.post(intents, {}, "k", payout_body());
  CHECK(created.status == 201);
  CHECK(scene.get("/v1/keys").status == 200);
  CHECK(scene.get(intents, "hf_wrong").status == 401);
  http::Options open;
  open.require_keys = false;
  open.address = "0.0.0.0";
  open.port = 0;
  CHECK(scene.second_server(open).find("loopback") != std::string::npos);
}

}  // namespace holdfast::testing
