// The tools of the cases themselves: a fault that does not happen would make every case green.
#include <signal.h>

#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "rig.hpp"

using namespace holdfast;
using namespace holdfast::cases;

namespace {

json::object request(int id, const char* method) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", json::array{}}};
}

test::HttpClient::Answer ask(const test::FaultProxy& proxy, const json::value& body,
                             std::int64_t patience_ms = 3'000) {
  test::HttpClient client(proxy.port(), patience_ms);
  return client.ask("POST", "/", {}, json::serialize(body));
}

}  // namespace

TEST_CASE("tools: the proxy's faults come at the call they were told for, and only there") {
  test::ScriptedNode node;
  test::FaultProxy proxy(node.port());
  const json::value block = request(1, "eth_blockNumber");
  proxy.add({.method = "eth_blockNumber", .from = 2, .calls = 1, .fault = test::result("0x99")});
  proxy.add({.method = "eth_chainId", .calls = 0, .fault = test::http_error(429, 2)});
  CHECK(ask(proxy, block).message.body.find("0x99") == std::string::npos);
  CHECK(ask(proxy, block).message.body.find("0x99") != std::string::npos);
  CHECK(ask(proxy, block).message.body.find("0x99") == std::string::npos);
  const auto limited = ask(proxy, request(1, "eth_chainId"));
  CHECK(limited.status == 429);
  CHECK(limited.message.header("retry-after") == "2");
  proxy.heal();
  CHECK(ask(proxy, request(1, "eth_chainId")).status == 200);
  CHECK(proxy.calls("eth_blockNumber") == 3);
}

TEST_CASE("tools: in a batch a fault is the one call's, and the others are answered") {
  test::ScriptedNode node;
  test::FaultProxy proxy(node.port());
  proxy.add({.method = "eth_chainId", .fault = test::swallow()});
  const json::array batch{request(7, "eth_chainId"), request(8, "eth_blockNumber")};
  const auto answer = json::parse(ask(proxy, batch).message.body);
  REQUIRE(answer.as_array().size() == 1);
  CHECK(answer.at(0).at("id") == 8);
}

