// Callers that go, clients that close, and hosts whose names must be looked up.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>

#include "rpc_scene.hpp"

namespace holdfast::evm {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using tests::AskedPtr;
using tests::http_ok;
using tests::RpcScene;
using tests::RpcServer;

RpcServer::Script silent() {
  return [](const RpcServer::Request&) { return RpcServer::Reply{.bytes = ""}; };
}

/// A name service the test answers for.
struct Names {
  std::vector<std::pair<std::string, AddressesFound>> asked;

  Lookup lookup() {
    return [this](std::string host, AddressesFound found) {
      asked.emplace_back(std::move(host), std::move(found));
    };
  }
  void answer(std::vector<std::string> addresses) {
    const auto found = asked.back().second;
    found(std::move(addresses));
  }
};

std::string named_url(const RpcScene& scene) {
  return "http://node.example:" + std::to_string(scene.server->port());
}

/// Calls, and says when its frame has gone.
asio::awaitable<void> call_and_mark(HttpRpc& rpc, std::shared_ptr<int> mark) {
  co_await rpc.call("m", {});
  ++*mark;
}

}  // namespace

TEST_CASE("rpc life: a cancelled caller leaves its batch, and the others get their answers") {
  RpcScene scene;
  scene.open();
  const auto all = scene.ask_many(4);
  scene.run_until([&] { return scene.server->connections() == 1; });
  all[1]->cancel.emit(asio::cancellation_type::terminal);
  scene.finish(all);
  CHECK(all[0]->ok());
  CHECK(all[1]->cancelled);
  CHECK(all[2]->ok());
  CHECK(all[3]->ok());
}

TEST_CASE("rpc life: a call cancelled before its turn is never sent") {
  RpcScene scene;
  scene.open();
  const auto kept = scene.ask("kept");
  const auto gone = scene.ask("gone");
  gone->cancel.emit(asio::cancellation_type::terminal);
  scene.finish(kept);
  CHECK(kept->ok());
  CHECK(gone->cancelled);
  REQUIRE(scene.server->seen().size() == 1);
  CHECK(scene.server->seen()[0].body.is_object());
}

TEST_CASE(
    "rpc life: a batch whose callers have all gone is read to its end, and the next goes on") {
  RpcScene scene(silent());
  scene.open({.max_connections = 1});
  const auto gone = scene.ask_many(3);
  scene.run_until([&] { return scene.server->seen().size() == 1; });
  for (const auto& asked : gone) asked->cancel.emit(asio::cancellation_type::terminal);
  scene.finish(gone);
  const auto next = scene.ask("m");
  scene.turn();
  CHECK(scene.server->seen().size() == 1);
  scene.server->script(tests::echo);
  scene.server->hang_up();
  scene.finish(next);
  CHECK(next->ok());
}

TEST_CASE("rpc life: closing drops those who wait, in every state a call can be in") {
  enum class State { queued, answering, waiting_for_a_connection, waiting_for_a_name };
  using enum State;
  for (const State state : {queued, answering, waiting_for_a_connection, waiting_for_a_name}) {
    CAPTURE(static_cast<int>(state));
    const auto mark = std::make_shared<int>(0);
    RpcScene scene(silent());
    Names names;
    HttpRpcOptions options{.max_connections = 1};
    if (state == waiting_for_a_name) {
      options.url = named_url(scene);
      options.lookup = names.lookup();
    }
    scene.open(std::move(options));
    const auto call = [&] {
      asio::co_spawn(scene.context, call_and_mark(*scene.rpc, mark), [](std::exception_ptr) {});
    };
    call();
    if (state == queued) {
      scene.run_until([&] { return scene.rpc->counters().calls == 1; });
    } else if (state != waiting_for_a_name) {
      scene.run_until([&] { return scene.server->seen().size() == 1; });
    }
    if (state == waiting_for_a_connection) call();
    if (state != queued) scene.turn();
    REQUIRE(mark.use_count() > 1);
    scene.rpc->close();
    scene.rpc->close();
    scene.turn();
    CHECK(mark.use_count() == 1);
    CHECK(*mark == 0);

    const auto after = scene.ask("m");
    scene.finish(after);
    CHECK(after->not_sent());
    CHECK(after->text() == "not sent: the RPC client is closed");
  }
}

