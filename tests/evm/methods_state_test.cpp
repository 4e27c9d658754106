// What became of an authorization on the chain.
#include <doctest/doctest.h>

#include "evm/methods_authorization.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using Seen = domain::AuthorizationSeen::Result;

namespace {

/// The token's state by height, and its logs out of the node's blocks.
struct StateBench : AuthorizationBench {
  explicit StateBench(TransferAuthorizationOptions options = {})
      : AuthorizationBench(std::move(options)) {
    node.overrides["eth_call"] = [this](const json::array& params) -> Answer {
      const std::string_view at = params.at(1).as_string();
      const std::uint64_t height =
          at == "latest" ? node.blocks.size() - 1 : *U256::from_0x(at)->to_u64();
      return json::value(word(ended_at && height >= *ended_at ? 1 : 0));
    };
    node.overrides["eth_getLogs"] = [this](const json::array& params) { return logs(params); };
  }

  Answer logs(const json::array& params) {
    const json::object& filter = params.at(0).as_object();
    const std::uint64_t low = *U256::from_0x(filter.at("fromBlock").as_string())->to_u64();
    const std::uint64_t high = *U256::from_0x(filter.at("toBlock").as_string())->to_u64();
    ranges.emplace_back(low, high);
    if (high - low + 1 > most_blocks) return ports::Unknown{"query exceeds max block range", false};
    json::array out;
    for (std::uint64_t height = low; height <= high; ++height) {
      for (const json::object& receipt : node.blocks.at(height).receipts) {
        for (const json::value& log : receipt.at("logs").as_array()) {
          if (matches(log, filter)) out.push_back(log);
        }
      }
    }
    return json::value(out);
  }

  static bool matches(const json::value& log, const json::object& filter) {
    const json::array& wanted = filter.at("topics").as_array();
    const json::array& topics = log.at("topics").as_array();
    if (log.at("address") != filter.at("address") || topics.size() != 3) return false;
    const json::array& first = wanted.at(0).as_array();
    return (topics[0] == first[0] || topics[0] == first[1]) && topics[1] == wanted[1] &&
           topics[2] == wanted[2];
  }

  /// Somebody submits it at that height, moving `amount` to `payee`.
  domain::TxHash use(std::uint64_t height, const std::string& payee, const U256& amount) {
    ended_at = height;
    return node.add(height, {.from = carol,
                             .to = token,
                             .logs = {authorization_log(token, alice, intent.ref.hex(), false),
                                      transfer_log(token, alice, payee, amount)}});
  }

  domain::AuthorizationSeen read() { return run(method.read_authorization(intent)); }

  domain::Intent intent = signed_intent();
  std::optional<std::uint64_t> ended_at;
  std::uint64_t most_blocks = 1'000'000;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
};

}  // namespace

