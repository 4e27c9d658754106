// Contract wallets that pay by transfer_authorization, and why a token refuses.
#include <doctest/doctest.h>

#include "evm/methods/wallet_signature.hpp"
#include "evm/methods_authorization.hpp"
#include "evm/multicall3.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::VerifyError;

namespace {

constexpr ports::Moment inside{window_after_s + 100, window_after_s + 95};
const Address20 factory = *Address20::from_text(carol);

/// abi.encode(factory, call, signature) and the magic of EIP-6492.
Bytes wrapped(const Address20& by, ByteView inner) {
  const Bytes call = abi::CallWriter({}).address(by).bytes(Bytes(5, 0xca)).bytes(inner).finish();
  Bytes out(call.begin() + 4, call.end());
  for (int i = 0; i < 16; ++i) out.insert(out.end(), {0x64, 0x92});
  return out;
}

/// The wallet at alice's address takes exactly this.
struct WalletBench : AuthorizationBench {
  explicit WalletBench(TransferAuthorizationOptions options = {})
      : AuthorizationBench(std::move(options)) {
    contracts.insert(alice);
    node.overrides["eth_call"] = [this](const json::array& params) -> Answer {
      const json::object& call = params.at(0).as_object();
      if (call.at("to") != json::value(alice)) {
        return json::value(domain_separator(token_domain).hex());
      }
      asked_wallet = std::string(call.at("data").as_string());
      return json::value(takes ? "0x1626ba7e" + std::string(56, '0') : word(0));
    };
  }
  Result<void> verdict(const Bytes& signature) {
    domain::Authorization offered = sign_authorization(intent);
    offered.signature = signature;
    return run(method.verify(intent, offered, inside));
  }
  ports::Call call(const Bytes& signature) {
    domain::Intent signed_one = signed_intent();
    signed_one.authorization->signature = signature;
    const auto made = method.call(signed_one);
    REQUIRE(made.has_value());
    return *made;
  }
  domain::Intent intent = authorization_intent();
  bool takes = true;
  std::string asked_wallet;
};

}  // namespace

TEST_CASE("wallets: a key's signature asks nobody, whatever code is at its account") {
  WalletBench bench;
  bench.takes = false;
  CHECK(bench.verdict(sign_authorization(bench.intent).signature).has_value());
  CHECK(bench.node.count("eth_getCode") == 0);
  CHECK(bench.asked_wallet.empty());
}

TEST_CASE("wallets: where there is code the contract is asked, by the bytes the token gives it") {
  WalletBench bench;
  const Bytes odd(66, 0x77);
  CHECK(bench.verdict(odd).has_value());
  CHECK(bench.asked_wallet.starts_with("0x1626ba7e"));
  CHECK(bench.asked_wallet.find(to_hex(odd)) != std::string::npos);
  Bytes short_one(65, 0x33);
  short_one[64] = 1;
  CHECK(bench.verdict(short_one).has_value());
  short_one[64] = 28;
  CHECK(bench.asked_wallet.find(to_hex(short_one)) != std::string::npos);
  bench.takes = false;
  const auto refused = bench.verdict(odd);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == VerifyError::wrong_signer);
}

TEST_CASE("wallets: no answer about the payer's code is nobody's fault") {
  WalletBench bench;
  bench.node.overrides["eth_getCode"] = always(Answer(ports::Unknown{"time-out", false}));
  const auto refused = bench.verdict(Bytes(66, 0x77));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == VerifyError::node_trouble);
}

TEST_CASE("wallets: 64 bytes are no ordinary account's signature, nor is what is over the limit") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  for (const std::size_t size : {std::size_t{64}, longest_wallet_signature + 1}) {
    domain::Authorization offered = sign_authorization(intent);
    offered.signature.resize(size);
    const auto refused = run(bench.method.verify(intent, offered, inside));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == VerifyError::bad_signature);
  }
}

TEST_CASE("wallets: 65 bytes go by their parts, others as bytes") {
  WalletBench bench;
  Bytes own(65, 0x33);
  own[64] = 31;  // means something to its wallet
  const Bytes by_parts = bench.call(own).payload;
  CHECK(std::equal(by_parts.begin(), by_parts.begin() + 4,
                   selectors::transfer_with_authorization.begin()));
  CHECK(by_parts[4 + 6 * 32 + 31] == 31);
  const auto read = decode_transfer_with_authorization(bench.call(Bytes(66, 0x77)).payload);
  REQUIRE(read.has_value());
  CHECK(std::get<Bytes>(read->signature) == Bytes(66, 0x77));
}

