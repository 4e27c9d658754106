// Fees: the rule, the ceilings, the answer it is made from, and how often the node is asked.
#include <doctest/doctest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <holdfast/ports/parking.hpp>

#include "evm/chain_node.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::RefusalKind;

namespace {

constexpr std::uint64_t gwei = 1'000'000'000;

json::value history_json(std::uint64_t base_fee, const std::vector<std::uint64_t>& rewards) {
  json::array reward;
  for (const std::uint64_t one : rewards) reward.emplace_back(json::array{quantity(one)});
  return json::object{{"oldestBlock", "0x1"},
                      {"baseFeePerGas", json::array{"0x1", quantity(base_fee)}},
                      {"gasUsedRatio", json::array{0.5}},
                      {"reward", reward}};
}

}  // namespace

TEST_CASE("fees: twice the next base fee and what blocks paid, with a margin of gas") {
  const auto fees = fees_for(100'000, {10 * gwei, {3 * gwei, 0, 1 * gwei, 2 * gwei}}, {});
  REQUIRE(fees.ok() != nullptr);
  CHECK(fees.ok()->priority_fee == U256(2 * gwei));
  CHECK(fees.ok()->max_fee == U256(22 * gwei));
  CHECK(fees.ok()->gas_limit == 120'000);
}

TEST_CASE("fees: blocks that paid nothing leave the default, and nothing goes below the floor") {
  const FeePolicy policy{.priority_floor = 5, .priority_default = 100};
  CHECK(fees_for(21'000, {10, {0, 0, 0}}, policy).ok()->priority_fee == U256(100));
  CHECK(fees_for(21'000, {10, {}}, policy).ok()->priority_fee == U256(100));
  CHECK(fees_for(21'000, {10, {1, 2}}, policy).ok()->priority_fee == U256(5));
}

TEST_CASE("fees: the ceiling holds while the next block can be paid at all") {
  const FeePolicy policy{.max_fee = 30, .priority_floor = 1, .priority_default = 50};
  const auto clamped = fees_for(21'000, {30, {}}, policy);
  REQUIRE(clamped.ok() != nullptr);
  CHECK(clamped.ok()->max_fee == U256(30));
  CHECK(clamped.ok()->priority_fee == U256(30));
  const auto refused = fees_for(21'000, {31, {}}, policy);
  REQUIRE(refused.refused() != nullptr);
  CHECK(refused.refused()->kind == RefusalKind::underpriced);
  CHECK(refused.refused()->message ==
        "the next block's base fee of 31 wei is over this chain's max_fee of 30");
}

TEST_CASE("fees: gas over the cap is refused, and the margin never goes over it") {
  const FeePolicy policy{.gas_cap = 100'000};
  CHECK(fees_for(100'000, {1, {}}, policy).ok()->gas_limit == 100'000);
  CHECK(fees_for(90'000, {1, {}}, policy).ok()->gas_limit == 100'000);
  CHECK(fees_for(50'000, {1, {}}, policy).ok()->gas_limit == 60'000);
  const auto refused = fees_for(100'001, {1, {}}, policy);
  REQUIRE(refused.refused() != nullptr);
  CHECK(refused.refused()->kind == RefusalKind::gas);
  CHECK(refused.refused()->message ==
        "the estimate of 100001 gas is over this chain's gas_cap of 100000");
}

TEST_CASE("fees: numbers that do not fit are unknown, never wrapped") {
  const FeePolicy policy{.max_fee = U256::max()};
  CHECK(fees_for(21'000, {U256::max(), {}}, policy).unknown() != nullptr);
  CHECK(fees_for(21'000, {1, {U256::max()}}, policy).unknown() != nullptr);
}

TEST_CASE("fees: a history that is not of its shape is unreadable") {
  CHECK(read_fee_history(history_json(7, {1, 2})).has_value());
  CHECK(read_fee_history(history_json(7, {1, 2}))->next_base_fee == U256(7));
  const auto changed = [](std::string_view key, json::value value) {
    json::value out = history_json(7, {1, 2});
    out.as_object()[key] = std::move(value);
    return read_fee_history(out).has_value();
  };
  CHECK(changed("reward", nullptr));  // nodes leave it out for empty chains
  CHECK_FALSE(changed("reward", json::array{1}));
  CHECK(changed("reward", json::parse(R"([["0x1"]])")));
  CHECK_FALSE(changed("reward", json::parse("[[]]")));
  CHECK_FALSE(changed("reward", json::parse(R"([["0x1","0x2"]])")));
  CHECK_FALSE(changed("reward", json::parse(R"([["1"]])")));
  CHECK_FALSE(changed("baseFeePerGas", nullptr));
  CHECK_FALSE(changed("baseFeePerGas", json::array{}));
  CHECK_FALSE(changed("baseFeePerGas", json::array{7}));
  CHECK_FALSE(changed("baseFeePerGas", "0x7"));
  CHECK_FALSE(changed("baseFeePerGas", json::array(2000, "0x1")));
}

TEST_CASE("fees: the node is asked at most once in two seconds") {
  Bench bench;
  bench.node.overrides["eth_feeHistory"] = always(history_json(7, {1}));
  CHECK(run(bench.chain.quote(21'000)).ok() != nullptr);
  bench.clock.now_ms += 1'999;
  CHECK(run(bench.chain.quote(21'000)).ok() != nullptr);
  CHECK(bench.node.count("eth_feeHistory") == 1);
  bench.clock.now_ms += 1;
  CHECK(run(bench.chain.quote(21'000)).ok() != nullptr);
  CHECK(bench.node.count("eth_feeHistory") == 2);
}

TEST_CASE("fees: while heads are read, the newest block's base fee stands for the history's") {
  Bench bench;
  bench.node.overrides["eth_feeHistory"] = always(history_json(800, {3}));
  const FeePolicy policy;
  const auto offered = [&] { return run(bench.chain.quote(21'000)).ok()->max_fee; };
  const U256 tip = policy.priority_floor;
  CHECK(offered() == U256(2 * 800).plus(tip));
  bench.clock.now_ms += 5'000;
  bench.node.base_fee = 1'600;
  CHECK(run(bench.chain.head()).ok() != nullptr);
  CHECK(offered() == U256(2 * 1'800).plus(tip));  // an eighth more: the most it rises by
  CHECK(bench.node.count("eth_feeHistory") == 1);
  bench.clock.now_ms += 2'000;  // no head since
  CHECK(offered() == U256(2 * 800).plus(tip));
  CHECK(bench.node.count("eth_feeHistory") == 2);
  bench.clock.now_ms += 10'000;
  CHECK(run(bench.chain.head()).ok() != nullptr);
  CHECK(offered() == U256(2 * 800).plus(tip));
  CHECK(bench.node.count("eth_feeHistory") == 3);
}

TEST_CASE("fees: a failed history is not remembered") {
  Bench bench;
  bench.node.overrides["eth_feeHistory"] = always(ports::Unknown{"time-out", false});
  CHECK(run(bench.chain.quote(21'000)).unknown() != nullptr);
  bench.node.overrides["eth_feeHistory"] = always(history_json(7, {1}));
  CHECK(run(bench.chain.quote(21'000)).ok() != nullptr);
}

namespace {

/// Answers fee histories when told to, or never.
class SlowNode final : public Rpc {
 public:
  boost::asio::awaitable<Answer> call(std::string, json::array) override {
    ++calls;
    ports::Waiter waiter;
    co_await waiter.park(parked);
    co_return history_json(7, {1});
  }
  ports::WaitList parked;
  int calls = 0;
};

}  // namespace

TEST_CASE("fees: all who ask at once share one question, also when the first of them gives up") {
  boost::asio::io_context context;
  SlowNode node;
  FakeClock clock;
  EvmChain chain({.id = chain_id}, node, clock);
  int answered = 0;
  int cancelled = 0;
  boost::asio::cancellation_signal first;
  const auto done = [&](std::exception_ptr error, const ports::Outcome<domain::Fees>& fees) {
    ++(error ? cancelled : answered);
    if (!error) CHECK(fees.ok() != nullptr);
  };
  boost::asio::co_spawn(context, chain.quote(21'000),
                        boost::asio::bind_cancellation_slot(first.slot(), done));
  for (int i = 0; i < 9; ++i) boost::asio::co_spawn(context, chain.quote(21'000), done);
  context.poll();
  CHECK(node.calls == 1);
  first.emit(boost::asio::cancellation_type::terminal);
  context.poll();
  CHECK(cancelled == 1);
  CHECK(node.calls == 2);
  node.parked.wake_all();
  context.poll();
  CHECK(answered == 9);
  CHECK(node.calls == 2);
}

TEST_CASE("fees: one who is destroyed while asking leaves the question to those who wait") {
  boost::asio::io_context context;
  SlowNode node;
  FakeClock clock;
  EvmChain chain({.id = chain_id}, node, clock);
  int ended = 0;
  const auto done = [&](std::exception_ptr, const ports::Outcome<domain::Fees>&) { ++ended; };
  for (int i = 0; i < 3; ++i) boost::asio::co_spawn(context, chain.quote(21'000), done);
  context.poll();
  CHECK(node.calls == 1);
  node.parked.abandon();  // its frame goes without an answer and without an exception
  context.restart();
  context.poll();
  CHECK(ended == 0);
  CHECK(node.calls == 2);
  node.parked.wake_all();
  context.poll();
  CHECK(ended == 2);
}

TEST_CASE("fees: the chain goes while one asks and others wait, and nobody is resumed") {
  boost::asio::io_context context;
  SlowNode node;
  FakeClock clock;
  int ended = 0;
  const auto done = [&](std::exception_ptr, const ports::Outcome<domain::Fees>&) { ++ended; };
  {
    EvmChain chain({.id = chain_id}, node, clock);
    for (int i = 0; i < 3; ++i) boost::asio::co_spawn(context, chain.quote(21'000), done);
    context.poll();
  }
  node.parked.abandon();
  context.restart();
  context.poll();
  CHECK(ended == 0);
  CHECK(node.calls == 1);
}
