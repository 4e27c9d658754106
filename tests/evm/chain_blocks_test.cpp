// Whole blocks, single transactions, and the search for what consumed a sequence.
#include <doctest/doctest.h>

#include "evm/chain_node.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::Whereabouts;

namespace {

const ports::Refused no_such_method{ports::RefusalKind::no_such_method, "method not found"};

std::string reason(const auto& outcome) {
  return outcome.unknown() == nullptr ? std::string() : outcome.unknown()->reason;
}

MadeTx token_transfer(std::uint64_t nonce, std::uint64_t amount) {
  return {.from = alice,
          .to = token,
          .nonce = nonce,
          .input = "0xa9059cbb" + word(1).substr(2) + word(2).substr(2) + word(77).substr(2),
          .logs = {transfer_log(token, alice, bob, amount)}};
}

}  // namespace

TEST_CASE("chain: a block is read with all that its transactions did") {
  Bench bench;
  const auto first = bench.node.add(50, token_transfer(0, 100));
  bench.node.add(50, {.from = bob, .to = carol, .nonce = 4, .value = "0x64", .input = word(9)});
  bench.node.add(50, {.from = carol, .to = bob, .nonce = 1, .value = "0x1", .succeeded = false});
  bench.node.add(50, {.from = carol,
                      .to = token,
                      .nonce = 2,
                      .input = "0xabcd",
                      .logs = {authorization_log(token, alice, word(5), false),
                               transfer_log(token, alice, bob, 7),
                               authorization_log(token, bob, word(6), true)}});
  const auto read = run(bench.chain.block(50));
  REQUIRE(read.ok() != nullptr);
  REQUIRE(*read.ok());
  const ports::Block& block = **read.ok();
  CHECK(block.ref.height == 50);
  CHECK(block.ref.hash.hex() == bench.node.blocks[50].hash);
  CHECK(block.parent.hex() == bench.node.blocks[49].hash);
  CHECK(block.time_s == 1'700'000'050);
  REQUIRE(block.txs.size() == 4);

  const domain::MinedTx& paid = block.txs[0];
  CHECK(paid.hash == first);
  CHECK(paid.block == block.ref);
  CHECK(paid.block_time_s == block.time_s);
  CHECK(paid.succeeded);
  CHECK(paid.sender.value == alice);
  CHECK(paid.sequence.value == 0);
  CHECK(paid.fee_paid == U256(21'000).times(1'000'000'000));
  REQUIRE(paid.transfers.size() == 1);
  CHECK(paid.transfers[0].asset.value == token);
  CHECK(paid.transfers[0].from.value == alice);
  CHECK(paid.transfers[0].to.value == bob);
  CHECK(paid.transfers[0].amount == U256(100));
  CHECK(paid.transfers[0].index == 1);
  REQUIRE(paid.trailing_ref);
  CHECK(paid.trailing_ref->hex() == word(77));

  const domain::MinedTx& native = block.txs[1];
  REQUIRE(native.transfers.size() == 1);
  CHECK(native.transfers[0].asset == domain::native_asset);
  CHECK(native.transfers[0].to.value == carol);
  CHECK(native.transfers[0].amount == U256(100));
  CHECK(native.transfers[0].index == 0);
  CHECK(native.trailing_ref->hex() == word(9));

  CHECK_FALSE(block.txs[2].succeeded);
  CHECK(block.txs[2].transfers.empty());
  CHECK_FALSE(block.txs[2].trailing_ref);

  const domain::MinedTx& submitted = block.txs[3];
  CHECK_FALSE(submitted.trailing_ref);
  REQUIRE(submitted.authorizations.size() == 2);
  CHECK(submitted.authorizations[0].authorizer.value == alice);
  CHECK(submitted.authorizations[0].nonce.hex() == word(5));
  CHECK_FALSE(submitted.authorizations[0].canceled);
  CHECK(submitted.authorizations[0].index == 1);
  CHECK(submitted.authorizations[1].canceled);
  CHECK(submitted.authorizations[1].index == 3);
  CHECK(submitted.transfers.at(0).index == 2);
  CHECK(bench.node.asked.size() == 2);
}

TEST_CASE("chain: where each look finds the next block, its receipts come with it") {
  Bench bench;
  CHECK(run(bench.chain.head()).ok() != nullptr);
  std::uint64_t nonce = 0;
  const auto grow = [&] {
    bench.node.blocks.push_back({word(700 + nonce), 1'700'000'101, {}, {}});
    bench.node.add(bench.node.blocks.size() - 1, token_transfer(nonce++, 100));
  };
  const auto receipts = [&] { return bench.node.count("eth_getBlockReceipts"); };
  const auto read = [&](std::uint64_t height) {
    const auto block = run(bench.chain.block(height));
    return block.ok() != nullptr && *block.ok() ? (*block.ok())->txs.size() : 0;
  };
  for (std::uint64_t height = 101; height <= 104; ++height) {
    grow();
    CAPTURE(height);
    REQUIRE(run(bench.chain.head()).ok() != nullptr);
    const bool beside = height > 102;
    CHECK(receipts() == height - (beside ? 100 : 101));
    CHECK(read(height) == 1);
    CHECK(receipts() == height - 100);
  }
  CHECK(run(bench.chain.head()).ok() != nullptr);  // too early: for nothing, this once
  CHECK(run(bench.chain.head()).ok() != nullptr);
  CHECK(receipts() == 5);
  grow();
  CHECK(run(bench.chain.head()).ok() != nullptr);
  CHECK(read(105) == 1);
  CHECK(receipts() == 6);
}

TEST_CASE("chain: an empty block is read, and a block that is not there yet is no block") {
  Bench bench;
  const auto empty = run(bench.chain.block(3));
  REQUIRE(empty.ok() != nullptr);
  CHECK((*empty.ok())->txs.empty());
  const auto ahead = run(bench.chain.block(101));
  REQUIRE(ahead.ok() != nullptr);
  CHECK_FALSE(*ahead.ok());
}

TEST_CASE("chain: a node without block receipts is asked by hash, and not for them again") {
  Bench bench;
  bench.node.add(50, token_transfer(0, 100));
  bench.node.add(50, token_transfer(1, 100));
  bench.node.overrides["eth_getBlockReceipts"] = always(no_such_method);
  for (int round = 0; round < 2; ++round) {
    const auto read = run(bench.chain.block(50));
    REQUIRE(read.ok() != nullptr);
    CHECK((*read.ok())->txs.size() == 2);
  }
  CHECK(bench.node.count("eth_getBlockReceipts") == 1);
  CHECK(bench.node.count("eth_getTransactionReceipt") == 4);
}

TEST_CASE("chain: a node that will not give block receipts this once is not asked by hash") {
  Bench bench;
  bench.node.overrides["eth_getBlockReceipts"] = always(ports::Unknown{"busy", false});
  CHECK(reason(run(bench.chain.block(50))) == "busy");
  CHECK(bench.node.count("eth_getTransactionReceipt") == 0);
  bench.node.overrides.clear();
  CHECK(run(bench.chain.block(50)).ok() != nullptr);
}

TEST_CASE("chain: many receipts by hash are asked a hundred at once") {
  Bench bench;
  for (std::uint64_t nonce = 0; nonce < 250; ++nonce) {
    bench.node.add(50, token_transfer(nonce, 1));
  }
  bench.node.overrides["eth_getBlockReceipts"] = always(no_such_method);
  const auto read = run(bench.chain.block(50));
  REQUIRE(read.ok() != nullptr);
  CHECK((*read.ok())->txs.size() == 250);
  CHECK((*read.ok())->txs[249].sequence.value == 249);
}

TEST_CASE("chain: a reorg between the block and its receipts is unknown") {
  Bench bench;
  bench.node.add(50, token_transfer(0, 100));
  bench.node.overrides["eth_getBlockReceipts"] = [&](const json::array&) -> Answer {
    json::array receipts{bench.node.blocks[50].receipts[0]};
    receipts[0].as_object()["blockHash"] = word(666);
    return json::value(receipts);
  };
  CHECK(reason(run(bench.chain.block(50))) ==
        "the chain changed between two reads: receipts of another block");
}

TEST_CASE("chain: a block whose transactions name another block is unknown") {
  Bench bench;
  bench.node.add(50, token_transfer(0, 100));
  bench.node.blocks[50].txs[0]["blockHash"] = word(666);
  CHECK(reason(run(bench.chain.block(50))).starts_with("the chain changed between two reads"));
}

TEST_CASE("chain: a block is never half read") {
  Bench bench;
  bench.node.add(50, token_transfer(0, 100));
  bench.node.add(50, token_transfer(1, 100));
  FakeNode::Block& block = bench.node.blocks[50];
  const FakeNode::Block whole = block;
  SUBCASE("a receipt is missing") { block.receipts.pop_back(); }
  SUBCASE("a receipt comes twice") { block.receipts.push_back(block.receipts[0]); }
  SUBCASE("a receipt is of another sender") { block.receipts[1]["from"] = bob; }
  SUBCASE("a receipt has no status") { block.receipts[1].erase("status"); }
  SUBCASE("a status is neither 0 nor 1") { block.receipts[1]["status"] = "0x2"; }
  SUBCASE("a fee is over 256 bits") {
    block.receipts[1]["effectiveGasPrice"] = U256::max().quantity();
  }
  SUBCASE("a log is no object") { block.receipts[1]["logs"] = json::array{1}; }
  SUBCASE("a log has five topics") {
    block.receipts[1]["logs"].as_array()[0].as_object()["topics"] =
        json::array{word(1), word(2), word(3), word(4), word(5)};
  }
  SUBCASE("a log was removed") {
    block.receipts[1]["logs"].as_array()[0].as_object()["removed"] = true;
  }
  SUBCASE("a reverted transaction has events") { block.receipts[1]["status"] = "0x0"; }
  SUBCASE("a transaction has no nonce") { block.txs[1].erase("nonce"); }
  SUBCASE("a nonce is over 63 bits") { block.txs[1]["nonce"] = "0xffffffffffffffff"; }
  SUBCASE("a sender is null") { block.txs[1]["from"] = nullptr; }
  SUBCASE("an input has an odd digit") { block.txs[1]["input"] = "0xabc"; }
  SUBCASE("an input is no hex") { block.txs[1]["input"] = "0xzz"; }
  SUBCASE("a value is decimal") { block.txs[1]["value"] = "100"; }
  CHECK(run(bench.chain.block(50)).unknown() != nullptr);
  block = whole;
  CHECK(run(bench.chain.block(50)).ok() != nullptr);
}

TEST_CASE("chain: receipts beyond the transactions listed are passed over") {
  Bench bench;
  bench.node.add(50, token_transfer(0, 100));
  bench.node.add(50, token_transfer(1, 100));
  bench.node.blocks[50].txs.pop_back();
  const auto read = run(bench.chain.block(50));
  REQUIRE(read.ok() != nullptr);
  CHECK((*read.ok())->txs.size() == 1);
}

TEST_CASE("chain: events that only look like ours moved nothing") {
  Bench bench;
  const auto padded_bob = "0x" + std::string(24, '0') + bob.substr(2);
  bench.node.add(
      50,
      {.from = alice,
       .to = token,
       .input = "0x",
       .logs = {                          // ERC-721: the number is a fourth topic
                made_log(token, {topics::transfer.hex(), padded_bob, padded_bob, word(1)}, "0x"),
                          // too much data
                made_log(token, {topics::transfer.hex(), padded_bob, padded_bob},
                         "0x" + std::string(1024, '0')),
                          // another event, of any shape
                made_log(token, {word(1)}, "0x123456"), made_log(token, {}, "0x")}});
  const auto read = run(bench.chain.block(50));
  REQUIRE(read.ok() != nullptr);
  CHECK((*read.ok())->txs.at(0).transfers.empty());
  CHECK((*read.ok())->txs.at(0).authorizations.empty());
}

TEST_CASE("chain: the data fee of a rollup is part of what a transaction cost") {
  Bench bench;
  bench.node.add(50, token_transfer(0, 100));
  bench.node.blocks[50].receipts[0]["l1Fee"] = "0x10";
  const auto read = run(bench.chain.block(50));
  REQUIRE(read.ok() != nullptr);
  CHECK((*read.ok())->txs[0].fee_paid == U256(21'000ULL * 1'000'000'000ULL + 16));
}

TEST_CASE("chain: a transaction is found nowhere, in the pool, or in a canonical block") {
  Bench bench;
  const auto nowhere = run(bench.chain.find(*domain::TxHash::from_text(word(1))));
  REQUIRE(nowhere.ok() != nullptr);
  CHECK(nowhere.ok()->place == Whereabouts::Place::not_found);

  const auto hash = bench.node.add(50, token_transfer(3, 100));
  const auto mined = run(bench.chain.find(hash));
  REQUIRE(mined.ok() != nullptr);
  CHECK(mined.ok()->place == Whereabouts::Place::mined);
  REQUIRE(mined.ok()->tx);
  CHECK(mined.ok()->tx->hash == hash);
  CHECK(mined.ok()->tx->sequence.value == 3);
  CHECK(mined.ok()->tx->block_time_s == 1'700'000'050);
  CHECK(mined.ok()->tx->transfers.size() == 1);

  json::object& tx = bench.node.blocks[50].txs[0];
  tx["blockHash"] = nullptr;
  tx["blockNumber"] = nullptr;
  bench.node.blocks[50].receipts.clear();
  const auto pending = run(bench.chain.find(hash));
  REQUIRE(pending.ok() != nullptr);
  CHECK(pending.ok()->place == Whereabouts::Place::pending);
  CHECK_FALSE(pending.ok()->tx);
}

TEST_CASE("chain: a receipt of a block that is canonical no more is unknown") {
  Bench bench;
  const auto hash = bench.node.add(50, token_transfer(0, 100));
  const FakeNode::Block orphaned = bench.node.blocks[50];
  bench.node.reorganise(50);
  bench.node.overrides["eth_getTransactionByHash"] = always(json::value(orphaned.txs[0]));
  bench.node.overrides["eth_getTransactionReceipt"] = always(json::value(orphaned.receipts[0]));
  CHECK(reason(run(bench.chain.find(hash))).starts_with("the chain changed between two reads"));
}

TEST_CASE("chain: two answers about one transaction that do not fit are unknown") {
  Bench bench;
  const auto hash = bench.node.add(50, token_transfer(0, 100));
  json::object tx = bench.node.blocks[50].txs[0];
  json::object receipt = bench.node.blocks[50].receipts[0];
  json::value tx_answer = tx;
  json::value receipt_answer = receipt;
  SUBCASE("a receipt and no transaction") { tx_answer = nullptr; }
  SUBCASE("a block and no receipt") { receipt_answer = nullptr; }
  SUBCASE("a transaction of another hash") { tx_answer.as_object()["hash"] = word(1); }
  SUBCASE("a receipt of another hash") { receipt_answer.as_object()["transactionHash"] = word(1); }
  SUBCASE("two blocks") { receipt_answer.as_object()["blockHash"] = word(1); }
  SUBCASE("a height without a block") {
    receipt_answer.as_object()["blockNumber"] = "0x400";
    tx_answer.as_object()["blockNumber"] = "0x400";
  }
  bench.node.overrides["eth_getTransactionByHash"] = always(tx_answer);
  bench.node.overrides["eth_getTransactionReceipt"] = always(receipt_answer);
  CHECK(run(bench.chain.find(hash)).unknown() != nullptr);
}

TEST_CASE("chain: the final transaction at a sequence is found, wherever it stands") {
  Bench bench;
  FakeNode& node = bench.node;
  node = FakeNode(5000);
  node.finalized = 4990;
  std::vector<domain::TxHash> hashes;
  const std::vector<std::uint64_t> heights{1, 2, 2, 2, 700, 4000, 4989, 4990, 4991};
  hashes.reserve(heights.size());
  for (std::uint64_t nonce = 0; nonce < heights.size(); ++nonce) {
    hashes.push_back(node.add(heights[nonce], token_transfer(nonce, nonce + 1)));
  }
  for (std::uint64_t nonce = 0; nonce < 8; ++nonce) {
    CAPTURE(nonce);
    node.asked.clear();
    const auto found = run(bench.chain.consumer({alice}, {nonce}));
    REQUIRE(found.ok() != nullptr);
    REQUIRE(*found.ok());
    CHECK((*found.ok())->hash == hashes[nonce]);
    CHECK((*found.ok())->sequence.value == nonce);
    CHECK((*found.ok())->block.height == heights[nonce]);
    CHECK(node.asked.size() <= 30);
  }
  // In a block that is not final, and not sent at all.
  for (const std::uint64_t nonce : {8, 9}) {
    const auto found = run(bench.chain.consumer({alice}, {nonce}));
    REQUIRE(found.ok() != nullptr);
    CHECK_FALSE(*found.ok());
  }
}

TEST_CASE("chain: a consumer is searched in few calls over millions of blocks") {
  Bench bench;
  const std::uint64_t top = 1ULL << 22;
  const std::uint64_t height = top - 3'000'000;
  std::size_t calls = 0;
  bench.node.overrides["eth_getBlockByNumber"] = [&](const json::array& params) -> Answer {
    const bool tagged = params.at(0) == "finalized";
    const std::string number = tagged ? quantity(top) : std::string(params.at(0).as_string());
    return json::value{{"number", number},
                       {"hash", word(3)},
                       {"parentHash", word(2)},
                       {"timestamp", "0x1"},
                       {"transactions", json::array{}}};
  };
  bench.node.overrides["eth_getBlockReceipts"] = always(json::value(json::array{}));
  bench.node.overrides["eth_getTransactionCount"] = [&](const json::array& params) -> Answer {
    ++calls;
    const auto at = U256::from_0x(params.at(1).as_string())->to_u64();
    return json::value(*at >= height ? "0x1" : "0x0");
  };
  // The block has no transaction of the account: the number was spent in another way.
  const auto found = run(bench.chain.consumer({alice}, {0}));
  REQUIRE(found.ok() != nullptr);
  CHECK_FALSE(*found.ok());
  CHECK(calls <= 40);
  CHECK(std::string(bench.node.asked.back().second.at(0).as_string()) == quantity(height));
}

TEST_CASE("chain: a node that does not keep old state makes the consumer unknown") {
  Bench bench;
  bench.node.add(10, token_transfer(0, 1));
  bench.node.overrides["eth_getTransactionCount"] = [&](const json::array& params) -> Answer {
    if (params.at(1) == "0x5a") return json::value("0x1");
    return ports::Unknown{"missing trie node", false};
  };
  CHECK(reason(run(bench.chain.consumer({alice}, {0}))) == "missing trie node");
}
