// Two real nodes behind one chain, and what becomes of them when they serve another chain.
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "evm/chain.hpp"
#include "evm/endpoint_pool.hpp"
#include "evm/http_rpc.hpp"
#include "evm/secp.hpp"
#include "support/anvil.hpp"
#include "support/timed_clock.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using ports::Whereabouts;
using test::Anvil;
using test::dev_accounts;

namespace {

/// Real time, which a test may move on.
class JumpingClock final : public tests::TimedClock {
 public:
  std::int64_t wall_ms() const override { return mono_ms(); }
  std::int64_t mono_ms() const override {
    return ahead_ms + std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count();
  }
  std::int64_t ahead_ms = 0;
};

struct TwoNodes {
  TwoNodes() {
    std::vector<PoolMember> members;
    for (const Anvil* node : {&first, &second}) {
      HttpRpcOptions options;
      options.url = node->url();
      auto client = HttpRpc::open(context.get_executor(), clock, std::move(options));
      REQUIRE(client.has_value());
      members.push_back({std::move(*client), 1});
    }
    pool = std::make_unique<EndpointPool>(context.get_executor(), clock, 31337, std::move(members));
    chain = std::make_unique<EvmChain>(EvmOptions{.id = {"eip155:31337"}}, *pool, clock);
  }

  template <class T>
  T run(boost::asio::awaitable<T> task) {
    std::optional<T> out;
    std::exception_ptr error;
    boost::asio::co_spawn(context, std::move(task), [&](std::exception_ptr thrown, T value) {
      error = thrown;
      if (!thrown) out.emplace(std::move(value));
    });
    while (!out && !error) {
      context.run_one();
      if (context.stopped()) context.restart();
    }
    if (error) std::rethrow_exception(error);
    return std::move(*out);
  }

  /// That much later, the chain is asked until this endpoint stands so; what is due is probed by
  /// asking. One look is not enough: a call that is in the client's queue when the clock is moved
  /// on has waited for all of that time and is given up, and a probe among those is made again when
  /// the next is due, half a second later. False: not within ten real seconds.
  bool becomes(EndpointState wanted, std::size_t at, std::int64_t later_ms = 0) {
    clock.ahead_ms += later_ms;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (true) {
      run(chain->check());
      if (state(at) == wanted) return true;
      if (std::chrono::steady_clock::now() >= give_up) return false;
      run([](JumpingClock& on) -> boost::asio::awaitable<int> {
        co_await on.sleep(10);
        co_return 0;
      }(clock));
    }
  }
  EndpointState state(std::size_t at) const { return pool->endpoints().at(at).health.state; }

  ports::SignedTx pay(std::uint64_t nonce) {
    const auto& sender = dev_accounts()[2];
    const ports::Order order{
        .sender = {sender.address},
        .sequence = {nonce},
        .call = {.target = {dev_accounts()[1].address}, .value = 5, .payload = {}},
        .fees = {.max_fee = 30'000'000'000, .priority_fee = 1'000'000'000, .gas_limit = 21'000}};
    const auto key = SecretKey::parse(sender.key);
    const auto signature = signature_bytes(sign(Hash32{chain->digest(order)}, *key));
    auto sealed = chain->seal(order, Bytes(signature.begin(), signature.end()));
    REQUIRE(sealed.has_value());
    return std::move(*sealed);
  }

  Anvil first;
  Anvil second;
  boost::asio::io_context context;
  JumpingClock clock;
  std::unique_ptr<EndpointPool> pool;
  std::unique_ptr<EvmChain> chain;
};

}  // namespace

TEST_CASE("T3: of two real nodes one turns to another chain, then both, then one is repaired") {
  TwoNodes scene;
  REQUIRE(scene.run(scene.chain->check()).ok() != nullptr);
  REQUIRE(scene.becomes(EndpointState::usable, 0));
  REQUIRE(scene.becomes(EndpointState::usable, 1));

  scene.second.call("anvil_setChainId", {5});
  scene.second.mine(50);
  const ports::SignedTx tx = scene.pay(0);
  // Signed for the configured chain: what the second node thinks of itself changes nothing there.
  CHECK(decode_signed(tx.bytes)->tx.chain_id == 31337);
  CHECK(scene.run(scene.chain->post(tx.bytes, tx.hash)).ok() != nullptr);
  REQUIRE(scene.becomes(EndpointState::quarantined, 1, proof_lasts_ms));
  REQUIRE(scene.becomes(EndpointState::usable, 0));
  scene.first.mine(4);
  const auto found = scene.run(scene.chain->find(tx.hash));
  REQUIRE(found.ok() != nullptr);
  CHECK(found.ok()->place == Whereabouts::Place::mined);
  // The second node's fifty blocks more count for nothing.
  CHECK(scene.run(scene.chain->sequences({dev_accounts()[2].address})).ok()->finalized.value == 1);
  CHECK(scene.run(scene.chain->head()).ok()->latest.height < 50);

  scene.first.call("anvil_setChainId", {5});
  REQUIRE(scene.becomes(EndpointState::quarantined, 0, proof_lasts_ms));
  const auto check = scene.run(scene.chain->check());
  REQUIRE(check.refused() != nullptr);
  CHECK(check.refused()->message.find("serves eip155:5") != std::string::npos);
  const ports::SignedTx next = scene.pay(1);
  CHECK(scene.run(scene.chain->post(next.bytes, next.hash)).not_sent() != nullptr);

  scene.first.call("anvil_setChainId", {31337});
  REQUIRE(scene.becomes(EndpointState::usable, 0, proof_lasts_ms));
  CHECK(scene.run(scene.chain->check()).ok() != nullptr);
  CHECK(scene.run(scene.chain->post(next.bytes, next.hash)).ok() != nullptr);
}
