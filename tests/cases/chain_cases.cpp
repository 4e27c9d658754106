// Cases F and B about chains that break their word: finality taken back, receipts that never come,
// and an endpoint that keeps transactions to itself.
#include <algorithm>

#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

std::string why_unusable(Rig& rig) {
  return text_of(rig.ask("GET", "/v1/chains").body.at("chains").at(0), "why");
}

/// The node says that it took the bytes, and nobody ever hears of them.
test::Fault kept_to_itself() {
  test::Fault out;
  out.verb = test::Fault::Verb::answer;
  out.change = [](json::object& answer, const json::object& request) {
    const std::string raw(request.at("params").at(0).as_string());
    answer["result"] = evm::tx_hash(*from_hex(raw)).hex();
  };
  return out;
}

}  // namespace

TEST_CASE(
    "F7: a reorganisation below finality: nothing is undone, and nothing goes out by itself") {
  Rig rig;
  rig.mine(8);
  rig.start();
  const std::vector<Payment> paid = rig.payouts(3);
  REQUIRE(rig.mine_until(paid, "settled"));
  const auto entries = rig.store().rows("SELECT sequence, hash FROM entries");
  const std::size_t sent = rig.proxy->raws().size();
  const json::value receipt =
      rig.rpc("eth_getTransactionReceipt", json::array{rig.raws_of(paid[0]).front().hash});
  const auto height = [](const json::value& quantity) {
    return *U256::from_0x(quantity.as_string())->to_u64();
  };
  const std::uint64_t depth =
      height(rig.rpc("eth_blockNumber")) - height(receipt.at("blockNumber")) + 1;
  REQUIRE(depth >= 3);
  rig.rpc("anvil_reorg", json::array{depth + 1, json::array{}});
  REQUIRE_FALSE(rig.is_mined(rig.raws_of(paid[0]).front().hash));
  rig.mine();
  CHECK(test::within_ms(5'000,
                        [&] { return why_unusable(rig).find("was final") != std::string::npos; }));
  CHECK(rig.logged("finality_violated"));
  const Payment next = rig.payout();
  for (int i = 0; i < 8; ++i) {
    rig.mine();
    test::pause_ms(300);
  }
  const auto nothing_moved = [&] {
    for (const Payment& one : paid) CHECK(rig.state(one.id) == "settled");
    CHECK(rig.state(next.id) == "authorized");
    CHECK(rig.store().rows("SELECT sequence, hash FROM entries") == entries);
    CHECK(rig.store().number("SELECT count(*) FROM slots WHERE state ="
                             " 'reconciliation_required'") == 3);
    CHECK(rig.store().number("SELECT count(*) FROM slots") == 3);
    CHECK(rig.proxy->raws().size() == sent);
  };
  nothing_moved();
  // Not over a restart either.
  rig.kill();
  rig.start_unready();
  test::pause_ms(2'000);
  nothing_moved();
  const Answer answer = rig.ask("POST", "/v1/chains/eip155:31337/acknowledge",
                                R"({"reason":"seen, and told"})", "acknowledge");
  CHECK_MESSAGE(answer.status == 200, answer.text);
  CHECK(test::within_ms(5'000,
                        [&] { return why_unusable(rig).find("was final") == std::string::npos; }));
  Allowed allowed;
  allowed.unpaired_transfers = true;
  allowed.unsettled = true;
  allowed.queued = true;
  allowed.more_bodies = true;
  rig.check_all(allowed);
}

namespace {

/// Nothing of any transaction is in a block, in a receipt or in a pool; counts are as they are.
void hide_transactions(Rig& rig) {
  for (const char* method : {"eth_getTransactionReceipt", "eth_getTransactionByHash"}) {
    rig.proxy->add({.method = method, .calls = 0, .fault = test::result(nullptr)});
  }
  const auto nothing = [](json::object& answer, const json::object&) {
    json::value* const result = answer.if_contains("result");
    if (result != nullptr && result->is_object()) {
      result->as_object()["transactions"] = json::array{};
    } else if (result != nullptr) {
      *result = json::array{};
    }
  };
  for (const char* method : {"eth_getBlockByNumber", "eth_getBlockReceipts", "eth_getLogs"}) {
    rig.proxy->add({.method = method, .calls = 0, .fault = test::rewrite(nothing)});
  }
}

/// Mined, final, and no receipt for it: in review when `review_after` has passed.
Payment used_and_unread(Rig& rig) {
  rig.options.review_after_ms = 10'000;
  rig.options.stuck_after_ms = 2'000;
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  hide_transactions(rig);
  rig.mine(14);  // a second of chain time each
  CHECK(rig.mine_until(one, "needs_review", 30'000));
  const json::value detail = rig.detail(one.id);
  CHECK(text_of(detail, "reason") == "no_receipt");
  CHECK(text_of(detail.at("slot"), "state") == "reconciliation_required");
  CHECK(detail.at("journal").as_array().size() == 1);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 1);
  for (const test::SentRaw& raw : rig.proxy->raws()) CHECK(raw.nonce == 0);
  CHECK(rig.logged("needs_review"));
  return one;
}

}  // namespace

TEST_CASE("F8: a number used with finality and no receipt waits, and is settled when one comes") {
  Rig rig;
  const Payment one = used_and_unread(rig);
  rig.proxy->heal();
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  rig.check_all();
}

TEST_CASE("F8: a receipt that never comes leaves the payment in review, and the next one goes on") {
  Rig rig;
  const Payment one = used_and_unread(rig);
  for (int i = 0; i < 10; ++i) {
    rig.mine();
    test::pause_ms(300);
  }
  CHECK(rig.state(one.id) == "needs_review");
  // Nobody can say that it failed: an operator's word is no proof.
  const Answer answer = rig.ask("POST", "/v1/payment_intents/" + one.id + "/resolve",
                                R"({"as":"failed","reason":"nothing is to be seen"})", "resolve");
  CHECK(answer.status >= 400);
  CHECK(answer.status < 500);
  CHECK(rig.state(one.id) == "needs_review");
  CHECK(rig.store().number("SELECT count(*) FROM entries") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 1);
  rig.proxy->heal();
  CHECK(rig.mine_until(one, "settled"));
  rig.check_all();
}

TEST_CASE("B10: an endpoint that keeps the bytes to itself is not the only one that gets them") {
  Options options;
  options.proxy_too = true;
  options.stuck_after_ms = 2'000;
  Rig rig(options);
  rig.proxy->add({.method = send_raw, .calls = 0, .fault = kept_to_itself()});
  // At first the other is not to be reached.
  rig.second->add({.method = send_raw, .calls = 0, .fault = test::cut()});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  CHECK(rig.nonce(rig.relayers[0], "pending") == 0);
  rig.second->heal();
  CHECK(test::within_ms(12'000, [&] { return rig.nonce(rig.relayers[0], "pending") == 1; }));
  std::vector<test::SentRaw> all = rig.proxy->raws();
  for (test::SentRaw& raw : rig.second->raws()) all.push_back(std::move(raw));
  for (const test::SentRaw& raw : all) {
    CHECK(raw.nonce == 0);
    CHECK(raw.raw == all.front().raw);
  }
  CHECK(rig.mine_until(one, "settled"));
  CHECK(text_of(rig.detail(one.id), "tx_hash") == all.front().hash);
  CHECK(rig.transfers(one) == 1);
  rig.check_all();
}
