// Cases B: what a node did with a transaction is not known, and what is done about it.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

void unknown_then_settled(const test::Fault& fault) {
  Rig rig;
  rig.proxy->add({.method = send_raw, .fault = fault});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }));
  const json::value unknown = rig.detail(one.id);
  CHECK(text_of(unknown, "state") == "settling");
  CHECK(unknown.at("journal").as_array().size() == 1);
  CHECK(text_of(unknown.at("slot"), "state") == "signed");
  CHECK(text_of(unknown.at("attempts").at(0), "hash") == rig.proxy->raws()[0].hash);
  CHECK(rig.reaches(one.id, "confirming", 12'000));
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  rig.check_all();
}

/// Killed there with one payment on its way, started again: paid once, with one body.
void killed_around_the_send(const std::string& kill_at) {
  Options options;
  options.blocks = Blocks::at_once;
  Rig rig(options);
  rig.start(kill_at);
  const Payment one = rig.payout();
  REQUIRE(rig.dies_within(10'000));
  CHECK(rig.store().number("SELECT count(*) FROM attempts WHERE length(bytes) > 0") == 1);
  rig.start();
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  CHECK(rig.raws_of(one).size() <= 2);
  rig.check_all();
}

}  // namespace

TEST_CASE("B1: a send timed out though the node took it") {
  unknown_then_settled(test::hold(60'000));
}

TEST_CASE("B1: a send timed out that the node never got") { unknown_then_settled(test::swallow()); }

TEST_CASE("B5: killed when the request was written and no answer read") {
  killed_around_the_send("KP4");
}

TEST_CASE("B5: killed when the answer was read and not stored") { killed_around_the_send("KP5"); }

TEST_CASE("B6: the reply of a send is lost and the node then says nonce too low") {
  Options options;
  options.blocks = Blocks::at_once;
  Rig rig(options);
  // The looks for the own hash find nothing at first, so that the bytes go out again.
  rig.proxy->add({.method = send_raw, .calls = 2, .fault = test::drop_reply()});
  for (const char* method : {"eth_getTransactionReceipt", "eth_getTransactionByHash"}) {
    rig.proxy->add({.method = method, .calls = 6, .fault = test::result(nullptr)});
  }
  // Nor does its block tell, which may be read first where the machine is busy.
  rig.proxy->add({.method = "eth_getBlockReceipts", .calls = 2, .fault = test::drop_reply()});
  rig.start();
  const Payment one = rig.payout();
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  const auto raws = rig.raws_of(one);
  CHECK(std::ranges::any_of(raws, [](const test::SentRaw& raw) {
    return raw.answer.find("nonce too low") != std::string::npos;
  }));
  CHECK(rig.nonce(rig.relayers[0]) == 1);
  rig.check_all();
}

TEST_CASE("B7: one node's null about a transaction that is alive proves nothing") {
  Rig rig;
  // Twice: the client itself repeats an exchange once, on another connection.
  rig.proxy->add({.method = send_raw, .calls = 2, .fault = test::drop_reply()});
  for (const char* method : {"eth_getTransactionReceipt", "eth_getTransactionByHash"}) {
    rig.proxy->add({.method = method, .calls = 20, .fault = test::result(nullptr)});
  }
  rig.start();
  const Payment one = rig.payout();
  // Looked for, not found, and its own bytes again: nothing else.
  REQUIRE(test::within_ms(15'000, [&] { return rig.raws_of(one).size() >= 3; }));
  test::pause_ms(1'000);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 1);
  CHECK(rig.mine_until(one, "settled", 30'000));
  CHECK(rig.transfers(one) == 1);
  rig.check_all();
}

TEST_CASE("B8: refused for want of funds, kept all the same, and mined later") {
  Options options;
  options.scripted = true;
  options.stuck_after_ms = 2'000;
  Rig rig(options);
  rig.node->hold_pool(true);
  rig.node->judge([](const evm::SignedTransaction&) {
    return test::ScriptedNode::Verdict{
        true, {-32000, "insufficient funds for gas * price + value: balance 0"}};
  });
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }));
  for (int i = 0; i < 10; ++i) {
    rig.mine();
    test::pause_ms(300);
    const std::string state = rig.state(one.id);
    CHECK((state == "settling" || state == "confirming"));
  }
  CHECK(rig.store().number("SELECT count(*) FROM entries") == 1);
  CHECK(rig.store().number("SELECT count(DISTINCT slot) FROM attempts") == 1);
  rig.node->hold_pool(false);
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  Allowed allowed;
  allowed.more_bodies = true;  // a dearer one at the same number is as good
  rig.check_all(allowed);
}
