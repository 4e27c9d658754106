// The verdict over a payer's signature, and the call made of it.
#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include "evm/methods_authorization.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::Moment;
using ports::VerifyError;

namespace {

constexpr Moment inside{window_after_s + 100, window_after_s + 95};

/// The other form of a signature: s' = n − s, the parity flipped. Every node's curve library takes
/// it; contracts and this engine do not.
Bytes malleable(Bytes signature) {
  const U256 order =
      *U256::from_0x("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
  const U256 s = *U256::from_big_endian(ByteView(signature).subspan(32, 32));
  const auto other = order.minus(s)->big_endian();
  std::copy(other.begin(), other.end(), signature.begin() + 32);
  signature[64] = signature[64] == 27 ? 28 : 27;
  return signature;
}

struct Refusal {
  VerifyError code;
  std::string begins;
};

void check_refused(const Result<void>& verdict, const Refusal& expected) {
  REQUIRE_FALSE(verdict.has_value());
  CHECK(verdict.error().code == expected.code);
  CAPTURE(verdict.error().detail);
  CHECK(verdict.error().detail.starts_with(expected.begins));
}

}  // namespace

TEST_CASE("transfer_authorization: the payer's signature over exactly this intent is good") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  CHECK(bench.method.bearer());
  CHECK(bench.method.name().value == "transfer_authorization");
  CHECK(run(bench.method.verify(intent, sign_authorization(intent), inside)).has_value());
  // v as 0 or 1 is the same signature.
  domain::Authorization low_v = sign_authorization(intent);
  low_v.signature[64] = static_cast<Byte>(low_v.signature[64] - 27);
  CHECK(run(bench.method.verify(intent, low_v, inside)).has_value());
}

TEST_CASE("transfer_authorization: the token's domain is read once, and only after it agreed") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  bench.node.overrides["eth_call"] = always(Answer(ports::Unknown{"time-out", false}));
  check_refused(run(bench.method.verify(intent, sign_authorization(intent), inside)),
                {VerifyError::node_trouble, "the node did not answer"});
  auto told = AuthorizationBench::content();
  told["0x3644e515"] = word(1);
  bench.let_the_token_tell(told);
  check_refused(run(bench.method.verify(intent, sign_authorization(intent), inside)),
                {VerifyError::name_mismatch, "asset: " + token + " has another EIP-712 domain"});
  told["0x54fd4d50"] = AuthorizationBench::text_answer("2");
  bench.let_the_token_tell(told);
  check_refused(run(bench.method.verify(intent, sign_authorization(intent), inside)),
                {VerifyError::version_mismatch, "asset: " + token});
  bench.contracts.clear();
  check_refused(run(bench.method.verify(intent, sign_authorization(intent), inside)),
                {VerifyError::not_a_contract, "asset: "});
  bench.node.overrides["eth_call"] = always(json::value(domain_separator(token_domain).hex()));
  bench.node.asked.clear();
  for (int i = 0; i < 3; ++i) {
    CHECK(run(bench.method.verify(intent, sign_authorization(intent), inside)).has_value());
  }
  REQUIRE(bench.node.asked.size() == 1);
  CHECK(bench.node.asked[0].second.at(0) == json::value{{"to", token}, {"data", "0x3644e515"}});
}

TEST_CASE("transfer_authorization: a signature that is not good is told by why") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  domain::Authorization offered = sign_authorization(intent);
  Refusal expected{VerifyError::bad_signature, "signature: "};
  SUBCASE("malleable") { offered.signature = malleable(offered.signature); }
  SUBCASE("too short") { offered.signature.pop_back(); }
  SUBCASE("too long") { offered.signature.push_back(0); }
  SUBCASE("none") { offered.signature.clear(); }
  SUBCASE("zeros") { offered.signature.assign(65, 0); }
  SUBCASE("a v of 29") { offered.signature[64] = 29; }
  SUBCASE("somebody else's") {
    offered = sign_authorization(intent, bob_key);
    expected.code = VerifyError::wrong_signer;
  }
  SUBCASE("the other parity") {
    offered.signature[64] ^= 7;
    expected.code = VerifyError::wrong_signer;
  }
  check_refused(run(bench.method.verify(intent, offered, inside)), expected);
}

