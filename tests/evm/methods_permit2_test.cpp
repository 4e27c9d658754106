// Exact payments over Permit2: what is signed (vectors made with viem and @x402/evm), the verdict,
// and what became of a permit.
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include <holdfast/domain/refs.hpp>

#include "evm/chain_node.hpp"
#include "evm/methods/permit2.hpp"
#include "evm/methods/wallet_signature.hpp"
#include "evm/multicall3.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::VerifyError;
using Seen = domain::AuthorizationSeen::Result;

namespace {

constexpr std::int64_t after_s = 1'700'000'000;
constexpr std::int64_t before_s = 1'700'003'600;
constexpr ports::Moment inside{after_s + 100, after_s + 95};
const domain::Nonce own_nonce =
    *domain::Nonce::from_text("0x8000000000000000000000000000000000000000000000000000000001234567");

const std::string settle_vector =
    "0x13cd3b530000000000000000000000005fbdb2315678afecb367f032d93f642f64180aa3000000"
    "00000000000000000000000000000000000000000000000000000f42408000000000000000000000"
    "00000000000000000000000000000000000123456700000000000000000000000000000000000000"
    "0000000000000000006553ff10000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279"
    "cfffb9226600000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8000000"
    "000000000000000000000000000000000000000000000000006553f1000000000000000000000000"
    "00000000000000000000000000000000000000010000000000000000000000000000000000000000"
    "00000000000000000000000042777777777777777777777777777777777777777777777777777777"
    "77777777777777777777777777777777777777777777777777777777777777777777777777777700"
    "0000000000000000000000000000000000000000000000000000000000";
const std::string aggregate3_vector =
    "0x82ad56cb0000000000000000000000000000000000000000000000000000000000000020000000"
    "00000000000000000000000000000000000000000000000000000000020000000000000000000000"
    "00000000000000000000000000000000000000004000000000000000000000000000000000000000"
    "000000000000000000000000e00000000000000000000000003c44cdddb6a900fa2b585dd299e03d"
    "12fa4293bc0000000000000000000000000000000000000000000000000000000000000001000000"
    "00000000000000000000000000000000000000000000000000000000600000000000000000000000"
    "000000000000000000000000000000000000000005cacacacaca0000000000000000000000000000"
    "000000000000000000000000000000000000000000000000005fbdb2315678afecb367f032d93f64"
    "2f64180aa30000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000600000000000000000000000"
    "00000000000000000000000000000000000000002811111111111111111111111111111111111111"
    "11111111111111111111111111111111111111111100000000000000000000000000000000000000"
    "0000000000";
const std::string wrapped_vector =
    "0x0000000000000000000000003c44cdddb6a900fa2b585dd299e03d12fa4293bc00000000000000"
    "00000000000000000000000000000000000000000000000060000000000000000000000000000000"
    "00000000000000000000000000000000a00000000000000000000000000000000000000000000000"
    "000000000000000005cacacacaca0000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000004277777777777777"
    "77777777777777777777777777777777777777777777777777777777777777777777777777777777"
    "77777777777777777777777777777777777777000000000000000000000000000000000000000000"
    "00000000000000000064926492649264926492649264926492649264926492649264926492649264"
    "92";

ExactPermit permit_of(const domain::Intent& intent) {
  return {.owner = *Address20::from_text(alice),
          .token = *Address20::from_text(token),
          .to = *Address20::from_text(intent.terms.payee.value),
          .amount = intent.terms.amount,
          .nonce = *U256::from_big_endian(intent.authorization->nonce.value),
          .deadline = static_cast<std::uint64_t>(intent.validity.before_s),
          .valid_after = static_cast<std::uint64_t>(intent.validity.after_s)};
}

domain::Intent permit_intent() {
  domain::Intent intent;
  intent.id = *domain::intent_id_from("pi_000102030405060708090a0b0c0d0e0f");
  intent.terms = {.chain = chain_id,
                  .asset = {token},
                  .payer = {alice},
                  .payee = {bob},
                  .amount = 1'000'000,
                  .method = permit2_name};
  intent.bearer = true;
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.validity = {after_s, before_s};
  intent.authorization = domain::Authorization{own_nonce, intent.validity, {}};
  intent.authorization->signature =
      sign_with(alice_key, exact_permit_digest(31337, permit_of(intent)).value);
  return intent;
}

/// Bitmaps by height, logs out of the node's blocks, and a token that answers by selector.
struct PermitBench : Bench {
  PermitBench() {
    node.overrides["eth_getCode"] = [this](const json::array& params) -> Answer {
      return json::value(contracts.contains(std::string(params.at(0).as_string())) ? "0x60" : "0x");
    };
    node.overrides["eth_call"] = [this](const json::array& params) { return answer(params); };
    node.overrides["eth_getLogs"] = [this](const json::array& params) { return logs(params); };
  }

