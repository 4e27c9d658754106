// Connections: slow, half-closed, oversize, garbage, too many, and their end.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";
const std::string health = request_text("GET", "/healthz", {}, {}, {});

SceneOptions quick() {
  SceneOptions options;
  options.http.read_timeout_ms = 300;
  options.http.idle_timeout_ms = 400;
  return options;
}

/// The answer to these bytes, whose connection then ends.
HttpAnswer last_answer(Scene& scene, std::string_view bytes) {
  Client client(scene.port());
  client.send(bytes);
  const HttpAnswer answer = client.read();
  CHECK(client.is_closed());
  CHECK_FALSE(client.reset_seen());
  if (answer.status != 0) CHECK(answer.header("Connection") == "close");
  return answer;
}

}  // namespace

TEST_CASE("connections: every answer has its type, an id, no-store, and no Server") {
  Scene scene;
  for (const char* path : {"/healthz", "/nowhere", "/v1/payment_intents"}) {
    const HttpAnswer answer = scene.get(path);
    CHECK(answer.header("Content-Type") == "application/json; charset=utf-8");
    CHECK(answer.header("Cache-Control") == "no-store");
    CHECK_FALSE(answer.header("X-Request-Id").empty());
    CHECK(answer.header("Server").empty());
    CHECK(answer.json().is_object());
  }
  const auto id = [&](std::string_view headers) {
    Client client(scene.port());
    client.send(request_text("GET", "/healthz", {}, {}, {}, headers));
    return client.read().header("X-Request-Id");
  };
  CHECK(id("X-Request-Id: mine-1.a_B\r\n") == "mine-1.a_B");
  CHECK(id("X-Request-Id: not mine\r\n") != "not mine");
  CHECK(id("X-Request-Id: " + std::string(65, 'x') + "\r\n").size() < 65);
  CHECK(id("X-Request-Id: a\r\nX-Request-Id: b\r\n").size() > 1);
  CHECK(id("") != id(""));
}

TEST_CASE("connections: one is kept for the next request, and pipelined ones come in order") {
  Scene scene;
  Client client(scene.port());
  for (int i = 0; i < 3; ++i) {
    client.send(health);
    CHECK(client.read().status == 200);
  }
  client.send(health + request_text("GET", "/nowhere", {}, {}, {}) + health);
  CHECK(client.read().status == 200);
  CHECK(client.read().status == 404);
  CHECK(client.read().status == 200);
  client.send(request_text("GET", "/healthz", {}, {}, {}, "Connection: close\r\n"));
  CHECK(client.read().header("Connection") == "close");
  CHECK(client.is_closed());
  CHECK(last_answer(scene, "GET /healthz HTTP/1.0\r\n\r\n").status == 200);
}

TEST_CASE("connections: HEAD, OPTIONS, unknown paths and wrong methods") {
  Scene scene;
  Client client(scene.port());
  const HttpAnswer whole = scene.get("/healthz");
  client.send(request_text("HEAD", "/healthz", {}, {}, {}));
  const HttpAnswer head = client.read(true);
  CHECK(head.status == 200);
  CHECK(head.header("Content-Length") == whole.header("Content-Length"));
  client.send(request_text("HEAD", "/nowhere", {}, {}, {}));
  CHECK(client.read(true).status == 404);
  client.send(request_text("OPTIONS", intents, {}, {}, {}));
  const HttpAnswer options = client.read();
  CHECK(options.status == 204);
  CHECK(options.header("Allow") == "POST, GET, HEAD, OPTIONS");
  client.send(request_text("OPTIONS", "*", {}, {}, {}));
  CHECK(client.read().status == 204);
  client.send(request_text("PUT", intents, {}, {}, {}));
  const HttpAnswer put = client.read();
  CHECK(put.status == 405);
  CHECK(put.header("Allow") == "POST, GET, HEAD, OPTIONS");
  CHECK(put.at("error") == "method_not_allowed");
  client.send(request_text("BREW", "/healthz", {}, {}, {}));
  CHECK(client.read().status == 405);
  client.send(request_text("GET", "/", {}, {}, {}));
  CHECK(client.read().status == 404);
}

TEST_CASE("connections: a slow client is told 408 and closed, a silent one closed") {
  Scene scene(quick());
  CHECK(last_answer(scene, "GET /heal").status == 408);
  CHECK(last_answer(scene, "GET /healthz HTTP/1.1\r\nHost: h\r\n").status == 408);
  const std::string token = scene.add_key("shop", {"payout"});
  const std::string whole = request_text("POST", intents, token, "k", payout_body());
  CHECK(last_answer(scene, whole.substr(0, whole.size() - 1)).status == 408);
  CHECK(last_answer(scene, "").status == 0);
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().empty());
  // Between requests it is only closed.
  Client idle(scene.port());
  idle.send(health);
  CHECK(idle.read().status == 200);
  CHECK(idle.is_closed());
}

