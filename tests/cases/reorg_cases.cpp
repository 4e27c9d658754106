// Cases F: what was mined is taken back, moved, hidden, or did nothing.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

bool history_says(const json::value& detail, const std::string& to, const std::string& reason) {
  for (const json::value& step : detail.at("history").as_array()) {
    if (text_of(step, "to") == to && text_of(step, "reason") == reason) return true;
  }
  return false;
}

/// Of the payment itself: what gas cost is beside it.
std::size_t journal_size(Rig& rig, const Payment& one) {
  std::size_t out = 0;
  const json::value detail = rig.detail(one.id);
  for (const json::value& entry : detail.at("journal").as_array()) {
    if (text_of(entry, "kind") != "gas") ++out;
  }
  return out;
}

std::uint64_t height_of(const json::value& quantity) {
  return U256::from_0x(quantity.as_string())->to_u64().value_or(0);
}

}  // namespace

TEST_CASE("F1: a transaction that a reorganisation took back goes out again, and is paid once") {
  Rig rig;
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  rig.mine();
  REQUIRE(rig.is_mined(rig.raws_of(one).front().hash));
  test::pause_ms(600);
  const auto hold = rig.detail(one.id).at("journal").as_array();
  REQUIRE(hold.size() == 1);
  rig.rpc("anvil_reorg", json::array{1, json::array{}});
  CHECK_FALSE(rig.is_mined(rig.raws_of(one).front().hash));
  CHECK(test::within_ms(15'000, [&] { return rig.raws_of(one).size() >= 2; }));
  CHECK(history_says(rig.detail(one.id), "settling", "reorg"));
  CHECK(rig.detail(one.id).at("journal").as_array() == hold);
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.detail(one.id).at("journal").at(0) == hold[0]);
  CHECK(rig.transfers(one) == 1);
  rig.check_all();
}

TEST_CASE("F2: a transaction that moved to another block counts from there") {
  Rig rig;
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  const std::string raw = rig.raws_of(one).front().raw;
  rig.mine(2);
  test::pause_ms(600);
  CHECK(rig.state(one.id) == "confirming");
  json::array pairs;
  pairs.emplace_back(json::array{raw, 1});
  rig.rpc("anvil_reorg", json::array{2, pairs});
  test::pause_ms(800);
  // Final so far: the block below the one that has it now.
  rig.mine();
  test::pause_ms(800);
  CHECK(rig.state(one.id) == "confirming");
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.raws_of(one).size() == 1);
  CHECK(journal_size(rig, one) == 2);
  rig.check_all();
}