  Answer answer(const json::array& params) {
    const std::string data(params.at(0).as_object().at("data").as_string());
    if (data.starts_with("0x4fe02b44")) {
      CHECK(data.ends_with("0080000000000000000000000000000000000000000000000000000000012345"));
      const std::string_view at = params.at(1).as_string();
      const std::uint64_t height =
          at == "latest" ? node.blocks.size() - 1 : *U256::from_0x(at)->to_u64();
      Bytes bitmap(32, used_at && height >= *used_at ? Byte{0xff} : Byte{0});
      bitmap[31 - 0x67 / 8] = used_at && height >= *used_at ? 1 << (0x67 % 8) : 0;
      return json::value(to_0x(bitmap));
    }
    const auto found = told.find(data.substr(0, 10));
    if (found == told.end()) return ports::Refused{ports::RefusalKind::reverted, "no"};
    return json::value(found->second);
  }

  Answer logs(const json::array& params) {
    const json::object& filter = params.at(0).as_object();
    const std::uint64_t low = *U256::from_0x(filter.at("fromBlock").as_string())->to_u64();
    const std::uint64_t high = *U256::from_0x(filter.at("toBlock").as_string())->to_u64();
    const json::array& wanted = filter.at("topics").as_array();
    json::array out;
    for (std::uint64_t height = low; height <= high; ++height) {
      for (const json::object& receipt : node.blocks.at(height).receipts) {
        for (const json::value& log : receipt.at("logs").as_array()) {
          bool matches = log.at("address") == filter.at("address");
          for (std::size_t i = 0; i < wanted.size(); ++i) {
            matches = matches && log.at("topics").as_array().at(i) == wanted[i];
          }
          if (matches) out.push_back(log);
        }
      }
    }
    return json::value(out);
  }

  /// Somebody settles this permit at that height.
  domain::TxHash settle(std::uint64_t height, const domain::Intent& what,
                        const std::string& to = to_checksum(exact_proxy_address)) {
    used_at = height;
    return node.add(
        height, {.from = carol,
                 .to = to,
                 .input = to_0x(encode_settle(permit_of(what), what.authorization->signature)),
                 .logs = {transfer_log(token, alice, what.terms.payee.value, what.terms.amount)}});
  }
  domain::AuthorizationSeen read() { return run(method.read_authorization(intent)); }

  domain::Intent intent = permit_intent();
  std::optional<std::uint64_t> used_at;
  std::map<std::string, std::string> told{{"0x70a08231", word(1'000'000)},
                                          {"0xdd62ed3e", word(1'000'000)}};
  std::set<std::string> contracts{token, to_checksum(permit2_address),
                                  to_checksum(exact_proxy_address)};
  Permit2Method method{{.assets = {{{token}, "Holdfast Token", "1"}}, .log_range_blocks = 40},
                       chain};
};

}  // namespace

