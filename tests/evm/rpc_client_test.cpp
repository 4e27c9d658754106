// The client and a server that answers: batches, matching, the pool, and nodes that take no
// batches.
#include <algorithm>
#include <string>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "rpc_scene.hpp"

namespace holdfast::evm {
namespace {

namespace json = boost::json;
using tests::Asked;
using tests::AskedPtr;
using tests::http_ok;
using tests::http_reply;
using tests::RpcScene;
using tests::RpcServer;

/// A node that answers an array as `refusal` says, and single calls as it should.
RpcServer::Script refuses_batches(std::string refusal) {
  return [refusal](const RpcServer::Request& request) {
    return request.body.is_array() ? http_ok(refusal) : tests::echo(request);
  };
}

bool all_ok(const std::vector<AskedPtr>& all) {
  return std::ranges::all_of(all, [](const AskedPtr& asked) { return asked->ok(); });
}

}  // namespace

TEST_CASE("rpc: a single call goes out un-batched and its result comes back") {
  RpcScene scene;
  scene.open();
  const auto asked = scene.ask("eth_chainId", {"a", 7});
  scene.finish(asked);
  CHECK(asked->result() == R"(["eth_chainId",["a",7]])");
  REQUIRE(scene.server->seen().size() == 1);
  const auto& request = scene.server->seen()[0];
  CHECK(request.body.is_object());
  CHECK(json::serialize(request.body.at("jsonrpc")) == "\"2.0\"");
  CHECK(request.head.starts_with("POST / HTTP/1.1\r\n"));
  CHECK(request.head.find("Content-Type: application/json\r\n") != std::string::npos);
  CHECK(request.head.find("Accept-Encoding") == std::string::npos);
}

TEST_CASE("rpc: what is asked in one turn of the loop goes out as one batch") {
  RpcScene scene;
  scene.open();
  const auto all = scene.ask_many(20);
  scene.finish(all);
  CHECK(all_ok(all));
  REQUIRE(scene.server->seen().size() == 1);
  CHECK(scene.server->seen()[0].body.get_array().size() == 20);
  for (int at = 0; at < 20; ++at) {
    const std::string number = std::to_string(at);
    CHECK(all[static_cast<std::size_t>(at)]->result() == "[\"m" + number + "\",[" + number + "]]");
  }
  CHECK(scene.rpc->counters().calls == 20);
  CHECK(scene.rpc->counters().requests == 1);
  CHECK(scene.rpc->counters().errors == 0);
  CHECK(scene.rpc->counters().bytes_sent > 0);
  CHECK(scene.rpc->counters().bytes_received > 0);
}

TEST_CASE("rpc: answers are matched by id, whatever their order") {
  RpcScene scene([](const RpcServer::Request& request) {
    json::array all;
    for (const auto& call : request.body.get_array()) {
      all.insert(all.begin(), tests::result_of(call, call.at("method")));
    }
    return http_ok(json::serialize(all));
  });
  scene.open();
  const auto all = scene.ask_many(10);
  scene.finish(all);
  for (std::size_t at = 0; at < all.size(); ++at) {
    CHECK(all[at]->result() == "\"m" + std::to_string(at) + "\"");
  }
}

TEST_CASE("rpc: a null result is a result") {
  RpcScene scene([](const RpcServer::Request& request) {
    return http_ok(json::serialize(tests::result_of(request.body, nullptr)));
  });
  scene.open();
  const auto asked = scene.ask("eth_getTransactionReceipt");
  scene.finish(asked);
  CHECK(asked->ok());
  CHECK(asked->result() == "null");
}

TEST_CASE("rpc: in one batch each call has its own ending") {
  RpcScene scene([](const RpcServer::Request& request) {
    const auto& calls = request.body.get_array();
    json::array all;
    all.push_back(tests::result_of(calls[0], "0x1"));
    all.push_back(json::object{{"id", calls[1].at("id")},
                               {"error", {{"code", -32000}, {"message", "nonce too low"}}}});
    all.push_back(json::object{{"id", calls[2].at("id")},
                               {"error", {{"code", -32000}, {"message", "no such words"}}}});
    return http_ok(json::serialize(all));
  });
  scene.open();
  const auto all = scene.ask_many(4);
  scene.finish(all);
  CHECK(all[0]->ok());
  REQUIRE(all[1]->refused());
  CHECK(all[1]->outcome->refused()->kind == ports::RefusalKind::nonce_too_low);
  CHECK(all[2]->unknown());
  CHECK(all[3]->unknown());
  CHECK(scene.rpc->counters().errors == 2);
}

TEST_CASE("rpc: more calls than a batch holds go out in several, side by side") {
  RpcScene scene;
  scene.open({.max_batch_calls = 10});
  const auto all = scene.ask_many(35);
  scene.finish(all);
  CHECK(all_ok(all));
  REQUIRE(scene.server->seen().size() == 4);
  for (const auto& request : scene.server->seen()) {
    CHECK(request.body.get_array().size() <= 10);
  }
  CHECK(scene.server->connections() == 4);
}

TEST_CASE("rpc: a batch stops at its bytes, and one call too large for any batch goes alone") {
  RpcScene scene;
  scene.open({.max_batch_bytes = 1000, .max_call_bytes = 5000});
  std::vector<AskedPtr> all;
  for (const std::size_t size : {300U, 300U, 300U, 4000U, 300U}) {
    all.push_back(scene.ask("m", {std::string(size, 'x')}));
  }
  const auto too_large = scene.ask("m", {std::string(5000, 'x')});
  scene.finish(all);
  scene.finish(too_large);
  CHECK(all_ok(all));
  CHECK(too_large->not_sent());
  CHECK(too_large->text() == "not sent: the call is larger than 5000 bytes");
  for (const auto& request : scene.server->seen()) {
    CHECK((request.body.is_object() || json::serialize(request.body).size() <= 1000));
  }
}

TEST_CASE("rpc: no more connections than allowed, and all the calls get through") {
  int most = 0;
  RpcScene* here = nullptr;
  RpcScene scene([&](const RpcServer::Request& request) {
    most = std::max(most, here->server->open_connections());
    return tests::echo(request);
  });
  here = &scene;
  scene.open({.max_connections = 2, .max_batch_calls = 1});
  const auto all = scene.ask_many(20);
  scene.finish(all);
  CHECK(all_ok(all));
  CHECK(scene.server->connections() == 2);
  CHECK(most == 2);
}

TEST_CASE("rpc: a connection is kept and used again") {
  RpcScene scene;
  scene.open();
  for (int at = 0; at < 5; ++at) scene.finish(scene.ask("m"));
  CHECK(scene.server->connections() == 1);
  CHECK(scene.rpc->counters().connections == 1);
  CHECK(scene.rpc->counters().requests == 5);
}

TEST_CASE("rpc: a server that says close, or sends more than its answer, gets a new connection") {
  for (const bool surplus : {false, true}) {
    CAPTURE(surplus);
    RpcScene scene([surplus](const RpcServer::Request& request) {
      auto reply = tests::echo(request);
      const std::string field = "Connection: close\r\n";
      if (surplus) {
        reply.bytes += "HTTP/1.1 200 OK\r\n";
      } else {
        reply.bytes.insert(reply.bytes.find("\r\n") + 2, field);
      }
      return reply;
    });
    scene.open();
    for (int at = 0; at < 3; ++at) {
      const auto asked = scene.ask("m");
      scene.finish(asked);
      CHECK(asked->ok());
    }
    CHECK(scene.server->connections() == 3);
    CHECK(scene.rpc->counters().repeats == 0);
  }
}

TEST_CASE("rpc: an idle connection that the server closed is noticed before it is used") {
  RpcScene scene;
  scene.open();
  scene.finish(scene.ask("m"));
  scene.server->hang_up();
  scene.turn();
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->ok());
  CHECK(scene.server->connections() == 2);
  CHECK(scene.rpc->counters().repeats == 0);
}

