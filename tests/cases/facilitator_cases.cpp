// Cases X about what a stranger can cost, and about where can be settled at all.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "x402_buyer.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string bad_terms = "invalid_payment_requirements";

std::string word4(std::uint64_t number) {
  const auto bytes = U256(number).big_endian();
  return to_hex(ByteView(bytes).subspan(28));
}

/// A contract that answers for its domain as the rig's token would at its place, knows of no used
/// authorization, and burns `gas` of every other call in block `from_block` and later.
std::string burner(std::uint64_t gas, std::uint64_t from_block) {
  const std::string address = new_person().address;
  const evm::Domain domain{"Case Token", "1", 31337, *evm::Address20::from_text(address)};
  std::string code = "5f3560e01c";                                  // the selector
  code += "80633644e51514603b57";                                   // DOMAIN_SEPARATOR: 3b
  code += "8063e94a010214606357";                                   // authorizationState: 63
  code += "63" + word4(from_block) + "4310603257";                  // before that block: 32
  code += "5a5b805a900363" + word4(gas) + "11602457";               // burns, around 24
  code += "5b60015f5260205ff3";                                     // 32: true
  code += "5b7f" + evm::domain_separator(domain).hex().substr(2) + "5f5260205ff3";  // 3b
  code += "5b5f5f5260205ff3";                                       // 63: false
  shared_anvil().call("anvil_setCode", json::array{address, "0x" + code});
  return address;
}

std::string asset_table(const std::string& address) {
  return "[[chain.asset]]\naddress = \"" + address + "\"\nname = \"Case Token\"\nversion = \"1\"\n";
}

Purchase in_asset(const Rig& rig, const std::string& address) {
  Purchase out(rig);
  out.asset = address;
  out.domain.verifying_contract = *evm::Address20::from_text(address);
  return out;
}

std::uint64_t height(const Rig& rig) {
  return U256::from_0x(rig.rpc("eth_blockNumber").as_string())->to_u64().value_or(0);
}

}  // namespace

TEST_CASE("X12: strangers, unknown assets and payees, and dear contracts burn none of our gas") {
  Rig rig(settling());
  const std::string dear = burner(28'000'000, 0);
  rig.options.more_assets = asset_table(dear);
  rig.options.more_tables += "payees = [\"" + rig.merchant.address + "\"]\n";
  rig.start();
  const auto balance = [&] {
    return text_of(json::object{{"of", rig.rpc("eth_getBalance",
                                               json::array{rig.relayers[0].address, "latest"})}},
                   "of");
  };
  const std::string before = balance();
  const Purchase good(rig);
  CHECK(verify(rig, good, "hf_wrong").status == 401);
  const Answer stranger = settle(rig, good, "", "hf_wrong");
  CHECK(stranger.status == 401);
  CHECK_FALSE(is_success(stranger));
  Purchase unknown = in_asset(rig, elsewhere);
  CHECK_FALSE(agreed(rig, unknown));
  CHECK(reason_of(settle(rig, unknown)) == bad_terms);
  Purchase other_payee(rig);
  other_payee.pay_to = elsewhere;
  other_payee.terms.to = *evm::Address20::from_text(elsewhere);
  CHECK_FALSE(agreed(rig, other_payee));
  CHECK(reason_of(settle(rig, other_payee)) == bad_terms);
  CHECK_FALSE(agreed(rig, in_asset(rig, dear)));
  CHECK(balance() == before);
  check_nothing_begun(rig);
  rig.check_all();
}

