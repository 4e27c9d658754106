// A pool over clients made of tables, in virtual time: what each endpoint does is a field.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <holdfast/ports/parking.hpp>

#include "evm/chain_node.hpp"
#include "evm/endpoint_pool.hpp"

namespace holdfast::evm::test {

/// One endpoint: a node, and what its transport does with the calls.
class FakeClient final : public RpcClient {
 public:
  explicit FakeClient(std::string name) : name_(std::move(name)) {}

  boost::asio::awaitable<Answer> call(std::string method, json::array params) override {
    ++calls;
    if (hangs && method == hangs_at) {
      ports::Waiter waiter;
      co_await waiter.park(parked);
    }
    if (down) co_return *down;
    co_return co_await node.call(std::move(method), std::move(params));
  }
  const std::string& name() const override { return name_; }
  std::uint64_t connections() const override { return connected; }
  std::int64_t held_back_ms() const override { return held_ms; }
  void close() override { parked.abandon(); }

  void serves(std::uint64_t chain) {
    node.overrides["eth_chainId"] = always(json::value(quantity(chain)));
  }

  FakeNode node;
  std::optional<Answer> down;  ///< what everything ends with instead
  bool hangs = false;          ///< calls of `hangs_at` wait until `parked` is woken
  std::string hangs_at = "eth_sendRawTransaction";
  ports::WaitList parked;
  std::uint64_t connected = 1;
  std::int64_t held_ms = 0;
  std::size_t calls = 0;

 private:
  std::string name_;
};

struct PoolScene {
  explicit PoolScene(std::vector<std::uint32_t> weights = {1, 1},
                     EvmOptions options = {.id = chain_id}) {
    std::vector<PoolMember> members;
    for (const std::uint32_t weight : weights) {
      auto client = std::make_unique<FakeClient>("http://e" + std::to_string(clients.size() + 1));
      clients.push_back(client.get());
      members.push_back({std::move(client), weight});
    }
    pool = std::make_unique<EndpointPool>(context.get_executor(), clock, 31337, std::move(members));
    chain = std::make_unique<EvmChain>(std::move(options), *pool, clock);
  }

  FakeClient& e(std::size_t number) { return *clients.at(number - 1); }
  EndpointState state(std::size_t number) const {
    return pool->endpoints().at(number - 1).health.state;
  }

  template <class T>
  struct Run {
    std::optional<T> value;
    bool failed = false;
  };
  /// Starts it, and runs what is ready.
  template <class T>
  std::shared_ptr<Run<T>> start(boost::asio::awaitable<T> task) {
    auto run = std::make_shared<Run<T>>();
    boost::asio::co_spawn(context, std::move(task), [run](std::exception_ptr thrown, T value) {
      run->failed = thrown != nullptr;
      if (!thrown) run->value.emplace(std::move(value));
    });
    turn();
    return run;
  }
  template <class T>
  T run(boost::asio::awaitable<T> task) {
    const auto done = start(std::move(task));
    REQUIRE(done->value.has_value());
    return std::move(*done->value);
  }
  void turn() {
    context.restart();
    context.poll();
  }
  /// A read, some time later.
  Answer ask(std::int64_t later_ms = 0, std::string method = "eth_blockNumber") {
    clock.now_ms += later_ms;
    return run(pool->call(std::move(method), {}));
  }
  ports::Outcome<ports::Posted> post() { return run(chain->post({1, 2, 3}, sent)); }
  /// Every node takes it, or says this.
  void every_post(const Answer& answer) {
    for (FakeClient* client : clients) {
      client->node.overrides["eth_sendRawTransaction"] = always(answer);
      client->node.overrides["eth_blockNumber"] = always(json::value("0x64"));
    }
  }

  boost::asio::io_context context;
  FakeClock clock;
  std::vector<FakeClient*> clients;
  std::unique_ptr<EndpointPool> pool;
  std::unique_ptr<EvmChain> chain;
  domain::TxHash sent = *domain::TxHash::from_text(word(0xabc));
};

inline const Answer refused_connection{ports::NotSent{"no connection: Connection refused"}};
inline const Answer silence{ports::Unknown{"no answer within 5000 ms", false}};

}  // namespace holdfast::evm::test
