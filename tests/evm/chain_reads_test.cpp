// The EVM chain's small reads: identity, head, final block, counts, balance.
#include <doctest/doctest.h>

#include "evm/chain_node.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using domain::FinalityTag;

namespace {

const Answer silent = ports::Unknown{"time-out", false};

std::string reason(const auto& outcome) {
  return outcome.unknown() == nullptr ? std::string() : outcome.unknown()->reason;
}

}  // namespace

TEST_CASE("chain: an id is eip155 and a plain decimal number") {
  CHECK(chain_number({"eip155:1"}) == 1);
  CHECK(chain_number({"eip155:31337"}) == 31337);
  for (const char* bad : {"", "eip155:", "eip155:0", "eip155:01", "eip155:-1", "eip155:1x", "1",
                          "cosmos:1", "eip155:9223372036854775808", "EIP155:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(chain_number({bad}));
  }
}

TEST_CASE("chain: the configured node is recognised") {
  Bench bench;
  const auto checked = run(bench.chain.check());
  REQUIRE(checked.ok() != nullptr);
  CHECK(*checked.ok());
}

TEST_CASE("chain: a node of another chain is refused by a sentence with both ids") {
  Bench bench;
  bench.node.overrides["eth_chainId"] = always(json::value("0x1"));
  const auto checked = run(bench.chain.check());
  REQUIRE(checked.refused() != nullptr);
  CHECK(checked.refused()->message ==
        "the node serves eip155:1, the configuration says eip155:31337");
}

TEST_CASE("chain: a node that is silent or answers garbage is unknown, not another chain") {
  for (const Answer& answer :
       {silent, Answer(json::value(31337)), Answer(json::value("31337")), Answer(json::value()),
        Answer(json::value("0x")), Answer(json::value("0xffffffffffffffffffff")),
        Answer(json::value("<html>502 Bad Gateway</html>"))}) {
    Bench bench;
    bench.node.overrides["eth_chainId"] = always(answer);
    CHECK(run(bench.chain.check()).unknown() != nullptr);
  }
}

TEST_CASE("chain: the head has the newest block and the heights of both tags") {
  Bench bench({.id = chain_id, .answer_at = {FinalityTag::safe, 1}});
  const auto head = run(bench.chain.head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->latest.height == 100);
  CHECK(head.ok()->latest.hash.hex() == bench.node.blocks[100].hash);
  CHECK(head.ok()->latest_time_s == 1'700'000'100);
  CHECK(head.ok()->safe_height == 95);
  CHECK(head.ok()->finalized.height == 90);
  CHECK(head.ok()->finalized_time_s == 1'700'000'090);
  CHECK(bench.node.asked.size() == 3);
}

TEST_CASE("chain: safe is asked for where a rule names it; it is the final block elsewhere") {
  Bench bench;
  CHECK(run(bench.chain.head()).ok()->safe_height == 90);
  CHECK(bench.node.asked.size() == 2);
}

TEST_CASE("chain: while the newest block goes on, the tags are asked for now and then") {
  Bench bench;
  CHECK(run(bench.chain.head()).ok()->finalized.height == 90);
  bench.node.finalized = 91;
  bench.node.asked.clear();
  CHECK(run(bench.chain.head()).ok()->finalized.height == 90);
  bench.node.blocks.push_back({word(777), 1'700'000'101, {}, {}});
  const auto grown = run(bench.chain.head());
  REQUIRE(grown.ok() != nullptr);
  CHECK(grown.ok()->latest.height == 101);
  CHECK(grown.ok()->finalized.height == 90);
  CHECK(bench.node.asked.size() == 2);
  bench.clock.now_ms += 4'000;
  CHECK(run(bench.chain.head()).ok()->finalized.height == 91);
}

TEST_CASE(
    "chain: a newest block that does not go on from the one before asks for the tags at once") {
  Bench bench;
  CHECK(run(bench.chain.head()).ok() != nullptr);
  bench.node.finalized = 91;
  bench.node.reorganise(100);
  CHECK(run(bench.chain.head()).ok()->finalized.height == 91);
  bench.node.finalized = 92;
  bench.node.blocks.pop_back();
  const auto lower = run(bench.chain.head());
  REQUIRE(lower.ok() != nullptr);
  CHECK(lower.ok()->latest.height == 99);
  CHECK(lower.ok()->finalized.height == 92);
}

TEST_CASE("chain: a finalized block above a newest read earlier stands for the newest") {
  Bench bench;
  bench.node.overrides["eth_getBlockByNumber"] = [&](const json::array& params) -> Answer {
    const bool latest = params.at(0) == "latest";
    return json::value{{"number", latest ? "0x5" : "0x6"},
                       {"hash", word(latest ? 5 : 6)},
                       {"parentHash", word(1)},
                       {"timestamp", "0x10"}};
  };
  const auto head = run(bench.chain.head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->latest.height == 6);
  CHECK(head.ok()->latest.hash.hex() == word(6));
  CHECK(head.ok()->safe_height == 6);
}

TEST_CASE("chain: another newest block at the final height is a read of a moment ago") {
  Bench bench;
  bench.node.overrides["eth_getBlockByNumber"] = [](const json::array& params) -> Answer {
    const bool is_final = params.at(0) == "finalized";
    return json::value{{"number", "0x6"},
                       {"hash", word(is_final ? 6 : 7)},
                       {"parentHash", word(5)},
                       {"timestamp", "0x10"}};
  };
  const auto head = run(bench.chain.head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->latest.hash.hex() == word(6));
  CHECK(head.ok()->finalized == head.ok()->latest);
}

TEST_CASE("chain: without tags the head's final block is the one so many confirmations deep") {
  Bench bench(
      {.id = chain_id, .finality = {FinalityTag::finalized, 12}, .confirmations_only = true});
  bench.node.overrides["eth_getTransactionCount"] = always(json::value("0x0"));
  const auto head = run(bench.chain.head());
  REQUIRE(head.ok() != nullptr);
  CHECK(head.ok()->finalized.height == 89);
  CHECK(head.ok()->safe_height == 89);
  CHECK(head.ok()->finalized_time_s == 1'700'000'089);
  for (const auto& [method, params] : bench.node.asked) {
    CHECK(params.at(0) != "finalized");
    CHECK(params.at(0) != "safe");
  }
  bench.node.asked.clear();
  CHECK(run(bench.chain.sequences({alice})).ok() != nullptr);
  CHECK(bench.node.asked.at(2).second.at(1) == "0x59");
}

TEST_CASE("chain: a chain shorter than its confirmations is final up to its first block") {
  Bench bench(
      {.id = chain_id, .finality = {FinalityTag::finalized, 500}, .confirmations_only = true});
  const auto final = run(bench.chain.final_block());
  REQUIRE(final.ok() != nullptr);
  CHECK(final.ok()->ref.height == 0);
}

TEST_CASE("chain: final is what both the tag and the confirmations allow") {
  struct Row {
    domain::FinalityRule rule;
    std::uint64_t height;
  };
  for (const Row& row : {Row{{FinalityTag::finalized, 1}, 90}, Row{{FinalityTag::finalized, 5}, 90},
                         Row{{FinalityTag::finalized, 21}, 80}, Row{{FinalityTag::safe, 1}, 95},
                         Row{{FinalityTag::safe, 10}, 91}, Row{{FinalityTag::latest, 1}, 100},
                         Row{{FinalityTag::latest, 0}, 100}, Row{{FinalityTag::latest, 13}, 88}}) {
    CAPTURE(row.height);
    Bench bench({.id = chain_id, .finality = row.rule});
    const auto final = run(bench.chain.final_block());
    REQUIRE(final.ok() != nullptr);
    CHECK(final.ok()->ref.height == row.height);
    CHECK(final.ok()->time_s == 1'700'000'000 + static_cast<std::int64_t>(row.height));
  }
}

TEST_CASE("chain: a node without the tag gives no head, and says which block it has not") {
  Bench bench;
  bench.node.overrides["eth_getBlockByNumber"] = always(json::value());
  CHECK(reason(run(bench.chain.head())) == "the node has no such block");
  CHECK(reason(run(bench.chain.final_block())) == "the node has no such block");
}

TEST_CASE("chain: a block hash is read, or there is no block yet, or it is of another height") {
  Bench bench;
  const auto found = run(bench.chain.block_hash(7));
  REQUIRE(found.ok() != nullptr);
  CHECK((*found.ok())->hex() == bench.node.blocks[7].hash);
  const auto ahead = run(bench.chain.block_hash(101));
  REQUIRE(ahead.ok() != nullptr);
  CHECK_FALSE(*ahead.ok());
  bench.node.overrides["eth_getBlockByNumber"] = always(json::value{
      {"number", "0x8"}, {"hash", word(1)}, {"parentHash", word(2)}, {"timestamp", "0x1"}});
  CHECK(reason(run(bench.chain.block_hash(7))) == "a block of another height");
}

TEST_CASE("chain: sequences are the counts of three states") {
  Bench bench;
  for (std::uint64_t nonce = 0; nonce < 5; ++nonce) {
    bench.node.add(86 + 2 * nonce, {.from = alice, .to = bob, .nonce = nonce});
  }
  const auto counts = run(bench.chain.sequences({alice}));
  REQUIRE(counts.ok() != nullptr);
  CHECK(counts.ok()->latest.value == 5);
  CHECK(counts.ok()->pending.value == 5);
  CHECK(counts.ok()->finalized.value == 3);
  CHECK(bench.node.asked.size() == 3);
}

TEST_CASE(
    "chain: a pending count below the latest is a lagging pool, a final count above it a lie") {
  Bench bench;
  std::map<std::string, std::string> answers{
      {"latest", "0x5"}, {"pending", "0x3"}, {"finalized", "0x2"}};
  bench.node.overrides["eth_getTransactionCount"] = [&](const json::array& params) -> Answer {
    return json::value(answers.at(std::string(params.at(1).as_string())));
  };
  const auto lagging = run(bench.chain.sequences({alice}));
  REQUIRE(lagging.ok() != nullptr);
  CHECK(lagging.ok()->pending.value == 5);
  answers["finalized"] = "0x6";
  CHECK(run(bench.chain.sequences({alice})).unknown() != nullptr);
  answers["finalized"] = "0x8000000000000000";
  CHECK(run(bench.chain.sequences({alice})).unknown() != nullptr);
}

TEST_CASE("chain: a balance of 256 bits is read, a longer one is unknown") {
  Bench bench;
  bench.node.overrides["eth_getBalance"] = always(json::value(U256::max().quantity()));
  const auto balance = run(bench.chain.native_balance({alice}));
  REQUIRE(balance.ok() != nullptr);
  CHECK(*balance.ok() == U256::max());
  bench.node.overrides["eth_getBalance"] = always(json::value(U256::max().quantity() + "0"));
  CHECK(run(bench.chain.native_balance({alice})).unknown() != nullptr);
}

TEST_CASE("chain: whatever ends a call ends every read alike") {
  const std::vector<Answer> endings{ports::Refused{ports::RefusalKind::other, "no"},
                                    ports::NotSent{"no route"},
                                    ports::Unknown{"429", true},
                                    json::value("<html>"),
                                    json::value(json::array{}),
                                    json::value(json::object{}),
                                    json::value(true),
                                    json::value(7)};
  for (const Answer& ending : endings) {
    CAPTURE(ending.text());
    Bench bench;
    for (const char* method :
         {"eth_chainId", "eth_getBlockByNumber", "eth_getBlockReceipts", "eth_getBalance",
          "eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getTransactionCount",
          "eth_estimateGas", "eth_feeHistory", "eth_call", "eth_sendRawTransaction"}) {
      bench.node.overrides[method] = always(ending);
    }
    const auto same = [&](const auto& outcome) {
      if (ending.ok() != nullptr) return outcome.unknown() != nullptr;
      return outcome.text() == ending.text();
    };
    CHECK(same(run(bench.chain.check())));
    CHECK(same(run(bench.chain.head())));
    CHECK(same(run(bench.chain.final_block())));
    CHECK(same(run(bench.chain.block(5))));
    CHECK(same(run(bench.chain.block_hash(5))));
    CHECK(same(run(bench.chain.find(*domain::TxHash::from_text(word(1))))));
    CHECK(same(run(bench.chain.sequences({alice}))));
    CHECK(same(run(bench.chain.native_balance({alice}))));
    CHECK(same(run(bench.chain.simulate({alice}, {.target = {bob}, .value = 1, .payload = {}}))));
    CHECK(same(run(bench.chain.quote(21000))));
    CHECK(same(run(bench.chain.consumer({alice}, {0}))));
    CHECK(same(run(bench.chain.call_contract({}, {}, "latest"))));
    CHECK(same(run(bench.chain.post({1, 2}, {}))));
  }
}