TEST_CASE("rpc: an idle connection that dies as it is used costs one repeat, with the same bytes") {
  RpcScene scene;
  scene.open();
  scene.finish(scene.ask("first"));
  int dropped = 0;
  scene.server->script([&dropped](const RpcServer::Request& request) {
    if (dropped++ > 0) return tests::echo(request);
    return RpcServer::Reply{.bytes = "", .close = true};
  });
  const auto asked = scene.ask("eth_sendRawTransaction", {"0x02"});
  scene.finish(asked);
  CHECK(asked->ok());
  CHECK(scene.rpc->counters().repeats == 1);
  REQUIRE(scene.server->seen().size() == 3);
  CHECK((scene.server->seen()[1].body == scene.server->seen()[2].body));
  CHECK(scene.server->seen()[1].head == scene.server->seen()[2].head);
}

TEST_CASE("rpc: a new connection that dies without an answer is not tried again") {
  RpcScene scene(
      [](const RpcServer::Request&) { return RpcServer::Reply{.bytes = "", .close = true}; });
  scene.open();
  const auto asked = scene.ask("eth_sendRawTransaction", {"0x02"});
  scene.finish(asked);
  CHECK(asked->unknown());
  CHECK(scene.server->seen().size() == 1);
  CHECK(scene.rpc->counters().repeats == 0);
}

