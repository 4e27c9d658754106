// What the client's tests share: a loop, a clock moved by hand, a scripted server, and calls whose
// outcomes are kept. Nothing here waits for real time; a test that would hang fails instead.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <doctest/doctest.h>

#include "evm/http_rpc.hpp"
#include "rpc_server.hpp"
#include "support/manual_clock.hpp"

namespace holdfast::tests {

/// A call under way, and later its ending.
struct Asked {
  std::optional<ports::Outcome<boost::json::value>> outcome;
  bool cancelled = false;
  bool ended = false;
  boost::asio::cancellation_signal cancel;

  /// The result as text.
  std::string result() const { return ok() ? boost::json::serialize(*outcome->ok()) : text(); }
  std::string text() const { return outcome ? outcome->text() : "no outcome"; }
  bool ok() const { return outcome && outcome->ok() != nullptr; }
  bool refused() const { return outcome && outcome->refused() != nullptr; }
  bool not_sent() const { return outcome && outcome->not_sent() != nullptr; }
  bool unknown() const { return outcome && outcome->unknown() != nullptr; }
  bool rate_limited() const { return unknown() && outcome->unknown()->rate_limited; }
};
using AskedPtr = std::shared_ptr<Asked>;

struct RpcScene {
  boost::asio::io_context context;
  ManualClock clock{context.get_executor()};
  std::unique_ptr<RpcServer> server;
  std::unique_ptr<evm::HttpRpc> rpc;

  explicit RpcScene(RpcServer::Script script = echo, boost::asio::ssl::context* tls = nullptr)
      : server(std::make_unique<RpcServer>(context, std::move(script), tls)) {}

  void open(evm::HttpRpcOptions options = {}) {
    if (options.url.empty()) options.url = server->url();
    auto made = evm::HttpRpc::open(context.get_executor(), clock, std::move(options));
    REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().detail));
    rpc = std::move(*made);
  }

  AskedPtr ask(std::string method, boost::json::array params = {}) {
    auto asked = std::make_shared<Asked>();
    boost::asio::co_spawn(
        context, rpc->call(std::move(method), std::move(params)),
        boost::asio::bind_cancellation_slot(
            asked->cancel.slot(),
            [asked](std::exception_ptr failure, ports::Outcome<boost::json::value> outcome) {
              asked->ended = true;
              asked->cancelled = failure != nullptr;
              if (!failure) asked->outcome = std::move(outcome);
            }));
    return asked;
  }
  std::vector<AskedPtr> ask_many(int count) {
    std::vector<AskedPtr> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int at = 0; at < count; ++at) all.push_back(ask("m" + std::to_string(at), {at}));
    return all;
  }

  /// Runs the loop until `holds`. The limit on real time turns a hang into a failure.
  void run_until(const std::function<bool()>& holds) {
    context.restart();
    while (!holds()) {
      const bool ran = context.run_one_for(std::chrono::seconds(20)) > 0;
      REQUIRE_MESSAGE(ran, "nothing happens any more");
    }
  }
  void finish(const AskedPtr& asked) {
    run_until([&] { return asked->ended; });
  }
  void finish(const std::vector<AskedPtr>& all) {
    for (const auto& asked : all) finish(asked);
  }
  /// Runs what is ready now.
  void turn() {
    context.restart();
    context.poll();
  }
};

}  // namespace holdfast::tests
