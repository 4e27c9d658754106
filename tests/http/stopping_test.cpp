// Starting and stopping: nothing half done, nobody left waiting.
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";

/// No block ever comes, so that who waits for one waits.
SceneOptions frozen() {
  SceneOptions options;
  options.block_ms = 0;
  return options;
}

/// Is in the middle of answering `text` when this returns: it has answered what came before in the
/// same bytes.
Client busy_with(Scene& scene, const std::string& text) {
  Client client(scene.port());
  client.send(request_text("GET", "/healthz", {}, {}, {}) + text);
  CHECK(client.read().status == 200);
  // The server may have written it and not gone on yet: each call is a turn of its loop.
  for (int turns = 0; turns < 3; ++turns) scene.connections();
  return client;
}

std::string wait_text(const HttpAnswer& created, const std::string& token) {
  return request_text("GET",
                      std::string(intents) + "/" + created.at("id") + "?wait=settled&timeout_s=60",
                      token, {}, {});
}

}  // namespace

TEST_CASE("stopping: idle connections close, a long poll is answered, nothing new is accepted") {
  Scene scene(frozen());
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer created = scene.post(intents, token, "one", payout_body());
  const std::uint16_t port = scene.port();
  Client idle(port);
  idle.send(request_text("GET", "/healthz", {}, {}, {}));
  CHECK(idle.read().status == 200);
  Client waiting = busy_with(scene, wait_text(created, token));
  CHECK(scene.stop(60'000) == 0);
  CHECK(idle.is_closed());
  const HttpAnswer answer = waiting.read();
  CHECK(answer.status == 200);
  CHECK(answer.at("id") == created.at("id"));
  CHECK(answer.header("Connection") == "close");
  CHECK(waiting.is_closed());
  CHECK(scene.connections() == 0);
  CHECK_THROWS_AS(Client{port}, std::runtime_error);
  CHECK(scene.stop(1) == 0);
}

TEST_CASE("stopping: an answer that takes longer than the deadline is cut short, and repeated") {
  SceneOptions options;
  options.chain_latency_ms = 6'000;
  Scene scene(options);
  const std::string token = scene.add_key("shop", {"pay"});
  const HttpAnswer created = scene.post(intents, token, "one", transfer_body());
  const std::string path = std::string(intents) + "/" + created.at("id") + "/authorize";
  Client client = busy_with(
      scene, request_text("POST", path, token, "s",
                          R"({"signature":")" + scene.signature(created.at("id")) + "\"}"));
  CHECK(scene.stop(500) == 1);
  CHECK(client.read().status == 0);
  CHECK(scene.connections() == 0);
}

TEST_CASE("stopping: a server that is dropped in the middle of everything leaves no frame") {
  Scene scene(frozen());
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer created = scene.post(intents, token, "one", payout_body());
  Client idle(scene.port());
  Client waiting = busy_with(scene, wait_text(created, token));
  Client sending(scene.port());
  sending.send("POST /v1/payment_intents HTTP/1.1\r\nHost: h\r\n");
  while (scene.connections() < 3) continue;
  scene.drop_server();
  CHECK(idle.is_closed());
  CHECK(sending.is_closed());
  CHECK(waiting.read().status == 0);
}

TEST_CASE("starting: an address that is taken or is none is said in a sentence") {
  Scene scene;
  http::Options taken;
  taken.port = scene.port();
  CHECK(scene.second_server(taken).find("cannot listen on 127.0.0.1 port " +
                                        std::to_string(scene.port())) == 0);
  http::Options none;
  none.address = "localhost:80";
  CHECK(scene.second_server(none) == "'localhost:80' is no IPv4 or IPv6 address to listen on");
  http::Options six;
  six.address = "::1";
  six.port = 0;
  const std::string sentence = scene.second_server(six);
  // A machine without IPv6 says so; both are an answer.
  CHECK((sentence.empty() || sentence.find("cannot listen on ::1") == 0));
}

TEST_CASE("starting: without a usable chain the process lives and is not ready") {
  SceneOptions options;
  options.with_chain = false;
  Scene scene(options);
  CHECK(scene.get("/healthz").body == R"({"status":"ok"})");
  const HttpAnswer ready = scene.get("/readyz");
  CHECK(ready.status == 503);
  CHECK(ready.at("error") == "not_ready");
  CHECK(ready.at("reasons") == R"(["no chain is configured"])");
  Scene whole;
  HttpAnswer soon;
  do {
    soon = whole.get("/readyz");
  } while (soon.status != 200);
  CHECK(soon.body == R"({"status":"ready"})");
}

TEST_CASE(
    "metrics: requests are counted by route, method and status, never by what a client chose") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  const HttpAnswer created = scene.post(intents, token, "one", payout_body());
  for (int i = 0; i < 3; ++i) scene.get(std::string(intents) + "/" + created.at("id"), token);
  for (int i = 0; i < 5; ++i) scene.get("/nowhere-" + std::to_string(i));
  Client odd(scene.port());
  odd.send(request_text("BREW", "/coffee", {}, {}, {}));
  odd.read();
  const HttpAnswer page = scene.get("/metrics");
  CHECK(page.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
  const auto has = [&](const std::string& line) {
    CAPTURE(line);
    CHECK(page.body.find(line) != std::string::npos);
  };
  const auto counted = [&](std::string_view method, std::string_view route, int status, int count) {
    std::string line = "holdfast_http_request_seconds_count{method=\"";
    line.append(method).append("\",route=\"").append(route).append("\",status=\"");
    has(line + std::to_string(status) + "\"} " + std::to_string(count) + "\n");
  };
  counted("GET", "/v1/payment_intents/{id}", 200, 3);
  counted("POST", "/v1/payment_intents", 201, 1);
  counted("GET", "none", 404, 5);
  counted("other", "none", 404, 1);
  has("holdfast_jobs_leased_total");
  has("holdfast_chain_usable{chain=\"sim:1\"} 1");
  has("holdfast_chain_latest_block_age_seconds{chain=\"sim:1\"} ");
  for (const std::string& chosen : {created.at("id"), std::string("nowhere-"), std::string("BREW"),
                                    std::string("shop"), token}) {
    CHECK(page.body.find(chosen) == std::string::npos);
  }
}

}  // namespace holdfast::testing