TEST_CASE(
    "rpc: a repeat that cannot connect leaves the call unknown, for the first may have come") {
  RpcScene scene;
  scene.open();
  scene.finish(scene.ask("first"));
  scene.server->script([&scene](const RpcServer::Request&) {
    scene.server->stop();
    return RpcServer::Reply{.bytes = "", .close = true};
  });
  const auto asked = scene.ask("eth_sendRawTransaction", {"0x02"});
  scene.finish(asked);
  CHECK(scene.rpc->counters().repeats == 1);
  CHECK(asked->unknown());
}

TEST_CASE("rpc: part of an answer is no licence to ask again") {
  RpcScene scene;
  scene.open();
  scene.finish(scene.ask("first"));
  scene.server->script([](const RpcServer::Request&) {
    return RpcServer::Reply{.bytes = "HTTP/1.1 200 OK\r\nContent-Le", .close = true};
  });
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->unknown());
  CHECK(scene.rpc->counters().repeats == 0);
  CHECK(scene.server->seen().size() == 2);
}

TEST_CASE("rpc: a node that takes no batches is asked one by one from then on") {
  for (const char* refusal :
       {R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Batch not supported"}})",
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}})",
        R"({"error":{"code":-32700,"message":"json: cannot unmarshal array into Go value"}})",
        R"([{"id":1,"error":{"code":-32600,"message":"batch requests are disabled"}}])"}) {
    CAPTURE(refusal);
    RpcScene scene(refuses_batches(refusal));
    scene.open();
    const auto all = scene.ask_many(6);
    scene.finish(all);
    CHECK(all_ok(all));
    CHECK(scene.server->seen().size() == 7);
    scene.finish(scene.ask_many(3));
    CHECK(scene.server->seen().size() == 10);
    CHECK(scene.server->seen().back().body.is_object());
    CHECK(scene.rpc->counters().errors == 0);
  }
}

TEST_CASE("rpc: a node that takes smaller batches gets smaller ones") {
  for (const bool by_status : {false, true}) {
    CAPTURE(by_status);
    RpcScene scene([by_status](const RpcServer::Request& request) {
      if (!request.body.is_array() || request.body.get_array().size() <= 5) {
        return tests::echo(request);
      }
      if (by_status) return http_reply(413, "<html>too large</html>");
      return http_ok(R"([{"id":1,"error":{"code":-32600,"message":"batch too large"}}])");
    });
    scene.open();
    const auto all = scene.ask_many(20);
    scene.finish(all);
    CHECK(all_ok(all));
    scene.finish(scene.ask_many(20));
    const auto& seen = scene.server->seen();
    CHECK(std::ranges::all_of(seen.end() - 4, seen.end(), [](const RpcServer::Request& request) {
      return request.body.get_array().size() == 5;
    }));
  }
}

TEST_CASE("rpc: an error for a whole batch that is no refusal of batches leaves all unknown") {
  RpcScene scene(refuses_batches(
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}})"));
  scene.open();
  const auto all = scene.ask_many(3);
  scene.finish(all);
  for (const auto& asked : all) CHECK(asked->unknown());
  CHECK(scene.server->seen().size() == 1);
}

TEST_CASE("rpc: an answer in chunks, and one that ends with the connection, are read") {
  for (const bool chunked : {true, false}) {
    CAPTURE(chunked);
    RpcScene scene([chunked](const RpcServer::Request& request) {
      const std::string body = json::serialize(tests::result_of(request.body, "0x1"));
      if (!chunked)
        return RpcServer::Reply{.bytes = "HTTP/1.1 200 OK\r\n\r\n" + body, .close = true};
      const std::string size = "2\r\n" + body.substr(0, 2) + "\r\n";
      char rest[16];
      std::snprintf(rest, sizeof rest, "%zx\r\n", body.size() - 2);
      return RpcServer::Reply{.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                       size + rest + body.substr(2) + "\r\n0\r\n\r\n"};
    });
    scene.open();
    const auto asked = scene.ask("m");
    scene.finish(asked);
    CHECK(asked->result() == "\"0x1\"");
  }
}

}  // namespace holdfast::evm