TEST_CASE("connections: bytes that trickle in do not put off the time-out") {
  Scene scene(quick());
  Client client(scene.port());
  const std::string text = "GET /healthz HTTP/1.1\r\nX: " + std::string(1'000, 'a');
  std::size_t sent = 0;
  while (sent < text.size() && client.send(text.substr(sent, 1)) && !client.hears_within(10)) {
    ++sent;
  }
  CHECK(sent < 500);
  CHECK(client.read().status == 408);
}

TEST_CASE("connections: a client that ends its sending side still gets its answer") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  Client client(scene.port());
  client.send(request_text("POST", intents, token, "k", payout_body()));
  client.finish_sending();
  const HttpAnswer created = client.read();
  CHECK(created.status == 201);
  CHECK(client.is_closed());

  Client waiting(scene.port());
  waiting.send(request_text(
      "GET", std::string(intents) + "/" + created.at("id") + "?wait=settled&timeout_s=60", token,
      {}, {}));
  waiting.finish_sending();
  CHECK(waiting.read().at("state") == "settled");
  CHECK(waiting.is_closed());

  Client half(scene.port());
  half.send("POST /v1/payment_intents HTTP/1.1\r\nHost: h\r\nContent-Le");
  half.finish_sending();
  CHECK(half.read().status == 400);
  CHECK(half.is_closed());

  Client silent(scene.port());
  silent.finish_sending();
  CHECK(silent.is_closed());
}

TEST_CASE("connections: a client that goes away in the middle harms nobody") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  const std::string text = request_text("POST", intents, token, "k", payout_body());
  for (std::size_t cut = 1; cut < text.size(); cut += 37) {
    Client client(scene.port());
    client.send(text.substr(0, cut));
  }
  {
    Client(scene.port()).send(text);
  }
  // Whether it heard the answer or not, its key leads to one payment.
  HttpAnswer answer;
  do {
    answer = scene.post(intents, token, "k", payout_body());
  } while (answer.status == 409);
  CHECK(answer.status == 201);
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().size() == 1);
}