TEST_CASE("wallets: a wallet's factory must be listed, and nothing of the payer's is run without") {
  WalletBench bench;
  bench.contracts.erase(alice);
  const Bytes signature = wrapped(factory, Bytes(66, 0x77));
  const auto refused = bench.verdict(signature);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == VerifyError::factory_not_allowed);
  const ports::Call call = bench.call(signature);
  CHECK(call.target.value == token);
  CHECK(call.payload == bench.call(Bytes(66, 0x77)).payload);
  // Garbage in the wrapper.
  Bytes broken = signature;
  broken[0] = 1;
  const auto bad = bench.verdict(broken);
  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().code == VerifyError::bad_signature);
}

TEST_CASE("wallets: a listed factory runs before the transfer, in one call of ours") {
  WalletBench bench({.assets = {}, .wallet_factories = {factory}});
  bench.contracts.erase(alice);
  const Bytes signature = wrapped(factory, Bytes(66, 0x77));
  CHECK(bench.verdict(signature).has_value());
  const ports::Call call = bench.call(signature);
  CHECK(call.target.value == to_checksum(multicall3_address));
  const Bytes transfer = bench.call(Bytes(66, 0x77)).payload;
  CHECK(call.payload == encode_aggregate3({{factory, true, Bytes(5, 0xca)},
                                           {*Address20::from_text(token), false, transfer}}));
}

TEST_CASE(
    "wallets: where the wallet is there already its inner signature pays, and nothing is made") {
  WalletBench bench;
  const Bytes signature = wrapped(factory, Bytes(66, 0x77));
  CHECK(bench.verdict(signature).has_value());
  const ports::Call call = bench.call(signature);
  CHECK(call.target.value == token);
  CHECK(call.payload == bench.call(Bytes(66, 0x77)).payload);
}

TEST_CASE("explain: why a token refuses, in the order of what is the deeper cause") {
  const Error refusal = refuse(VerifyError::simulation_failed, "the contract refuses");
  const auto why = [&](const std::string& selector, const std::string& answer) {
    AuthorizationBench bench;
    auto told = AuthorizationBench::content();
    if (answer.empty())
      told.erase(selector);
    else
      told[selector] = answer;
    bench.let_the_token_tell(told);
    const Error out = run(bench.method.explain(signed_intent(), refusal));
    CHECK(bench.node.asked.size() == 8);
    return out.code;
  };
  CHECK(why("0xe94a0102", word(0)) == VerifyError::simulation_failed);
  CHECK(why("0xe94a0102", "") == VerifyError::not_supported);
  CHECK(why("0xe94a0102", word(1)) == VerifyError::already_used);
  CHECK(why("0x70a08231", word(999'999)) == VerifyError::insufficient_funds);
  CHECK(why("0x3644e515", word(1)) == VerifyError::name_mismatch);
  CHECK(why("0x3644e515", "") == VerifyError::simulation_failed);
  AuthorizationBench bench;
  bench.let_the_token_tell(AuthorizationBench::content());
  bench.contracts.clear();
  CHECK(run(bench.method.explain(signed_intent(), refusal)).code == VerifyError::not_a_contract);
  bench.node.overrides["eth_getCode"] = always(Answer(ports::Unknown{"time-out", false}));
  CHECK(run(bench.method.explain(signed_intent(), refusal)).code == VerifyError::node_trouble);
}

TEST_CASE("explain: an account with code whose contract does not take its key's signature") {
  AuthorizationBench bench;
  bench.contracts.insert(alice);
  auto told = AuthorizationBench::content();
  const Error refusal = refuse(VerifyError::simulation_failed, "the contract refuses");
  bench.let_the_token_tell(told);
  CHECK(run(bench.method.explain(signed_intent(), refusal)).code == VerifyError::wrong_signer);
  told["0x1626ba7e"] = "0x1626ba7e" + std::string(56, '0');
  bench.let_the_token_tell(told);
  CHECK(run(bench.method.explain(signed_intent(), refusal)).code == VerifyError::simulation_failed);
}

TEST_CASE("explain: a listed factory that does not make the wallet") {
  WalletBench bench({.assets = {}, .wallet_factories = {factory}});
  bench.contracts.erase(alice);
  bench.let_the_token_tell(AuthorizationBench::content());
  domain::Intent intent = signed_intent();
  intent.authorization->signature = wrapped(factory, Bytes(66, 0x77));
  const Error refusal = refuse(VerifyError::simulation_failed, "the contract refuses");
  CHECK(run(bench.method.explain(intent, refusal)).code == VerifyError::deployment_failed);
}