TEST_CASE("transfer_authorization: a signature over other terms is wrong_signer") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  domain::Intent other = intent;
  SUBCASE("another payee") { other.terms.payee = {carol}; }
  SUBCASE("a smaller amount") { other.terms.amount = 999'999; }
  SUBCASE("a larger amount") { other.terms.amount = 1'000'001; }
  domain::Authorization offered = sign_authorization(other, alice_key, {intent.ref.value});
  check_refused(run(bench.method.verify(intent, offered, inside)),
                {VerifyError::wrong_signer, "signature: not the payer's"});
}

TEST_CASE(
    "transfer_authorization: a signature for another token, version or chain is wrong_signer") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  Domain other = token_domain;
  SUBCASE("another token") { other.verifying_contract = *Address20::from_text(carol); }
  SUBCASE("another chain") { other.chain_id = 1; }
  SUBCASE("another name") { other.name = "USD Coin"; }
  SUBCASE("another version") { other.version = "2"; }
  domain::Authorization offered = sign_authorization(intent);
  offered.signature = sign_with(
      alice_key, authorization_digest(other, what_is_signed(intent, {intent.ref.value})).value);
  check_refused(run(bench.method.verify(intent, offered, inside)),
                {VerifyError::wrong_signer, "signature: not the payer's"});
}

TEST_CASE("transfer_authorization: the window the payer signed is the intent's") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  domain::Intent longer = intent;
  longer.validity.before_s += 1;
  check_refused(run(bench.method.verify(
                    intent, sign_authorization(longer, alice_key, {intent.ref.value}), inside)),
                {VerifyError::wrong_signer, "validity: "});
}

TEST_CASE("transfer_authorization: a window is judged by both clocks") {
  struct Row {
    const char* what;
    Moment now;
    std::optional<VerifyError> refused;
  };
  const std::int64_t a = window_after_s;
  const std::int64_t b = window_before_s;
  for (const Row& row :
       {Row{"just opened by the wall clock", {a + 1, a - 29}, std::nullopt},
        Row{"opens now", {a, a + 5}, VerifyError::not_yet_valid},
        Row{"not open by the wall clock", {a - 10, a + 10}, VerifyError::not_yet_valid},
        Row{"the chain is too far behind", {a + 100, a - 30}, VerifyError::not_yet_valid},
        Row{"no block read yet, open", {a + 1, 0}, std::nullopt},
        Row{"no block read yet, not open", {a, 0}, VerifyError::not_yet_valid},
        Row{"six seconds left", {b - 6, b - 10}, std::nullopt},
        Row{"five seconds left by the wall clock", {b - 5, b - 100}, VerifyError::expired},
        Row{"five seconds left by the chain's", {b - 100, b - 5}, VerifyError::expired},
        Row{"ended", {b + 1, b + 1}, VerifyError::expired}}) {
    CAPTURE(row.what);
    AuthorizationBench bench;
    const domain::Intent intent = authorization_intent();
    const auto verdict = run(bench.method.verify(intent, sign_authorization(intent), row.now));
    if (!row.refused) {
      CHECK(verdict.has_value());
    } else {
      const bool opening = *row.refused == VerifyError::not_yet_valid;
      check_refused(verdict,
                    {*row.refused, opening ? "validity.after_s: " : "validity.before_s: "});
    }
  }
}

TEST_CASE("transfer_authorization: a window that is none is refused before anything is asked") {
  AuthorizationBench bench;
  for (const domain::Validity& window :
       {domain::Validity{-1, window_before_s}, domain::Validity{5, 5}, domain::Validity{6, 5}}) {
    domain::Intent intent = authorization_intent();
    intent.validity = window;
    domain::Authorization offered{{intent.ref.value}, window, Bytes(65, 1)};
    check_refused(run(bench.method.verify(intent, offered, inside)),
                  {VerifyError::bad_terms, "validity: "});
    CHECK(bench.method.typed_data(intent).empty());
  }
  CHECK(bench.node.asked.empty());
}