TEST_CASE("authorization state: unused in the newest block and in the newest final one") {
  StateBench bench;
  const auto seen = bench.read();
  CHECK(seen.result == Seen::unused);
  CHECK(seen.unused_at_final_s == 1'700'000'090);
  CHECK_FALSE(seen.tx);
  // The final block is known before its state is read, and the state is of exactly that block.
  REQUIRE(bench.node.asked.size() == 3);
  CHECK(bench.node.asked[1].first == "eth_getBlockByNumber");
  CHECK(bench.node.asked[2].second.at(1) == "0x5a");
}

TEST_CASE("authorization state: without the final state it is unused, as of nothing final") {
  StateBench bench;
  bench.node.overrides["eth_call"] = [](const json::array& params) -> Answer {
    if (params.at(1) == "latest") return json::value(word(0));
    return ports::Unknown{"missing trie node", false};
  };
  const auto seen = bench.read();
  CHECK(seen.result == Seen::unused);
  CHECK_FALSE(seen.unused_at_final_s);
}

TEST_CASE(
    "authorization state: ended in a final block and not in the newest is believed of neither") {
  StateBench bench;
  bench.node.overrides["eth_call"] = [](const json::array& params) -> Answer {
    return json::value(word(params.at(1) == "latest" ? 0 : 1));
  };
  CHECK(bench.read().result == Seen::unknown);
}

TEST_CASE("authorization state: no readable answer is unknown") {
  for (const Answer& answer : {Answer(ports::Unknown{"time-out", false}), Answer(json::value("0x")),
                               Answer(json::value(word(2))), Answer(json::value(true)),
                               Answer(ports::Refused{ports::RefusalKind::reverted, "no"})}) {
    StateBench bench;
    bench.node.overrides["eth_call"] = always(answer);
    CHECK(bench.read().result == Seen::unknown);
  }
  StateBench bench;
  bench.intent.authorization.reset();
  CHECK(bench.read().result == Seen::unknown);
}

TEST_CASE("authorization state: used in exactly this transfer, final or not yet") {
  for (const std::uint64_t height : {90, 91}) {
    StateBench bench;
    const auto hash = bench.use(height, bob, 1'000'000);
    const auto seen = bench.read();
    CHECK(seen.result == Seen::used_exactly);
    REQUIRE(seen.tx);
    CHECK(seen.tx->hash == hash);
    CHECK(seen.tx->sender.value == carol);
    CHECK(seen.is_final == (height == 90));
    CHECK_FALSE(seen.unused_at_final_s);
  }
}

TEST_CASE("authorization state: less arrived is still this payment's use") {
  StateBench bench;
  bench.ended_at = 80;
  bench.node.add(80, {.from = carol,
                      .to = token,
                      .logs = {authorization_log(token, alice, bench.intent.ref.hex(), false),
                               transfer_log(token, alice, carol, 10'000),
                               transfer_log(token, alice, bob, 990'000)}});
  CHECK(bench.read().result == Seen::used_exactly);
}

TEST_CASE("authorization state: used in a transfer that is not this intent's") {
  StateBench bench;
  bench.use(80, carol, 1'000'000);
  const auto seen = bench.read();
  CHECK(seen.result == Seen::used_otherwise);
  CHECK(seen.tx);
  CHECK(seen.is_final);
}

TEST_CASE("authorization state: canceled by its signer") {
  StateBench bench;
  bench.ended_at = 95;
  const auto hash =
      bench.node.add(95, {.from = carol,
                          .to = token,
                          .logs = {authorization_log(token, alice, bench.intent.ref.hex(), true)}});
  const auto seen = bench.read();
  CHECK(seen.result == Seen::canceled);
  REQUIRE(seen.tx);
  CHECK(seen.tx->hash == hash);
  CHECK_FALSE(seen.is_final);
}

TEST_CASE("authorization state: the use is looked for backwards, in ranges a node takes") {
  StateBench bench({.assets = {}, .log_range_blocks = 40});
  bench.use(5, bob, 1'000'000);
  bench.most_blocks = 10;
  CHECK(bench.read().result == Seen::used_exactly);
  REQUIRE(bench.ranges.size() >= 3);
  CHECK(bench.ranges[0] == std::pair<std::uint64_t, std::uint64_t>{61, 100});
  CHECK(bench.ranges[1] == std::pair<std::uint64_t, std::uint64_t>{91, 100});
  CHECK(bench.ranges[2] == std::pair<std::uint64_t, std::uint64_t>{81, 90});
  CHECK(bench.ranges.back() == std::pair<std::uint64_t, std::uint64_t>{1, 10});
  // What the node takes is remembered.
  bench.ranges.clear();
  CHECK(bench.read().result == Seen::used_exactly);
  CHECK(bench.ranges[0] == std::pair<std::uint64_t, std::uint64_t>{91, 100});
}

TEST_CASE("authorization state: a use beyond the span, or beyond the calls, is unknown") {
  StateBench near({.assets = {}, .log_span_blocks = 50, .log_range_blocks = 20});
  near.use(50, bob, 1'000'000);
  CHECK(near.read().result == Seen::unknown);
  CHECK(near.ranges.back() == std::pair<std::uint64_t, std::uint64_t>{51, 60});
  near.use(51, bob, 1'000'000);
  CHECK(near.read().result == Seen::used_exactly);

  StateBench few({.assets = {}, .log_range_blocks = 10, .log_calls = 3});
  few.use(70, bob, 1'000'000);
  CHECK(few.read().result == Seen::unknown);
  CHECK(few.ranges.size() == 3);
}

TEST_CASE("authorization state: a search ends when the node takes not even one block") {
  StateBench bench;
  bench.use(80, bob, 1'000'000);
  bench.most_blocks = 0;
  CHECK(bench.read().result == Seen::unknown);
  CHECK(bench.ranges.size() <= 7);
}

TEST_CASE("authorization state: a rate limit ends the search at once") {
  StateBench bench;
  bench.use(80, bob, 1'000'000);
  bench.node.overrides["eth_getLogs"] = always(Answer(ports::Unknown{"429", true}));
  CHECK(bench.read().result == Seen::unknown);
  CHECK(bench.node.count("eth_getLogs") == 1);
}

TEST_CASE("authorization state: logs that were not asked for are unknown") {
  const auto answered = [](const json::value& log) {
    StateBench bench;
    bench.use(80, bob, 1'000'000);
    json::value answer =
        bench
            .logs({json::object{
                {"fromBlock", "0x50"},
                {"toBlock", "0x50"},
                {"address", token},
                {"topics", json::array{json::array{topics::authorization_used.hex(),
                                                   topics::authorization_canceled.hex()},
                                       "0x" + std::string(24, '0') +
                                           to_hex(Address20::from_text(alice)->view()),
                                       bench.intent.ref.hex()}}}})
            .ok()[0];
    REQUIRE(answer.as_array().size() == 1);
    for (const auto& [key, value] : log.as_object()) answer.as_array()[0].as_object()[key] = value;
    bench.node.overrides["eth_getLogs"] = always(answer);
    return bench.read().result;
  };
  CHECK(answered(json::object{}) == Seen::used_exactly);
  CHECK(answered({{"address", carol}}) == Seen::unknown);
  CHECK(answered({{"removed", true}}) == Seen::unknown);
  CHECK(answered({{"topics", json::array{word(1)}}}) == Seen::unknown);
  CHECK(answered({{"topics", json::array{topics::authorization_used.hex(), word(1), word(2)}}}) ==
        Seen::unknown);
  CHECK(answered({{"transactionHash", word(1)}}) == Seen::unknown);
  CHECK(answered({{"transactionHash", nullptr}}) == Seen::unknown);
}

TEST_CASE("authorization state: a use in a block that is canonical no more is unknown") {
  StateBench bench;
  bench.use(95, bob, 1'000'000);
  const FakeNode::Block orphaned = bench.node.blocks[95];
  json::array logs{orphaned.receipts[0].at("logs").as_array()[0]};
  bench.node.reorganise(95);
  bench.node.overrides["eth_getLogs"] = always(json::value(logs));
  bench.node.overrides["eth_getTransactionByHash"] = always(json::value(orphaned.txs[0]));
  bench.node.overrides["eth_getTransactionReceipt"] = always(json::value(orphaned.receipts[0]));
  CHECK(bench.read().result == Seen::unknown);
}