TEST_CASE("X12: a contract that is dear only when it is mined costs no more than the cap") {
  Options options = settling();
  options.deadline_ms = 6'000;
  Rig rig(options);
  const std::uint64_t from_block = height(rig) + 6;
  const std::string trap = burner(5'000'000, from_block);
  rig.options.more_assets = asset_table(trap);
  rig.proxy->add({.method = "eth_sendRawTransaction", .fault = test::delay(5'000)});
  rig.start();
  const Answer answer = settle(rig, in_asset(rig, trap));
  CHECK_FALSE(is_success(answer));
  REQUIRE(rig.proxy->raws().size() == 1);
  CHECK(hash_of(answer) == rig.proxy->raws().front().hash);
  const json::value receipt = rig.rpc("eth_getTransactionReceipt", json::array{hash_of(answer)});
  REQUIRE(receipt.is_object());
  CHECK(text_of(receipt, "status") == "0x0");
  CHECK(*U256::from_0x(receipt.at("gasUsed").as_string()) <= U256(1'000'000));
  CHECK(rig.moved().empty());
  Allowed allowed;
  allowed.unsettled = true;  // the payer's signature is good for minutes yet
  rig.check_all(allowed);
}

namespace {

const std::string network_b = "eip155:31338";

/// A second chain, on a node of its own behind a proxy of its own.
struct ChainB {
  test::ScriptedNode node{{.chain_id = 31338, .block_ms = 500}};
  test::FaultProxy proxy{node.port()};
  Person relayer = new_person();
  std::string token = new_person().address;

  std::string table(const Rig& rig) {
    node.add_token(token, "Case Token", "1");
    const std::string file = rig.folder() + "/account_b.key";
    std::ofstream(file) << relayer.key << "\n";
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    return "[[chain]]\nid = \"" + network_b + "\"\nrpc_url = \"" + proxy.url() +
           "\"\nrpc_deadline_ms = 1000\npoll_ms = 200\n" + asset_table(token) +
           "[[chain.account]]\nkey_file = \"" + file + "\"\n";
  }
  void fund() { node.give_native(relayer.address, *U256::from_decimal("10000000000000000000")); }
  Purchase purchase(const Rig& rig) {
    Purchase out = in_asset(rig, token);
    node.give_token(token, rig.payer.address, U256(start_tokens));
    out.network = network_b;
    out.domain.chain_id = 31338;
    return out;
  }
};

bool lists(Rig& rig, const std::string& network) {
  const Answer answer = rig.ask("GET", "/x402/supported");
  REQUIRE(answer.status == 200);
  for (const json::value& kind : answer.body.at("kinds").as_array()) {
    if (text_of(kind, "network") == network) return true;
  }
  return false;
}

void check_b_is_out(Rig& rig, ChainB& b) {
  CHECK(test::within_ms(15'000, [&] { return !lists(rig, network_b); }, 100));
  CHECK(lists(rig, "eip155:31337"));
  const Purchase purchase = b.purchase(rig);
  for (const Answer& answer : {verify(rig, purchase), settle(rig, purchase)}) {
    CAPTURE(answer.text);
    CHECK(answer.status == 200);
    CHECK(reason_of(answer) == "invalid_network");
    CHECK(hash_of(answer).empty());
  }
  CHECK(is_success(settle(rig, Purchase(rig))));
}

void check_b_is_back(Rig& rig, ChainB& b) {
  CHECK(test::within_ms(40'000, [&] { return lists(rig, network_b); }, 200));
  const Answer answer = settle(rig, b.purchase(rig));
  CHECK_MESSAGE(is_success(answer), answer.text);
}

}  // namespace

TEST_CASE("X14: a network that cannot settle is not listed, by name, and is back once repaired") {
  Rig rig(settling());
  ChainB b;
  b.fund();
  rig.options.more_tables += b.table(rig);
  rig.start();
  check_b_is_back(rig, b);
  const Answer supported = rig.ask("GET", "/x402/supported");
  CHECK(supported.text.find(rig.relayers[0].address) != std::string::npos);
  CHECK(supported.text.find(b.relayer.address) != std::string::npos);

  b.proxy.add({.calls = 0, .fault = test::cut()});
  check_b_is_out(rig, b);
  b.proxy.heal();
  check_b_is_back(rig, b);

  b.proxy.add({.method = "eth_chainId", .calls = 0, .fault = test::answer_result("0x5")});
  b.proxy.add({.from = 1, .calls = 3, .fault = test::cut()});  // so that it is asked again at once
  check_b_is_out(rig, b);
  b.proxy.heal();
  check_b_is_back(rig, b);

  b.node.give_native(b.relayer.address, U256(0));
  check_b_is_out(rig, b);
  b.fund();
  check_b_is_back(rig, b);
  CHECK(test::within_ms(20'000, [&] { return open_payments(rig) == 0; }, 100));
  CHECK(rig.stop(SIGTERM).code == 0);
}