TEST_CASE("permit2: what is signed and called is what other implementations sign and call") {
  const domain::Intent intent = permit_intent();
  CHECK(exact_permit_digest(31337, permit_of(intent)).hex() ==
        "0x629e7327e6c6717021eff48c6cb61ca107f8db357d404f6f9d03ca7208c89687");
  CHECK(to_0x(encode_settle(permit_of(intent), Bytes(66, 0x77))) == settle_vector);
  const auto read = decode_settle(*from_hex(settle_vector + "c0de"));
  REQUIRE(read.has_value());
  CHECK(*read == permit_of(intent));
  Bytes with_permit = *from_hex("0xfa340378");
  with_permit.resize(4 + 5 * 32);
  const Bytes plain = *from_hex(settle_vector);
  with_permit.insert(with_permit.end(), plain.begin() + 4, plain.end());
  CHECK(*decode_settle(with_permit) == permit_of(intent));
  CHECK_FALSE(decode_settle(ByteView(plain).first(4 + 6 * 32)).has_value());
  CHECK_FALSE(decode_settle(*from_hex("0x12345678")).has_value());
  CHECK(to_0x(encode_aggregate3({{*Address20::from_text(carol), true, Bytes(5, 0xca)},
                                 {*Address20::from_text(token), false, Bytes(40, 0x11)}})) ==
        aggregate3_vector);
  const auto wrapped = read_counterfactual(*from_hex(wrapped_vector));
  REQUIRE(wrapped.has_value());
  CHECK(*wrapped == Counterfactual{*Address20::from_text(carol), Bytes(5, 0xca), Bytes(66, 0x77)});
}

TEST_CASE("permit2: the payer's permit is good without any call, and is what is called") {
  PermitBench bench;
  const auto& signed_one = *bench.intent.authorization;
  CHECK(run(bench.method.verify(bench.intent, signed_one, inside)).has_value());
  CHECK(bench.node.asked.empty());
  const auto call = bench.method.call(bench.intent);
  REQUIRE(call.has_value());
  CHECK(call->target.value == "0x402085c248EeA27D92E8b30b2C58ed07f9E20001");
  CHECK(call->payload == encode_settle(permit_of(bench.intent), signed_one.signature));
  const json::value data = json::parse(bench.method.typed_data(bench.intent));
  CHECK(data.at("message").at("spender") == "0x402085c248EeA27D92E8b30b2C58ed07f9E20001");
  CHECK(data.at("domain").at("name") == "Permit2");
}

TEST_CASE("permit2: a permit of somebody else, or over other terms, is refused") {
  PermitBench bench;
  const auto code = [&](const domain::Intent& intent, const domain::Authorization& offered) {
    const auto verdict = run(bench.method.verify(intent, offered, inside));
    REQUIRE_FALSE(verdict.has_value());
    return verdict.error().code;
  };
  domain::Intent other = bench.intent;
  other.terms.payee = {carol};
  CHECK(code(other, *bench.intent.authorization) == VerifyError::wrong_signer);
  domain::Authorization offered = *bench.intent.authorization;
  offered.signature.pop_back();
  CHECK(code(bench.intent, offered) == VerifyError::bad_signature);
  offered = *bench.intent.authorization;
  offered.nonce.value[31] ^= 1;
  CHECK(code(bench.intent, offered) == VerifyError::wrong_nonce);
  offered = *bench.intent.authorization;
  offered.signature = *from_hex(wrapped_vector);
  CHECK(code(bench.intent, offered) == VerifyError::factory_not_allowed);
}

