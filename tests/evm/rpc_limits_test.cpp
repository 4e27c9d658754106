// Twenty seconds of an endpoint that counts, over sockets: nothing ends, and it is left alone.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "rpc_scene.hpp"

using namespace holdfast;
using namespace holdfast::tests;

TEST_CASE("T2: rate limits of every form for twenty seconds end no call, and are not hammered") {
  const std::vector<RpcServer::Reply> replies = {
      http_reply(429, "", "Retry-After: 2\r\n"),
      http_reply(429, R"({"id":1,"error":{"code":429,"message":"compute units"}})",
                 "Retry-After: 2\r\n"),
      http_reply(429, "<html>"),
      http_ok(R"({"id":null,"error":{"code":-32005,"message":"limit exceeded"}})"),
      http_ok(R"({"id":null,"error":{"code":-32007,"message":"50/second"}})"),
      http_ok(R"({"id":null,"error":{"code":-32011,"message":"try later"}})"),
      http_reply(429, "", "Retry-After: Tue, 14 Nov 2023 22:14:20 GMT\r\n"),
      http_reply(429, "", "Retry-After: 0\r\n"),
  };
  std::size_t turn = 0;
  RpcScene scene([&](const RpcServer::Request&) { return replies[turn++ % replies.size()]; });
  scene.open();
  std::vector<AskedPtr> all;
  for (int step = 0; step < 100; ++step) {
    all.push_back(scene.ask("eth_sendRawTransaction", {"0x01"}));
    scene.run_until([&] { return all.back()->ended || scene.rpc->held_back_ms() > 0; });
    scene.clock.advance(200);
    scene.turn();
  }
  // A hundred calls in twenty seconds, and the pauses grow.
  CHECK(scene.server->seen().size() <= 8);
  CHECK(scene.server->seen().size() >= 4);
  for (const AskedPtr& asked : all) {
    if (!asked->ended) continue;
    const bool waits = asked->rate_limited() || asked->not_sent();
    CAPTURE(asked->text());
    CHECK(waits);
  }

  // Then the endpoint is itself again, and the next call gets through.
  scene.server->script(echo);
  scene.clock.advance(30'000);
  const AskedPtr last = scene.ask("eth_sendRawTransaction", {"0x01"});
  scene.finish(last);
  CHECK(last->ok());
}