TEST_CASE("transfer_authorization: where we proposed the nonce it is the ref") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  const domain::Nonce other = *domain::Nonce::from_text(word(5));
  check_refused(
      run(bench.method.verify(intent, sign_authorization(intent, alice_key, other), inside)),
      {VerifyError::wrong_nonce, "nonce: must be this payment's ref, 0x"});
}

TEST_CASE("transfer_authorization: where the payer brought a nonce it is that one") {
  AuthorizationBench bench;
  domain::Intent intent = authorization_intent();
  const domain::Nonce own = *domain::Nonce::from_text(word(5));
  intent.authorization = sign_authorization(intent, alice_key, own);
  CHECK(run(bench.method.verify(intent, *intent.authorization, inside)).has_value());
  check_refused(run(bench.method.verify(intent, sign_authorization(intent), inside)),
                {VerifyError::wrong_nonce, "nonce: not the one"});
}

TEST_CASE(
    "transfer_authorization: terms it cannot pay are refused by verify, call and typed data") {
  AuthorizationBench bench;
  domain::Intent intent = signed_intent();
  REQUIRE(bench.method.check_terms(intent.terms).has_value());
  REQUIRE(bench.method.call(intent).has_value());
  SUBCASE("native") { intent.terms.asset = domain::native_asset; }
  SUBCASE("an asset without a configured domain") { intent.terms.asset = {carol}; }
  SUBCASE("to the payer") { intent.terms.payee = intent.terms.payer; }
  SUBCASE("nothing") { intent.terms.amount = 0; }
  const auto checked = bench.method.check_terms(intent.terms);
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().code == VerifyError::bad_terms);
  CHECK_FALSE(bench.method.call(intent).has_value());
  CHECK(bench.method.typed_data(intent).empty());
  CHECK_FALSE(run(bench.method.verify(intent, *intent.authorization, inside)).has_value());
}

TEST_CASE("transfer_authorization: the typed data is what is verified") {
  AuthorizationBench bench;
  const domain::Intent intent = authorization_intent();
  const json::value data = json::parse(bench.method.typed_data(intent));
  CHECK(data.at("primaryType") == "TransferWithAuthorization");
  CHECK(data.at("domain").at("name") == "Holdfast Token");
  CHECK(data.at("domain").at("chainId") == 31337);
  CHECK(data.at("domain").at("verifyingContract") == json::value(token));
  const json::value& message = data.at("message");
  CHECK(message.at("from") == json::value(alice));
  CHECK(message.at("to") == json::value(bob));
  CHECK(message.at("value") == "1000000");
  CHECK(message.at("validAfter") == "1700000000");
  CHECK(message.at("validBefore") == "1700003600");
  CHECK(message.at("nonce") == json::value(intent.ref.hex()));
}

TEST_CASE("transfer_authorization: the call runs exactly what was signed") {
  AuthorizationBench bench;
  const domain::Intent intent = signed_intent();
  const auto call = bench.method.call(intent);
  REQUIRE(call.has_value());
  CHECK(call->target.value == token);
  CHECK(call->value.is_zero());
  const auto read = decode_transfer_with_authorization(call->payload);
  REQUIRE(read.has_value());
  CHECK(read->authorization == what_is_signed(intent, {intent.ref.value}));
  const Signature* signature = std::get_if<Signature>(&read->signature);
  REQUIRE(signature != nullptr);
  CHECK(*signature == *parse_signature(intent.authorization->signature));
}

TEST_CASE("transfer_authorization: there is no call before it was signed, or of a bad signature") {
  AuthorizationBench bench;
  const auto unsigned_call = bench.method.call(authorization_intent());
  REQUIRE_FALSE(unsigned_call.has_value());
  CHECK(unsigned_call.error().code == VerifyError::bad_terms);
  domain::Intent intent = signed_intent();
  intent.authorization->signature.clear();
  const auto call = bench.method.call(intent);
  REQUIRE_FALSE(call.has_value());
  CHECK(call.error().code == VerifyError::bad_signature);
}