TEST_CASE("permit2: why it is refused") {
  PermitBench bench;
  const Error refusal = refuse(VerifyError::simulation_failed, "the contract refuses");
  const auto why = [&] { return run(bench.method.explain(bench.intent, refusal)).code; };
  CHECK(why() == VerifyError::simulation_failed);
  bench.told["0xdd62ed3e"] = word(999'999);
  CHECK(why() == VerifyError::allowance_missing);
  bench.told["0x70a08231"] = word(999'999);
  CHECK(why() == VerifyError::insufficient_funds);
  bench.used_at = 1;
  CHECK(why() == VerifyError::already_used);
  bench.contracts.erase(to_checksum(exact_proxy_address));
  CHECK(why() == VerifyError::not_supported);
  bench.contracts.clear();
  CHECK(why() == VerifyError::not_a_contract);
  bench.node.overrides["eth_call"] = always(Answer(ports::Unknown{"time-out", false}));
  CHECK(why() == VerifyError::node_trouble);
}

TEST_CASE("permit2: unused is said of a final block, a second short of its time") {
  PermitBench bench;
  const auto seen = bench.read();
  CHECK(seen.result == Seen::unused);
  REQUIRE(seen.unused_at_final_s);
  CHECK(*seen.unused_at_final_s == bench.node.blocks[90].time_s - 1);
}

TEST_CASE("permit2: whoever settled exactly this permit paid it, and their transaction is found") {
  for (const std::uint64_t height : {5, 90, 91}) {
    PermitBench bench;
    const auto hash = bench.settle(height, bench.intent);
    // The same payer to the same payee, in other ways.
    bench.node.add(95, {.from = carol, .to = token, .logs = {transfer_log(token, alice, bob, 7)}});
    const auto seen = bench.read();
    CHECK(seen.result == Seen::used_exactly);
    REQUIRE(seen.tx);
    CHECK(seen.tx->hash == hash);
    CHECK(seen.is_final == (height <= 90));
    CHECK(bench.method.evidence(bench.intent, *seen.tx, false).moved == domain::Moved::exact);
  }
}

TEST_CASE("permit2: the same nonce in another permit is another use") {
  PermitBench bench;
  domain::Intent other = bench.intent;
  other.terms.payee = {carol};
  bench.settle(80, other);
  const auto seen = bench.read();
  CHECK(seen.result == Seen::used_otherwise);
  CHECK(seen.is_final);
}

TEST_CASE("permit2: a use that cannot be read is never taken for this payment's") {
  SUBCASE("invalidated, or nothing to be found") {
    PermitBench bench;
    bench.used_at = 80;
    CHECK(bench.read().result == Seen::unknown);
  }
  SUBCASE("in another contract's call") {
    PermitBench bench;
    bench.settle(80, bench.intent, carol);
    CHECK(bench.read().result == Seen::unknown);
  }
  SUBCASE("another nonce of the same payment") {
    PermitBench bench;
    domain::Intent other = bench.intent;
    other.authorization->nonce.value[0] = 1;
    bench.settle(80, other);
    CHECK(bench.read().result == Seen::unknown);
  }
  SUBCASE("no answer") {
    PermitBench bench;
    bench.node.overrides["eth_call"] = always(Answer(ports::Unknown{"time-out", false}));
    CHECK(bench.read().result == Seen::unknown);
  }
}

TEST_CASE("permit2: a permit's use is no use of an EIP-3009 authorization with the same nonce") {
  PermitBench bench;
  bench.settle(80, bench.intent);
  const auto tx = bench.read().tx;
  REQUIRE(tx);
  domain::Intent other = bench.intent;
  other.terms.method = transfer_authorization_name;
  CHECK(domain::evidence_of_authorization(other, *tx).moved == domain::Moved::nothing);
  CHECK_FALSE(domain::uses_authorization(other, *tx));
}

TEST_CASE("permit2: a settling call that moved nothing of the owner's used nothing") {
  PermitBench bench;
  bench.used_at = 80;
  const auto hash = bench.node.add(
      80, {.from = carol, .to = to_checksum(exact_proxy_address), .input = settle_vector});
  const auto found = run(bench.chain.find(hash));
  REQUIRE(found.ok() != nullptr);
  REQUIRE(found.ok()->tx);
  CHECK(found.ok()->tx->authorizations.empty());
}