TEST_CASE("tools: a call alone is cut, dropped, swallowed, delayed, doubled, dripped") {
  test::ScriptedNode node;
  int asked = 0;
  node.script("eth_chainId", [&](const json::array&) {
    ++asked;
    return test::ScriptedNode::Scripted{};
  });
  test::FaultProxy proxy(node.port());
  const auto status_under = [&](test::Fault fault) {
    proxy.heal();
    proxy.add({.fault = std::move(fault)});
    asked = 0;
    return ask(proxy, request(1, "eth_chainId"), 400).status;
  };
  CHECK(status_under(test::cut()) == 0);
  CHECK(asked == 0);
  CHECK(status_under(test::swallow()) == 0);
  CHECK(asked == 0);
  CHECK(status_under(test::drop_reply()) == 0);
  CHECK(asked == 1);
  CHECK(status_under(test::hold(1'000)) == 0);
  CHECK(asked == 1);
  CHECK(status_under(test::delay(100)) == 200);
  CHECK(status_under(test::duplicate()) == 200);
  CHECK(asked == 2);
  CHECK(status_under(test::drip(5)) == 200);
  CHECK(status_under(test::html_page(503)) == 503);
  CHECK(asked == 0);
}

TEST_CASE("tools: the scripted node keeps the pool's rules") {
  test::ScriptedNodeOptions options;
  options.refuse_gaps = true;
  test::ScriptedNode node(options);
  const Person sender = new_person();
  node.give_native(sender.address, U256(1'000'000'000'000'000'000ULL));
  const auto key = evm::SecretKey::parse(sender.key);
  const auto send = [&](std::uint64_t nonce, std::uint64_t fee, std::uint64_t tip) {
    evm::Transaction1559 tx;
    tx.chain_id = 31337;
    tx.nonce = nonce;
    tx.max_fee = fee;
    tx.max_priority_fee = tip;
    tx.gas_limit = 60'000;
    const std::string raw = to_0x(evm::encode_signed(tx, evm::sign(evm::signing_digest(tx), *key)));
    test::HttpClient client(node.port());
    json::object body = request(1, "eth_sendRawTransaction");
    body["params"] = json::array{raw};
    const auto answer =
        json::parse(client.ask("POST", "/", {}, json::serialize(body)).message.body);
    const json::value* const error = answer.as_object().if_contains("error");
    return error == nullptr ? std::string("ok") : std::string(error->at("message").as_string());
  };
  CHECK(send(1, 2'000'000'000, 1'000).starts_with("nonce too high"));
  CHECK(send(0, 2'000'000'000, 1'000) == "ok");
  CHECK(send(0, 2'000'000'000, 1'000) == "already known");
  CHECK(send(0, 2'199'999'999, 1'100) == "replacement transaction underpriced");
  CHECK(send(0, 2'200'000'000, 1'099) == "replacement transaction underpriced");
  CHECK(send(0, 2'200'000'000, 1'100) == "ok");
  CHECK(send(1, 2'000'000'000, 1'000) == "ok");
  node.set_base_fee(3'000'000'000);
  node.mine();
  CHECK(node.pool().size() == 2);  // stuck, and alive
  node.set_base_fee(1'000'000'000);
  node.mine();
  CHECK(node.pool().empty());
  CHECK(node.account_nonce(sender.address) == 2);
  CHECK(send(1, 2'000'000'000, 1'000).starts_with("nonce too low"));
  node.reorg(1, true);
  CHECK(node.pool().size() == 2);
  node.delegate(sender.address);
  CHECK(send(2, 2'000'000'000, 1'000).starts_with("in-flight transaction limit"));
}

TEST_CASE("tools: a payment of each method goes the whole way on the scripted node") {
  Options options;
  options.scripted = true;
  Rig rig(options);
  rig.start();
  const Payment out = rig.payout();
  const Payment in = rig.authorized();
  CHECK(rig.mine_until({out, in}, "settled"));
  CHECK(rig.transfers(out) == 1);
  CHECK(rig.transfers(in) == 1);
  CHECK(rig.node->token_balance(rig.token, rig.merchant.address) == 2'000'000);
  rig.check_all();
}

namespace {

/// How many of these texts begin with each id, as "Q1" or "B10" followed by `end`.
std::map<std::string, int> by_id(const std::vector<std::string>& texts, const std::string& end) {
  std::map<std::string, int> out;
  for (const std::string& text : texts) {
    const std::size_t size = text.find(end);
    if (size != 2 && size != 3) continue;
    const bool is_id =
        text[0] >= 'A' && text[0] <= 'Z' && text.find_first_not_of("0123456789", 1) == size;
    if (is_id) ++out[text.substr(0, size)];
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("tools: the table has every case with as many tests as there are, and no other") {
  std::string listed;
  REQUIRE(run_binary("/proc/self/exe", {"--list-test-cases"}, &listed) == 0);
  const auto there = by_id(lines_of(listed), ": ");
  CHECK(there.size() == 64);
  const std::string table = test::content_of(HOLDFAST_SOURCE_DIR "/tests/cases/README.md");
  std::map<std::string, int> told;
  for (const std::string& line : lines_of(table)) {
    // "| Q1  | 4 | …"
    if (!line.starts_with("| ")) continue;
    const auto id = by_id({line.substr(2)}, " ");
    const std::size_t second = line.find("| ", 2);
    if (!id.empty()) told[id.begin()->first] = std::stoi(line.substr(second + 2));
  }
  for (const auto& [id, tests] : told) {
    CAPTURE(id);
    CHECK((there.contains(id) ? there.at(id) : 0) == tests);
  }
  for (const auto& [id, tests] : there) CHECK_MESSAGE(told.contains(id), id);
}

TEST_CASE("tools: a kill point kills at the pass it names") {
  Rig rig;
  rig.start("KP2:2");
  rig.payout();
  CHECK_FALSE(rig.dies_within(1'000));
  rig.payout();
  CHECK(rig.dies_within(5'000));
  CHECK(rig.server().wait(1'000).by_signal == SIGKILL);
}
