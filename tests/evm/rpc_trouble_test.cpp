// The client and a server, or a network, that does not behave: what is not_sent and what is
// unknown.
#include <string>
#include <vector>

#include <sys/socket.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "rpc_scene.hpp"

namespace holdfast::evm {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
using tests::http_ok;
using tests::http_reply;
using tests::RpcScene;
using tests::RpcServer;

RpcServer::Script says(RpcServer::Reply reply) {
  return [reply](const RpcServer::Request&) { return reply; };
}
RpcServer::Script silent() { return says({.bytes = ""}); }

/// A port of loopback that nobody listens on.
std::uint16_t dead_port(asio::io_context& context) {
  const tcp::acceptor taken(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  return taken.local_endpoint().port();
}

std::string url_of(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

/// A listener whose queue is full: a connection to it neither comes about nor fails.
struct FullListener {
  explicit FullListener(asio::io_context& context) : acceptor(context) {
    acceptor.open(tcp::v4());
    acceptor.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    ::listen(acceptor.native_handle(), 0);
    for (int at = 0; at < 4; ++at) {
      auto& filler = fillers.emplace_back(context);
      filler.async_connect(acceptor.local_endpoint(), [](boost::system::error_code) {});
    }
  }
  tcp::acceptor acceptor;
  std::vector<tcp::socket> fillers;
};

}  // namespace

TEST_CASE("rpc trouble: nobody listens, so the call was not sent") {
  RpcScene scene;
  scene.open({.url = url_of(dead_port(scene.context))});
  const auto all = scene.ask_many(3);
  scene.finish(all);
  for (const auto& asked : all) {
    CHECK(asked->not_sent());
    CHECK(asked->text() ==
          "not sent: " + scene.rpc->name() + ": no connection: Connection refused");
  }
  CHECK(scene.rpc->counters().errors == 3);
  CHECK(scene.rpc->counters().bytes_sent == 0);
}

TEST_CASE("rpc trouble: the deadline ends a connection that does not come about; not sent") {
  RpcScene scene;
  const FullListener full(scene.context);
  scene.turn();
  scene.open({.url = url_of(full.acceptor.local_endpoint().port())});
  const auto asked = scene.ask("m");
  scene.run_until([&] { return scene.clock.sleepers() == 1; });
  scene.turn();
  scene.clock.advance(4999);
  scene.turn();
  CHECK_FALSE(asked->ended);
  scene.clock.advance(1);
  scene.finish(asked);
  CHECK(asked->not_sent());
  CHECK(asked->text().find("no answer within 5000 ms, connecting") != std::string::npos);
}

TEST_CASE("rpc trouble: the deadline ends a TLS handshake that does not end; not sent") {
  RpcScene scene(silent());  // plain: it waits for the end of a header that never comes
  scene.open({.url = "https://127.0.0.1:" + std::to_string(scene.server->port())});
  const auto asked = scene.ask("m");
  scene.run_until([&] { return scene.server->connections() == 1; });
  scene.turn();
  scene.clock.advance(5000);
  scene.finish(asked);
  CHECK(asked->not_sent());
  CHECK(scene.server->seen().empty());
}

TEST_CASE("rpc trouble: the deadline ends a wait for an answer; unknown, and the connection goes") {
  RpcScene scene(silent());
  scene.open({.deadline_ms = 700});
  const auto all = scene.ask_many(3);
  scene.run_until([&] { return scene.server->seen().size() == 1; });
  scene.clock.advance(700);
  scene.finish(all);
  for (const auto& asked : all) {
    CHECK(asked->unknown());
    CHECK_FALSE(asked->rate_limited());
    CHECK(asked->text().find("no answer within 700 ms, waiting for the answer") !=
          std::string::npos);
  }
  scene.run_until([&] { return scene.server->open_connections() == 0; });
  scene.server->script(tests::echo);
  const auto after = scene.ask("m");
  scene.finish(after);
  CHECK(after->ok());
}

TEST_CASE("rpc trouble: the deadline ends an answer that stops half way") {
  RpcScene scene(says({.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":1,"}));
  scene.open();
  const auto asked = scene.ask("m");
  scene.run_until([&] { return scene.server->seen().size() == 1; });
  scene.turn();
  scene.clock.advance(5000);
  scene.finish(asked);
  CHECK(asked->unknown());
  CHECK(scene.rpc->counters().repeats == 0);
}

TEST_CASE("rpc trouble: the deadline ends a request that cannot be written; unknown") {
  RpcScene scene;
  tcp::acceptor deaf(scene.context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  deaf.set_option(asio::socket_base::receive_buffer_size(4096));
  scene.open({.url = url_of(deaf.local_endpoint().port()), .max_call_bytes = 64UL * 1024 * 1024});
  const auto asked = scene.ask("m", {std::string(32UL * 1024 * 1024, 'x')});
  tcp::socket peer(scene.context);
  bool accepted = false;
  deaf.async_accept(peer, [&](boost::system::error_code) { accepted = true; });
  scene.run_until([&] { return accepted && peer.available() > 0; });
  scene.clock.advance(5000);
  scene.finish(asked);
  CHECK(asked->unknown());
  CHECK(asked->text().find("writing the request") != std::string::npos);
}

TEST_CASE("rpc trouble: a reset after the request is unknown") {
  RpcScene scene(says({.bytes = "", .reset = true}));
  scene.open();
  const auto asked = scene.ask("eth_sendRawTransaction", {"0x02"});
  scene.finish(asked);
  CHECK(asked->unknown());
}

TEST_CASE("rpc trouble: what is no answer to a JSON-RPC call is unknown, in words of ours") {
  const std::string html = "<html><h1>Secret words of a proxy</h1></html>";
  struct Case {
    RpcServer::Reply reply;
    const char* words;
  };
  const Case cases[] = {
      {http_reply(500, R"({"id":1,"result":"0x1"})"), "HTTP 500"},
      {http_reply(502, html), "HTTP 502"},
      {http_reply(503, html), "HTTP 503"},
      {http_reply(301, "", "Location: http://127.0.0.1:1/\r\n"), "HTTP 301"},
      {http_reply(401, html), "HTTP 401, the answer is not JSON"},
      {http_reply(404, html), "HTTP 404, the answer is not JSON"},
      {http_ok(html), "HTTP 200, the answer is not JSON"},
      {http_ok(""), "the answer is not JSON"},
      {http_ok(R"({"id":1,"result":"0x1")"), "the answer is not JSON"},
      {http_ok(R"({"id":1,"result":"0x1"}})"), "the answer is not JSON"},
      {http_ok("[]"), "the answer is not an object"},
      {http_ok("7"), "the answer is not an object"},
      {http_ok(std::string(40, '[') + std::string(40, ']')), "nested deeper than 32"},
      {http_ok(R"({"id":2,"result":"0x1"})"), "the answer is another call's"},
      {http_ok(R"({"id":"1","result":"0x1"})"), "the answer is another call's"},
      {http_ok(R"({"id":null,"error":{"code":-32000,"message":"nonce too low"}})"),
       "an error without the call's id"},
      {http_ok(R"({"id":1})"), "neither a result nor an error"},
      {http_ok(R"({"id":1,"result":"0x1","error":{"code":1,"message":"x"}})"), "both a result"},
      {{.bytes = "SSH-2.0-OpenSSH_9.2\r\n", .close = true}, "the answer is not HTTP"},
      {{.bytes = "HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x'), .close = true},
       "header is larger than 16 KiB"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.words);
    RpcScene scene(says(one.reply));
    scene.open();
    const auto asked = scene.ask("m");
    scene.finish(asked);
    REQUIRE(asked->unknown());
    CHECK_FALSE(asked->rate_limited());
    CHECK(asked->text().find(one.words) != std::string::npos);
    CHECK(asked->text().find("Secret words") == std::string::npos);
    CHECK(asked->text().size() < 300);
  }
}

TEST_CASE("rpc trouble: an answer over the limit is unknown, whether it says its length or not") {
  const std::string large = R"({"id":1,"result":")" + std::string(5000, 'x') + "\"}";
  for (const bool says_length : {true, false}) {
    CAPTURE(says_length);
    RpcServer::Reply reply = http_ok(large);
    if (!says_length) reply = {.bytes = "HTTP/1.1 200 OK\r\n\r\n" + large, .close = true};
    RpcScene scene(says(reply));
    scene.open({.max_answer_bytes = 4000});
    const auto asked = scene.ask("m");
    scene.finish(asked);
    CHECK(asked->unknown());
    CHECK(asked->text().find("the answer is larger than 4000 bytes") != std::string::npos);
  }
}

TEST_CASE("rpc trouble: a JSON-RPC error under a status of 4xx is read as one") {
  RpcScene scene(
      says(http_reply(400, R"({"id":1,"error":{"code":-32601,"message":"Method not found"}})")));
  scene.open();
  const auto asked = scene.ask("m");
  scene.finish(asked);
  REQUIRE(asked->refused());
  CHECK(asked->outcome->refused()->kind == ports::RefusalKind::no_such_method);
}

TEST_CASE("rpc trouble: Retry-After holds the next exchange back, and no longer than it says") {
  for (const auto& [status, field] : std::vector<std::pair<int, std::string>>{
           {429, "Retry-After: 2\r\n"}, {402, "Retry-After: 2\r\n"}, {503, "Retry-After: 2\r\n"}}) {
    CAPTURE(status);
    RpcScene scene(says(http_reply(status, "slow down", field)));
    scene.open();
    const auto first = scene.ask_many(2);
    scene.finish(first);
    for (const auto& asked : first) CHECK(asked->rate_limited());
    CHECK(scene.rpc->counters().rate_limited == 1);

    scene.server->script(tests::echo);
    const auto next = scene.ask("m");
    scene.run_until([&] { return scene.clock.sleepers() == 1; });
    scene.clock.advance(1999);
    scene.turn();
    CHECK_FALSE(next->ended);
    CHECK(scene.server->seen().size() == 1);
    scene.clock.advance(1);
    scene.finish(next);
    CHECK(next->ok());
  }
}

TEST_CASE("rpc trouble: rate limits in the body, and a 429 that names no time, slow us down too") {
  const std::vector<RpcServer::Reply> replies = {
      http_reply(429, "<html>"),
      http_reply(429, R"({"id":1,"error":{"code":429,"message":"compute units"}})"),
      http_ok(R"({"id":1,"error":{"code":-32005,"message":"limit exceeded"}})"),
      http_ok(R"({"id":1,"error":{"code":-32007,"message":"50/second"}})"),
      http_ok(R"({"id":1,"error":{"code":-32011,"message":"try later"}})"),
      http_ok(R"({"id":null,"error":{"code":-32005,"message":"limit exceeded"}})"),
  };
  for (const auto& reply : replies) {
    CAPTURE(reply.bytes);
    RpcScene scene(says(reply));
    scene.open();
    const auto first = scene.ask("m");
    scene.finish(first);
    CHECK(first->rate_limited());
    scene.server->script(tests::echo);
    const auto next = scene.ask("m");
    scene.run_until([&] { return scene.clock.sleepers() == 1; });
    scene.clock.advance(249);
    scene.turn();
    CHECK(scene.server->seen().size() == 1);
    scene.clock.advance(1);
    scene.finish(next);
    CHECK(next->ok());
  }
}

TEST_CASE("rpc trouble: limits in a row make the pauses longer, and never longer than 30 s") {
  RpcScene scene(says(http_reply(429, "")));
  scene.open({.deadline_ms = 600'000});
  std::int64_t longest = 0;
  for (int round = 0; round < 12; ++round) {
    const auto asked = scene.ask("m");
    std::int64_t waited = 0;
    const auto before = scene.server->seen().size();
    scene.turn();
    while (scene.server->seen().size() == before && scene.clock.sleepers() == 1 &&
           waited < 60'000) {
      scene.clock.advance(250);
      waited += 250;
      scene.turn();
    }
    scene.finish(asked);
    CHECK(asked->rate_limited());
    CHECK(waited >= longest);
    longest = waited;
  }
  CHECK(longest == 30'000);
}

TEST_CASE("rpc trouble: a burst that is limited is one limit, however many calls it had") {
  RpcScene scene(says(http_reply(429, "")));
  scene.open({.max_batch_calls = 1});
  scene.finish(scene.ask_many(4));
  CHECK(scene.rpc->counters().rate_limited == 4);
  CHECK(scene.rpc->held_back_ms() == 250);
}

TEST_CASE("rpc trouble: a call held back for longer than its deadline was not sent") {
  RpcScene scene(says(http_reply(429, "", "Retry-After: 3600\r\n")));
  scene.open();
  scene.finish(scene.ask("m"));
  scene.server->script(tests::echo);
  const auto early = scene.ask("m");
  scene.run_until([&] { return scene.clock.sleepers() == 1; });
  scene.clock.advance(5000);
  scene.finish(early);
  CHECK(early->not_sent());
  CHECK(early->text().find("held back, as asked for by http://127.0.0.1") != std::string::npos);
  CHECK(scene.server->seen().size() == 1);

  scene.clock.advance(24'999);
  const auto late = scene.ask("m");
  scene.run_until([&] { return scene.clock.sleepers() == 1; });
  scene.clock.advance(1);  // thirty seconds since it was asked for an hour
  scene.finish(late);
  CHECK(late->ok());
}

TEST_CASE("rpc trouble: a call that finds no free connection in time was not sent") {
  RpcScene scene(silent());
  scene.open({.max_connections = 1});
  const auto first = scene.ask("m");
  scene.run_until([&] { return scene.server->seen().size() == 1; });
  const auto second = scene.ask("m");
  scene.turn();
  scene.clock.advance(5000);
  scene.finish(first);
  scene.finish(second);
  CHECK(first->unknown());
  CHECK(second->not_sent());
  CHECK(second->text().find("no free connection to http://127.0.0.1") != std::string::npos);
}

TEST_CASE("rpc trouble: calls refused as a batch are never called unsent afterwards") {
  RpcScene scene([](const RpcServer::Request& request) {
    if (!request.body.is_array()) return RpcServer::Reply{.bytes = ""};
    return http_ok(R"({"id":null,"error":{"code":-32000,"message":"no batch here"}})");
  });
  scene.open({.max_connections = 1});
  const auto all = scene.ask_many(2);
  scene.run_until([&] { return scene.server->seen().size() == 2; });
  scene.clock.advance(5000);
  scene.finish(all);
  CHECK(all[0]->unknown());
  CHECK(all[1]->unknown());
}

TEST_CASE("rpc trouble: a crowd is turned away at the door") {
  RpcScene scene(silent());
  scene.open({.max_waiting_calls = 5});
  std::vector<tests::AskedPtr> all = scene.ask_many(7);
  scene.turn();
  int away = 0;
  for (const auto& asked : all) away += asked->not_sent() ? 1 : 0;
  CHECK(away == 2);
}

}  // namespace holdfast::evm
