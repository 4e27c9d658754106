// What must hold before a node is asked, the words for everything that may be wrong, and limits.
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "http/x402/limits.hpp"
#include "http/x402/rules.hpp"
#include "http/x402/standing.hpp"
#include "x402.hpp"

namespace holdfast::http::x402 {
namespace {

namespace json = boost::json;
namespace wire = holdfast::testing::x402;
using Path = std::vector<std::string_view>;

X402Options options() {
  X402Options out;
  out.networks = {{wire::network_v1, wire::network}};
  return out;
}

std::vector<Network> networks() {
  Network network{"sim:1", wire::network, true, {}, {"relayer0"}};
  network.assets = {{{"0x" + std::string(40, 'A')}, "Other", "1", {"permit2"}},
                    {{wire::token},
                     wire::token_name,
                     wire::token_version,
                     {"transfer_authorization", "permit2"}}};
  return {Network{"sim:2", "sim:2", true, {}, {}}, network};
}

Reason judged(const json::object& body, const X402Options& with = options()) {
  const Read read = read_body(wire::text(body));
  REQUIRE(read.reason == Reason::none);
  const auto known = networks();
  const Verdict verdict = judge(read.request, with, known);
  CHECK((verdict.reason == Reason::none) == verdict.message.empty());
  return verdict.reason;
}

struct Change {
  Path path;
  std::string value;
};

json::object changed(json::object body, std::initializer_list<Change> changes) {
  for (const Change& change : changes) wire::at(body, change.path) = change.value;
  return body;
}

const Path wanted_scheme = {"paymentRequirements", "scheme"};
const Path wanted_network = {"paymentRequirements", "network"};
const Path wanted_asset = {"paymentRequirements", "asset"};
const Path wanted_payee = {"paymentRequirements", "payTo"};
const Path wanted_name = {"paymentRequirements", "extra", "name"};
const Path wanted_version = {"paymentRequirements", "extra", "version"};
const Path accepted_amount = {"paymentPayload", "accepted", "amount"};
const Path accepted_payee = {"paymentPayload", "accepted", "payTo"};
const Path accepted_asset = {"paymentPayload", "accepted", "asset"};
const Path accepted_network = {"paymentPayload", "accepted", "network"};
const Path accepted_scheme = {"paymentPayload", "accepted", "scheme"};
const Path signed_to = {"paymentPayload", "payload", "authorization", "to"};
const Path signed_value = {"paymentPayload", "payload", "authorization", "value"};

}  // namespace

TEST_CASE("x402 rules: what was signed must be what is asked for, or the difference is named") {
  const json::object good = wire::body_of({});
  CHECK(judged(good) == Reason::none);
  const auto says = [&](std::initializer_list<Change> changes) {
    return judged(changed(good, changes));
  };
  CHECK(says({{wanted_scheme, "upto"}}) == Reason::scheme);
  CHECK(says({{accepted_scheme, "upto"}}) == Reason::scheme);
  CHECK(says({{wanted_network, "sim:2"}}) == Reason::network_mismatch);
  CHECK(says({{accepted_network, "sim:2"}}) == Reason::network_mismatch);
  CHECK(says({{wanted_network, "eip155:1"}, {accepted_network, "eip155:1"}}) ==
        Reason::invalid_network);
  CHECK(says({{wanted_network, wire::network_v1}, {accepted_network, wire::network_v1}}) ==
        Reason::invalid_network);
}

TEST_CASE("x402 rules: each term that differs is named") {
  const json::object good = wire::body_of({});
  const auto says = [&](std::initializer_list<Change> changes) {
    return judged(changed(good, changes));
  };
  CHECK(says({{signed_to, wire::other}}) == Reason::recipient_mismatch);
  CHECK(says({{wanted_payee, wire::other}}) == Reason::recipient_mismatch);
  CHECK(says({{signed_value, "999999"}}) == Reason::value_mismatch);
  CHECK(says({{signed_value, "1000001"}}) == Reason::value_mismatch);
  CHECK(says({{wanted_asset, wire::other}}) == Reason::invalid_payment_requirements);
  CHECK(says({{wanted_name, "USDC"}}) == Reason::token_name_mismatch);
  CHECK(says({{wanted_version, "1"}}) == Reason::token_version_mismatch);
  CHECK(says({{accepted_amount, "1"}}) == Reason::invalid_payment_requirements);
  CHECK(says({{accepted_payee, wire::other}}) == Reason::invalid_payment_requirements);
  CHECK(says({{accepted_asset, wire::other}}) == Reason::invalid_payment_requirements);
  CHECK(says({{wanted_asset, "0x" + std::string(40, 'a')}, {wanted_name, "Other"}}) ==
        Reason::eip3009_not_supported);
  json::object no_extra = good;
  wire::remove(no_extra, {"paymentRequirements", "extra"});
  CHECK(judged(no_extra) == Reason::missing_eip712_domain);
  json::object other_method = good;
  wire::at(other_method, {"paymentRequirements", "extra"}).as_object()["assetTransferMethod"] =
      "permit2";
  CHECK(judged(other_method) == Reason::unsupported_payload_type);
}

TEST_CASE("x402 rules: a token that two methods pay with is one, and takes payments by both") {
  engine::ChainStatus chain;
  chain.id = {"sim:1"};
  chain.usable = chain.can_send = true;
  chain.assets = {
      {{wire::token}, "", "", {"permit2"}},
      {{wire::token}, wire::token_name, wire::token_version, {"transfer_authorization"}}};
  const auto known = networks_of(std::vector{chain});
  REQUIRE(known.size() == 1);
  CHECK(known[0].can_settle);
  CHECK(known[0].assets.size() == 1);
  for (const json::object& body : {wire::body_of({}), wire::permit2_body()}) {
    const Read read = read_body(wire::text(body));
    CHECK(judge(read.request, options(), known).reason == Reason::none);
  }
  chain.can_send = false;
  CHECK_FALSE(networks_of(std::vector{chain})[0].can_settle);
}

TEST_CASE("x402 rules: an address is the same in upper and lower case") {
  json::object body = wire::body_of({});
  std::string lower = wire::token;
  for (char& c : lower) c = c == 'A' ? 'a' : c;
  CHECK(judged(changed(body, {{wanted_asset, lower}})) == Reason::none);
  CHECK(judged(changed(body, {{accepted_asset, lower}})) == Reason::none);
}

TEST_CASE("x402 rules: version 1 says the same with its own word for the amount") {
  const json::object good = wire::body_of({.version = 1});
  CHECK(judged(good) == Reason::none);
  CHECK(judged(changed(good, {{signed_value, "2"}})) == Reason::value_v1);
  CHECK(judged(changed(good, {{wanted_network, "base"}})) == Reason::network_mismatch);
  CHECK(
      judged(changed(good, {{wanted_network, "base"}, {{"paymentPayload", "network"}, "base"}})) ==
      Reason::invalid_network);
  // A name of version 2 is none in version 1.
  CHECK(judged(changed(good, {{wanted_network, wire::network},
                              {{"paymentPayload", "network"}, wire::network}})) ==
        Reason::invalid_network);
}

TEST_CASE("x402 rules: a payment by Permit2 is bound to proxy, payee, token and amount") {
  const json::object good = wire::permit2_body();
  CHECK(judged(good) == Reason::none);
  const auto says = [&](Path path, const std::string& value) {
    json::object body = good;
    json::object& permit =
        wire::at(body, {"paymentPayload", "payload", "permit2Authorization"}).as_object();
    wire::at(permit, path) = value;
    return judged(body);
  };
  CHECK(says({"spender"}, wire::other) == Reason::permit2_spender);
  CHECK(says({"witness", "to"}, wire::other) == Reason::permit2_recipient);
  CHECK(says({"permitted", "amount"}, "1000001") == Reason::permit2_amount);
  CHECK(says({"permitted", "token"}, wire::other) == Reason::permit2_token);
  CHECK(judged(changed(good, {{wanted_scheme, "upto"}})) == Reason::unsupported_payload_type);
}

TEST_CASE("x402 rules: lists of assets and payees leave the others out") {
  X402Options listed = options();
  listed.payees = {wire::other};
  CHECK(judged(wire::body_of({}), listed) == Reason::invalid_payment_requirements);
  listed.payees.push_back(wire::payee);
  CHECK(judged(wire::body_of({}), listed) == Reason::none);
  listed.assets = {wire::other};
  CHECK(judged(wire::body_of({}), listed) == Reason::invalid_payment_requirements);
  listed.assets.push_back(wire::token);
  CHECK(judged(wire::body_of({}), listed) == Reason::none);
}

TEST_CASE("x402 rules: the fingerprint is of the payment and not of its spelling") {
  const auto print = [](const json::object& body) {
    const Read read = read_body(wire::text(body));
    REQUIRE(read.reason == Reason::none);
    const auto known = networks();
    return fingerprint_of(judge(read.request, options(), known).payment,
                          read.request.payload.authorization);
  };
  const Digest first = print(wire::body_of({}));
  CHECK(first == print(wire::body_of({.version = 1})));
  CHECK(first == print(wire::body_of({.payment_id = std::string(16, 'a')})));
  CHECK(first != print(wire::body_of({.amount = "1"})));
  CHECK(first != print(wire::body_of({.nonce = 2})));
  CHECK(first != print(wire::body_of({.valid_before_s = wire::far_s - 1})));
  const Path signature = {"paymentPayload", "payload", "signature"};
  CHECK(first != print(changed(wire::body_of({}), {{signature, "0x12"}})));
}

TEST_CASE("x402 reasons: each has a word of its own") {
  std::set<std::string_view> words;
  for (int i = 1; i < reason_count; ++i) {
    const std::string_view word = to_text(static_cast<Reason>(i));
    CHECK_FALSE(word.empty());
    CHECK(words.insert(word).second);
  }
  CHECK(to_text(Reason::none).empty());
}

TEST_CASE("x402 reasons: every refusal of a method has one, and only trouble is no verdict") {
  using ports::VerifyError;
  for (int value = 1; value <= static_cast<int>(VerifyError::deployment_failed); ++value) {
    const Error error = refuse(static_cast<VerifyError>(value), "the node's own words");
    for (const Transfer transfer : {Transfer::eip3009, Transfer::permit2}) {
      const Refusal refusal = refusal_of(error, transfer, Asked::settle);
      CAPTURE(error.code.message());
      const auto kind = static_cast<VerifyError>(value);
      const bool trouble = kind == VerifyError::node_trouble;
      const bool window = kind == VerifyError::expired || kind == VerifyError::not_yet_valid;
      CHECK(message_of(error).empty() != window);
      CHECK(refusal.status == (trouble ? 503 : 200));
      CHECK((refusal.reason == Reason::unexpected_settle_error) == trouble);
    }
  }
  const auto of = [](VerifyError error, Transfer transfer) {
    return to_text(refusal_of(refuse(error, ""), transfer, Asked::verify).reason);
  };
  CHECK(of(VerifyError::wrong_signer, Transfer::eip3009) == "invalid_exact_evm_signature");
  CHECK(of(VerifyError::wrong_signer, Transfer::permit2) == "invalid_permit2_signature");
  CHECK(of(VerifyError::expired, Transfer::eip3009) ==
        "invalid_exact_evm_payload_authorization_valid_before");
  CHECK(of(VerifyError::expired, Transfer::permit2) == "permit2_deadline_expired");
  CHECK(of(VerifyError::already_used, Transfer::eip3009) == "invalid_exact_evm_nonce_already_used");
  CHECK(of(VerifyError::allowance_missing, Transfer::permit2) == "permit2_allowance_required");
  CHECK(of(VerifyError::name_mismatch, Transfer::eip3009) ==
        "invalid_exact_evm_token_name_mismatch");
  CHECK(of(VerifyError::not_a_contract, Transfer::permit2) == "asset_not_deployed_contract");
  CHECK(of(VerifyError::factory_not_allowed, Transfer::eip3009) == "eip6492_factory_not_allowed");
  CHECK(of(VerifyError::node_trouble, Transfer::eip3009) == "unexpected_verify_error");
}

TEST_CASE("x402 reasons: what the engine refuses is a verdict, a conflict or a reason to repeat") {
  using engine::EngineError;
  const auto of = [](EngineError error) {
    return refusal_of(refuse(error, ""), Transfer::eip3009, Asked::settle);
  };
  CHECK(of(EngineError::unknown_chain).reason == Reason::invalid_network);
  CHECK(of(EngineError::bad_terms).reason == Reason::invalid_payment_requirements);
  CHECK(of(EngineError::redemption_taken).reason == Reason::nonce_already_used);
  CHECK(of(EngineError::key_reused).status == 409);
  CHECK(of(EngineError::try_again).status == 503);
  CHECK(of(EngineError::draining).status == 503);
  CHECK(of(EngineError::wrong_state).status == 500);
}

TEST_CASE("x402 reasons: a payment that ended says why, and whether it may be tried again") {
  domain::Intent intent;
  const auto of = [&](std::string why) {
    intent.reason = std::move(why);
    return reason_of_end(intent, Transfer::eip3009);
  };
  intent.state = domain::IntentState::canceled;
  CHECK(of("expired") == Reason::valid_before);
  CHECK(of("authorization_canceled") == Reason::nonce_already_used);
  CHECK(of(std::string(given_up)) == Reason::unexpected_settle_error);
  CHECK(of("cancel_asked") == Reason::unexpected_settle_error);
  CHECK(of("transfer amount exceeds balance") == Reason::simulation_failed);
  intent.state = domain::IntentState::failed;
  intent.tx_hash = domain::TxHash{};
  CHECK(of("reverted") == Reason::transaction_failed);
}

TEST_CASE("x402 standing: a hash that may still move money is never a refusal") {
  using domain::IntentState;
  engine::Standing standing;
  const auto next = [&](IntentState state, bool has_hash, bool included = false) {
    standing.intent.state = state;
    standing.hash = has_hash ? std::optional(domain::TxHash{}) : std::nullopt;
    standing.included = included;
    return next_for(standing);
  };
  CHECK(next(IntentState::confirming, true, true) == Next::succeed);
  CHECK(next(IntentState::settled, true) == Next::succeed);
  CHECK(next(IntentState::confirming, true) == Next::pending);
  CHECK(next(IntentState::settling, true) == Next::pending);
  CHECK(next(IntentState::needs_review, true) == Next::pending);
  CHECK(next(IntentState::needs_review, false) == Next::stuck);
  CHECK(next(IntentState::settling, false) == Next::give_up);
  CHECK(next(IntentState::authorized, false) == Next::give_up);
  CHECK(next(IntentState::canceled, false) == Next::refuse);
  CHECK(next(IntentState::failed, true) == Next::refuse);
}

TEST_CASE("x402 limits: a bucket gives its burst, then its rate, and says when to come back") {
  const Rate rate{.per_s = 2, .burst = 3};
  Bucket bucket;
  for (int i = 0; i < 3; ++i) CHECK_FALSE(take(bucket, rate, 1'000).has_value());
  CHECK(take(bucket, rate, 1'000) == 500);
  CHECK(take(bucket, rate, 1'499) == 1);
  CHECK_FALSE(take(bucket, rate, 1'500).has_value());
  CHECK(take(bucket, rate, 1'500).has_value());
  // A clock that goes back gives nothing; a long sleep gives no more than the burst.
  CHECK(take(bucket, rate, 0).has_value());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(take(bucket, rate, 1'000'000'000).has_value());
  CHECK(take(bucket, rate, 1'000'000'000).has_value());
  Bucket free;
  for (int i = 0; i < 100; ++i) CHECK_FALSE(take(free, Rate{}, 0).has_value());
}

TEST_CASE(
    "x402 limits: a day's gas is each caller's and each chain's own, and returns at midnight") {
  constexpr std::int64_t day = 86'400'000;
  GasBudget budget(U256{100});
  CHECK(budget.has_room("a", "x", 0));
  {
    GasHold(budget, "a", "x", 0).cost = U256{60};
  }
  CHECK_FALSE(budget.has_room("a", "x", 0));  // the next one may cost as much
  CHECK(budget.has_room("b", "x", 0));
  CHECK(budget.has_room("a", "y", 0));
  CHECK(budget.has_room("a", "x", day));
  {
    GasHold(budget, "a", "x", day).cost = U256{100};
  }
  CHECK_FALSE(budget.has_room("a", "x", day));
  CHECK(budget.has_room("a", "x", 2 * day));
  GasBudget none(std::nullopt);
  {
    GasHold(none, "a", "x", 0).cost = U256::max();
  }
  CHECK(none.has_room("a", "x", 0));
}

TEST_CASE("x402 limits: payments at the same moment cannot pass a day's gas together") {
  GasBudget budget(U256{100});
  std::vector<std::unique_ptr<GasHold>> open;
  while (budget.has_room("a", "x", 0) && open.size() < 1'000) {
    open.push_back(std::make_unique<GasHold>(budget, "a", "x", 0));
  }
  CHECK(open.size() == 10);  // a tenth is held for each, while no price is known
  open.back()->cost = U256{40};
  open.pop_back();
  CHECK_FALSE(budget.has_room("a", "x", 0));
  open.clear();  // nothing was signed for the others
  CHECK(budget.has_room("a", "x", 0));
}

TEST_CASE("x402 limits: a payment that was refused tells of no price") {
  GasBudget budget(U256{100});
  {
    const GasHold refused(budget, "a", "x", 0);
  }
  std::vector<std::unique_ptr<GasHold>> open;
  while (budget.has_room("a", "x", 0) && open.size() < 1'000) {
    open.push_back(std::make_unique<GasHold>(budget, "a", "x", 0));
  }
  CHECK(open.size() == 10);
}

}  // namespace holdfast::http::x402