TEST_CASE(
    "rpc life: the client goes while calls are under way, and nothing of it is touched after") {
  RpcScene scene(silent());
  scene.open();
  const auto all = scene.ask_many(250);  // three batches
  scene.run_until([&] { return scene.server->seen().size() == 3; });
  scene.rpc.reset();
  scene.turn();
  scene.clock.advance(60'000);
  scene.turn();
  for (const auto& asked : all) CHECK_FALSE(asked->ended);
  CHECK(scene.clock.sleepers() == 0);
  scene.run_until([&] { return scene.server->open_connections() == 0; });
}

TEST_CASE("rpc life: the client goes in a pause the endpoint asked for") {
  RpcScene scene(
      [](const RpcServer::Request&) { return tests::http_reply(429, "", "Retry-After: 20\r\n"); });
  scene.open();
  scene.finish(scene.ask("m"));
  const auto waiting = scene.ask("m");
  scene.run_until([&] { return scene.clock.sleepers() == 1; });
  scene.rpc.reset();
  scene.turn();
  CHECK(scene.clock.sleepers() == 0);
  CHECK_FALSE(waiting->ended);
}

TEST_CASE("rpc life: the whole loop goes with calls under way") {
  const auto mark = std::make_shared<int>(0);
  {
    RpcScene scene(silent());
    scene.open();
    for (int at = 0; at < 5; ++at) {
      asio::co_spawn(scene.context, call_and_mark(*scene.rpc, mark), [](std::exception_ptr) {});
    }
    scene.run_until([&] { return scene.server->seen().size() == 1; });
  }
  CHECK(mark.use_count() == 1);
  CHECK(*mark == 0);
}

TEST_CASE("rpc hosts: a call before the name is known waits for it, and at most its deadline") {
  RpcScene scene;
  Names names;
  scene.open({.url = named_url(scene), .lookup = names.lookup()});
  const auto first = scene.ask("m");
  scene.run_until([&] { return names.asked.size() == 1; });
  CHECK(names.asked[0].first == "node.example");
  scene.turn();
  scene.clock.advance(5000);
  scene.finish(first);
  CHECK(first->not_sent());
  CHECK(first->text().find("waiting for the host's address") != std::string::npos);

  const auto second = scene.ask("m");
  scene.turn();
  CHECK(names.asked.size() == 1);  // the same look-up is still under way
  names.answer({"127.0.0.1"});
  scene.finish(second);
  CHECK(second->ok());
}

TEST_CASE("rpc hosts: a name is kept for a minute and looked up again beside the calls") {
  RpcScene scene([](const RpcServer::Request& request) {
    auto reply = tests::echo(request);
    reply.close = true;  // every call connects anew
    return reply;
  });
  Names names;
  scene.open({.url = named_url(scene), .lookup = names.lookup()});
  const auto first = scene.ask("m");
  scene.run_until([&] { return names.asked.size() == 1; });
  names.answer({"127.0.0.1"});
  scene.finish(first);
  scene.clock.advance(59'999);
  scene.finish(scene.ask("m"));
  CHECK(names.asked.size() == 1);
  scene.clock.advance(1);
  const auto late = scene.ask("m");
  scene.finish(late);  // with the old address, while the new look-up hangs
  CHECK(late->ok());
  CHECK(names.asked.size() == 2);
  names.answer({});  // the name service is down: what was known stays
  const auto still = scene.ask("m");
  scene.finish(still);
  CHECK(still->ok());
  CHECK(names.asked.size() == 3);
}

TEST_CASE("rpc hosts: a name without an address is not sent to, and asked for again") {
  RpcScene scene;
  Names names;
  scene.open({.url = named_url(scene), .lookup = names.lookup()});
  const auto first = scene.ask("m");
  scene.run_until([&] { return names.asked.size() == 1; });
  names.answer({"no address", ""});
  scene.finish(first);
  CHECK(first->not_sent());
  CHECK(first->text().find("the host's name has no address") != std::string::npos);
  const auto second = scene.ask("m");
  scene.run_until([&] { return names.asked.size() == 2; });
  names.answer({"127.0.0.1"});
  scene.finish(second);
  CHECK(second->ok());
}

TEST_CASE("rpc hosts: an address that takes no connection is passed over") {
  RpcScene scene;
  Names names;
  scene.open({.url = named_url(scene), .lookup = names.lookup()});
  const auto asked = scene.ask("m");
  scene.run_until([&] { return names.asked.size() == 1; });
  names.answer({"127.0.0.2", "::1", "127.0.0.1"});  // only the last has a listener
  scene.finish(asked);
  CHECK(asked->ok());
}

TEST_CASE("rpc hosts: the client goes before the name service answers") {
  RpcScene scene;
  Names names;
  scene.open({.url = named_url(scene), .lookup = names.lookup()});
  const auto asked = scene.ask("m");
  scene.run_until([&] { return names.asked.size() == 1; });
  scene.rpc.reset();
  scene.turn();
  names.answer({"127.0.0.1"});
  scene.turn();
  CHECK_FALSE(asked->ended);
}

TEST_CASE("rpc hosts: the system knows localhost") {
  RpcScene scene;
  scene.open({.url = "http://localhost:" + std::to_string(scene.server->port())});
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->ok());
}

}  // namespace holdfast::evm