TEST_CASE("connections: a body over the limit is refused, readable, whatever its shape") {
  SceneOptions options;
  options.http.max_body_bytes = 100'000;
  Scene scene(options);
  const std::string token = scene.add_key("shop", {"payout"});
  const std::string huge(3'000'000, ' ');
  const HttpAnswer sized = last_answer(scene, request_text("POST", intents, token, "k", huge));
  CHECK(sized.status == 413);
  CHECK(sized.at("detail").find("100000 bytes") != std::string::npos);

  const std::string head =
      "POST /v1/payment_intents HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token +
      "\r\nIdempotency-Key: c\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  std::string chunks;
  for (int i = 0; i < 20; ++i) chunks += "4000\r\n" + std::string(0x4000, ' ') + "\r\n";
  CHECK(last_answer(scene, head + chunks + "0\r\n\r\n").status == 413);
  CHECK(last_answer(scene, head + "FFFFFFFFFFFFFFFF\r\n").status == 413);
  CHECK(last_answer(scene, head + "zz\r\n").status == 400);
  // In chunks that fit, a body is a body.
  Client fits(scene.port());
  const std::string body = payout_body();
  std::string sized_chunk = "1\r\n" + body.substr(0, 1) + "\r\n";
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", body.size() - 1);
  fits.send(head + sized_chunk + size + body.substr(1) + "\r\n0\r\n\r\n");
  CHECK(fits.read().status == 201);

  // In whatever pieces they come, also the last one of a body that is empty.
  for (const std::string& chunked :
       {"1\r\n" + body.substr(0, 1) + "\r\n" + size + body.substr(1) + "\r\n0\r\n\r\n",
        std::string("0\r\n\r\n"), std::string("0\r\nA: b\r\n\r\n")}) {
    CAPTURE(chunked);
    Client pieces(scene.port());
    pieces.send(head);
    const std::size_t byte_by_byte = chunked.rfind("0\r\n");
    pieces.send(chunked.substr(0, byte_by_byte));
    for (const char c : chunked.substr(byte_by_byte)) {
      pieces.hears_within(2);
      pieces.send(std::string(1, c));
    }
    CHECK(pieces.read().status == (chunked.starts_with('0') ? 400 : 201));
  }

  const std::string padded = std::string(99'000, ' ') + body;
  CHECK(scene.post(intents, token, "padded", padded).status == 201);
}

TEST_CASE("connections: who may not send a body is refused before it is read") {
  Scene scene;
  const std::string token = scene.add_key("desk", {"ops"});
  const auto refused = [&](const std::string& path, const std::string& with) {
    Client client(scene.port());
    // The body never comes: the answer does not wait for it.
    client.send("POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n" +
                (with.empty() ? "" : "Authorization: Bearer " + with + "\r\n") +
                "Idempotency-Key: k\r\nContent-Length: 900000\r\n\r\n");
    return client.read().status;
  };
  CHECK(refused(intents, "") == 401);
  CHECK(refused(intents, token) == 403);
  CHECK(refused("/nowhere", token) == 404);
  // A small body is read and forgotten, and the connection goes on.
  Client client(scene.port());
  client.send(request_text("POST", intents, {}, "k", payout_body()));
  CHECK(client.read().status == 401);
  client.send(health);
  CHECK(client.read().status == 200);
  Client get(scene.port());
  get.send(request_text("GET", "/healthz", {}, {}, "{}"));
  CHECK(get.read().status == 400);
}

TEST_CASE("connections: a client that asks before it sends its body is told to go on") {
  Scene scene;
  const std::string token = scene.add_key("shop", {"payout"});
  Client client(scene.port());
  const std::string text =
      request_text("POST", intents, token, "k", payout_body(), "Expect: 100-continue\r\n");
  const std::size_t head = text.find("\r\n\r\n") + 4;
  client.send(text.substr(0, head));
  CHECK(client.read(true).status == 100);
  client.send(text.substr(head));
  CHECK(client.read().status == 201);
  // Refused: then without its body.
  Client refused(scene.port());
  refused.send(
      request_text("POST", intents, "hf_wrong", "k", payout_body(), "Expect: 100-continue\r\n")
          .substr(0, head));
  CHECK(refused.read().status == 401);
  CHECK(refused.is_closed());
}

TEST_CASE("connections: headers over 16 KiB are refused") {
  Scene scene;
  const auto status = [&](std::size_t size) {
    Client client(scene.port());
    client.send(
        request_text("GET", "/healthz", {}, {}, {}, "X-Long: " + std::string(size, 'a') + "\r\n"));
    return client.read().status;
  };
  CHECK(status(15'000) == 200);
  CHECK(status(17'000) == 431);
  CHECK(status(1'000'000) == 431);
  CHECK(last_answer(scene, "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n").status == 431);
  std::string many;
  for (int i = 0; i < 3'000; ++i) many += "A: b\r\n";
  CHECK(last_answer(scene, request_text("GET", "/healthz", {}, {}, {}, many)).status == 431);
}

TEST_CASE("connections: what is no HTTP is told so and closed") {
  Scene scene;
  const std::string tls_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  const std::string zeros(100, '\0');
  std::string noise;
  for (int i = 0; i < 4'000; ++i) noise.push_back(static_cast<char>((i * 7919) >> 3));
  for (const std::string& bytes :
       {tls_hello, zeros, noise, std::string("\r\n\r\nhello\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("GET /healthz\r\n\r\n"),
        std::string("GET  /healthz HTTP/1.1\r\n\r\n"), std::string("GET /healthz HTTP/9.9\r\n\r\n"),
        std::string("GET /healthz HTTP/1.1\r\nHost h\r\n\r\n"),
        std::string("GET /healthz HTTP/1.1\r\nHost: h\r\nA\x01: b\r\n\r\n"),
        std::string("GET /a\x01 HTTP/1.1\r\nHost: h\r\n\r\n"),
        std::string("POST /v1/keys HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST /v1/keys HTTP/1.1\r\nHost: h\r\nContent-Length: 1e3\r\n\r\n"),
        std::string("POST /v1/keys HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n"
                    "Content-Length: 4\r\n\r\n"),
        std::string("POST /v1/keys HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n"),
        std::string("POST /v1/keys HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                    "Content-Length: 3\r\n\r\n")}) {
    CAPTURE(bytes);
    CHECK(last_answer(scene, bytes).status == 400);
  }
  Client hostless(scene.port());
  hostless.send("GET /healthz HTTP/1.1\r\n\r\n");
  CHECK(hostless.read().at("detail").find("Host") != std::string::npos);
  CHECK(scene.get("/healthz").status == 200);
}

TEST_CASE("connections: those over the cap are told 503 and closed, the others go on") {
  SceneOptions options;
  options.http.max_connections = 8;
  Scene scene(options);
  std::vector<Client> inside;
  for (int i = 0; i < 8; ++i) {
    inside.emplace_back(scene.port());
    inside.back().send(health);
    REQUIRE(inside.back().read().status == 200);
  }
  std::vector<Client> outside;
  outside.reserve(100);
  for (int i = 0; i < 100; ++i) outside.emplace_back(scene.port());
  for (Client& client : outside) {
    const HttpAnswer answer = client.read();
    CHECK(answer.status == 503);
    CHECK(answer.at("error") == "too_many_connections");
    CHECK(client.is_closed());
  }
  for (Client& client : inside) {
    client.send(health);
    CHECK(client.read().status == 200);
  }
  inside.pop_back();
  HttpAnswer answer;
  do {
    Client next(scene.port());
    next.send(health);
    answer = next.read();
  } while (answer.status != 200);
  CHECK(scene.get("/metrics").body.find("holdfast_http_connections_refused_total") !=
        std::string::npos);
}

}  // namespace holdfast::testing