TEST_CASE("F2: a receipt of a block that is canonical no more is not counted") {
  Rig rig;
  const std::string stale = "0x" + std::string(64, '7');
  const auto age = [stale](json::object& answer, const json::object&) {
    json::value* const result = answer.if_contains("result");
    if (result == nullptr) return;
    if (result->is_object()) result->get_object()["blockHash"] = stale;
    if (!result->is_array()) return;
    for (json::value& receipt : result->get_array()) receipt.as_object()["blockHash"] = stale;
  };
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  for (const char* method : {"eth_getTransactionReceipt", "eth_getBlockReceipts"}) {
    rig.proxy->add({.method = method, .calls = 0, .fault = test::rewrite(age)});
  }
  rig.mine(5);
  test::pause_ms(2'000);
  CHECK((rig.state(one.id) == "confirming" || rig.state(one.id) == "settling"));
  CHECK(journal_size(rig, one) == 1);
  rig.proxy->heal();
  CHECK(rig.mine_until(one, "settled"));
  CHECK(journal_size(rig, one) == 2);
  rig.check_all();
}

TEST_CASE("F4: a finalized height that goes down undoes nothing") {
  Rig rig;
  rig.start();
  const Payment first = rig.payout();
  CHECK(rig.mine_until(first, "settled"));
  rig.mine(8);
  const std::uint64_t top = height_of(rig.rpc("eth_blockNumber"));
  std::vector<json::value> told;
  for (const std::uint64_t behind : {7, 3, 9, 2}) {
    told.push_back(
        rig.rpc("eth_getBlockByNumber", json::array{U256(top - behind).quantity(), false}));
  }
  const auto asks_finalized = [](const json::object& request) {
    return request.at("params").at(0) == "finalized";
  };
  for (std::size_t i = 0; i < told.size(); ++i) {
    const int from = static_cast<int>(i) * 3 + 1;
    rig.proxy->add({.method = "eth_getBlockByNumber",
                    .from = from,
                    .calls = i + 1 == told.size() ? 0 : 3,
                    .fault = test::result(told[i]),
                    .when = asks_finalized});
  }
  const auto finalized = [&] {
    const Answer chains = rig.ask("GET", "/v1/chains");
    return chains.body.at("chains").at(0).at("finalized").to_number<std::uint64_t>();
  };
  std::uint64_t highest = 0;
  const auto never_lower = [&] {
    const std::uint64_t now = finalized();
    CHECK(now >= highest);
    highest = std::max(highest, now);
    return false;
  };
  test::within_ms(4'000, never_lower, 50);
  CHECK(rig.state(first.id) == "settled");
  const Payment second = rig.payout();
  REQUIRE(rig.reaches(second.id, "confirming"));
  rig.proxy->heal();
  CHECK(rig.mine_until(second, "settled"));
  CHECK(rig.state(first.id) == "settled");
  rig.check_all();
}

TEST_CASE("F9: a payout that was mined and reverted is no payment: failed, and its hold voided") {
  Rig rig;
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  rig.set_token_balance(rig.relayers[0], 0);
  rig.mine();
  test::pause_ms(600);
  CHECK(journal_size(rig, one) == 1);
  CHECK(rig.mine_until(one, "failed"));
  const json::value detail = rig.detail(one.id);
  CHECK(text_of(detail, "reason") == "reverted");
  CHECK(text_of(detail, "tx_hash") == rig.raws_of(one).front().hash);
  CHECK(text_of(detail.at("slot"), "state") == "consumed");
  CHECK(rig.transfers(one) == 0);
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'void'") == 1);
  CHECK(rig.proxy->raws().size() == 1);
  rig.check_all();
}

namespace {

/// A bearer payment whose transaction of ours reverted with finality.
Payment reverted_bearer(Rig& rig) {
  rig.start();
  const Payment one = rig.authorized();
  REQUIRE(rig.reaches(one.id, "confirming"));
  rig.set_token_balance(rig.payer, 0);
  for (int i = 0; i < 5; ++i) {
    rig.mine();
    test::pause_ms(400);
  }
  CHECK(test::within_ms(
      5'000, [&] { return text_of(rig.detail(one.id).at("slot"), "state") == "consumed"; }));
  CHECK(rig.state(one.id) == "settling");
  CHECK(journal_size(rig, one) == 1);
  CHECK(rig.proxy->raws().size() == 1);
  return one;
}

Options scripted() {
  Options options;
  options.scripted = true;
  return options;
}

}  // namespace

TEST_CASE("F9: a reverted authorization that is still live stays open until its end is final") {
  Rig rig(scripted());
  const Payment one = reverted_bearer(rig);
  rig.node->set_time_ahead(7'200);
  CHECK(rig.mine_until(one, "failed", 30'000));
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'void'") == 1);
  CHECK(rig.transfers(one) == 0);
  CHECK(rig.proxy->raws().size() == 1);
  rig.check_all();
}

TEST_CASE("F9: a reverted authorization that somebody else runs is settled by their transaction") {
  Rig rig(scripted());
  const Payment one = reverted_bearer(rig);
  rig.set_token_balance(rig.payer, 5'000'000);
  const Person stranger = new_person();
  rig.fund(stranger);
  const auto ours = evm::decode_signed(*from_hex(rig.proxy->raws().front().raw));
  REQUIRE(ours.has_value());
  const std::string theirs = signed_raw(stranger, 0, rig.token, ours->tx.data);
  rig.node->push_raw(theirs);
  CHECK(rig.mine_until(one, "settled", 30'000));
  CHECK(text_of(rig.detail(one.id), "tx_hash") == evm::tx_hash(*from_hex(theirs)).hex());
  CHECK(rig.transfers(one) == 1);
  CHECK(rig.proxy->raws().size() == 1);
  rig.check_all();
}
