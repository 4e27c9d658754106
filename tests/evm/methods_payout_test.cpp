// The method payout: terms, calls, evidence.
#include <doctest/doctest.h>

#include <holdfast/domain/refs.hpp>
#include "evm/chain_node.hpp"
#include "evm/erc20.hpp"
#include "evm/methods/payout.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::VerifyError;

namespace {

domain::Intent payout_intent(const domain::AssetId& asset = {token}) {
  domain::Intent intent;
  intent.id = *domain::intent_id_from("pi_000102030405060708090a0b0c0d0e0f");
  intent.terms = {.chain = chain_id,
                  .asset = asset,
                  .payer = {alice},
                  .payee = {bob},
                  .amount = 250,
                  .method = payout_name};
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  return intent;
}

struct PayoutBench : Bench {
  Payout method{{.assets = {{token}, domain::native_asset}}, chain};
};

}  // namespace

TEST_CASE("payout: it is not a bearer's, and nobody signs it") {
  PayoutBench bench;
  CHECK(bench.method.name().value == "payout");
  CHECK(bench.method.chain() == chain_id);
  CHECK_FALSE(bench.method.bearer());
  CHECK(bench.method.typed_data(payout_intent()).empty());
  CHECK(run(bench.method.verify(payout_intent(), {}, {})).has_value());
  CHECK(run(bench.method.read_authorization(payout_intent())).result ==
        domain::AuthorizationSeen::Result::unknown);
  CHECK(bench.node.asked.empty());
}

TEST_CASE("payout: terms it cannot pay are refused by a sentence that names the field") {
  PayoutBench bench;
  domain::Terms terms = payout_intent().terms;
  REQUIRE(bench.method.check_terms(terms).has_value());
  std::string field;
  SUBCASE("another chain") {
    terms.chain = {"eip155:1"};
    field = "chain: ";
  }
  SUBCASE("another method") {
    terms.method = {"transfer_authorization"};
    field = "method: ";
  }
  SUBCASE("an asset not on the list") {
    terms.asset = {carol};
    field = "asset: ";
  }
  SUBCASE("nothing") {
    terms.amount = 0;
    field = "amount: ";
  }
  SUBCASE("to the zero address") {
    terms.payee = {"0x" + std::string(40, '0')};
    field = "payee: ";
  }
  SUBCASE("to itself") {
    terms.payee = terms.payer;
    field = "payee: ";
  }
  SUBCASE("to no address") {
    terms.payee = {"bob"};
    field = "payee: ";
  }
  SUBCASE("to another spelling of an address") {
    terms.payee = {"0x" + to_hex(Address20::from_text(bob)->view())};
    field = "payee: ";
  }
  SUBCASE("from no address") {
    terms.payer = {""};
    field = "payer: ";
  }
  const auto checked = bench.method.check_terms(terms);
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().code == VerifyError::bad_terms);
  CHECK(checked.error().detail.starts_with(field));
  domain::Intent intent = payout_intent();
  intent.terms = terms;
  CHECK_FALSE(bench.method.call(intent).has_value());
}

TEST_CASE("payout: a token's call is a transfer that ends in the ref") {
  PayoutBench bench;
  const domain::Intent intent = payout_intent();
  const auto call = bench.method.call(intent);
  REQUIRE(call.has_value());
  CHECK(call->target.value == token);
  CHECK(call->value.is_zero());
  const auto read = decode_transfer(call->payload);
  REQUIRE(read.has_value());
  CHECK(read->to == *Address20::from_text(bob));
  CHECK(read->amount == U256(250));
  CHECK(read->ref == Bytes32{intent.ref.value});
}

TEST_CASE("payout: a native call is a value transfer whose data is the ref") {
  PayoutBench bench;
  const domain::Intent intent = payout_intent(domain::native_asset);
  const auto call = bench.method.call(intent);
  REQUIRE(call.has_value());
  CHECK(call->target.value == bob);
  CHECK(call->value == U256(250));
  CHECK(call->payload == Bytes(intent.ref.value.begin(), intent.ref.value.end()));
}

TEST_CASE("payout: what the chain reads back of both calls is their evidence") {
  for (const domain::AssetId& asset : {domain::AssetId{token}, domain::native_asset}) {
    PayoutBench bench;
    const domain::Intent intent = payout_intent(asset);
    const auto call = bench.method.call(intent);
    const bool native = asset == domain::native_asset;
    const auto hash =
        bench.node.add(50, {.from = alice,
                            .to = call->target.value,
                            .value = call->value.quantity(),
                            .input = to_0x(call->payload),
                            .logs = native ? std::vector<json::object>{}
                                           : std::vector{transfer_log(token, alice, bob, 250)}});
    const auto found = run(bench.chain.find(hash));
    REQUIRE(found.ok() != nullptr);
    CHECK(bench.method.evidence(intent, *found.ok()->tx, false).moved == domain::Moved::exact);
    // The same transfer with another payment's ref.
    domain::Intent other = intent;
    other.ref = *domain::Ref::from_text(word(1));
    CHECK(bench.method.evidence(other, *found.ok()->tx, false).moved == domain::Moved::nothing);
  }
}
