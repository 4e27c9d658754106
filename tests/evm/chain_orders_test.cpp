// What is pure about the chain: names, orders, the check of signed bytes; and posting them.
#include <algorithm>

#include <doctest/doctest.h>

#include <holdfast/ports/method.hpp>

#include "engine/sealing.hpp"
#include "evm/chain_node.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::ChainError;
using ports::RefusalKind;

namespace {

ports::Order order() {
  return {.sender = {alice},
          .sequence = {7},
          .call = {.target = {token}, .value = 5, .payload = {0xa9, 0x05, 0x9c, 0xbb}},
          .fees = {.max_fee = 30'000'000'000, .priority_fee = 1'000'000'000, .gas_limit = 90'000}};
}

std::string upper(std::string text) {
  std::transform(text.begin() + 2, text.end(), text.begin() + 2, [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
  });
  return text;
}

std::string lower(std::string text) {
  std::transform(text.begin() + 2, text.end(), text.begin() + 2, [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  });
  return text;
}

}  // namespace

TEST_CASE("chain: addresses become canonical, and a wrong checksum is refused") {
  Bench bench;
  CHECK(bench.chain.parse_address(lower(alice))->value == alice);
  CHECK(bench.chain.parse_address(upper(alice))->value == alice);
  CHECK(bench.chain.parse_address(alice)->value == alice);
  CHECK(bench.chain.parse_address("0x" + std::string(40, '0')).has_value());
  std::string wrong = alice;
  wrong[3] = 'F';
  wrong[2] = 'F';
  for (const std::string& bad : {wrong, std::string(), std::string("native"), alice + "0",
                                 alice.substr(2), std::string("0x") + std::string(40, 'g')}) {
    CAPTURE(bad);
    const auto parsed = bench.chain.parse_address(bad);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == ChainError::bad_address);
    CHECK_FALSE(parsed.error().detail.empty());
  }
}

TEST_CASE("chain: an asset is native or a token's address") {
  Bench bench;
  CHECK(*bench.chain.parse_asset("native") == domain::native_asset);
  CHECK(bench.chain.parse_asset(lower(token))->value == token);
  const auto bad = bench.chain.parse_asset("USDC");
  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().code == ChainError::bad_asset);
}

TEST_CASE("chain: a noop sends nothing to itself") {
  Bench bench;
  const ports::Call noop = bench.chain.noop_call({alice});
  CHECK(noop.target.value == alice);
  CHECK(noop.value.is_zero());
  CHECK(noop.payload.empty());
}

TEST_CASE("chain: sealed bytes say what the order says, and hash to what is watched") {
  Bench bench;
  const auto sealed = bench.chain.seal(order(), sign_with(alice_key, bench.chain.digest(order())));
  REQUIRE(sealed.has_value());
  const auto read = decode_signed(sealed->bytes);
  REQUIRE(read.has_value());
  CHECK(read->tx.chain_id == 31337);
  CHECK(read->tx.nonce == 7);
  CHECK(read->tx.to == *Address20::from_text(token));
  CHECK(read->tx.value == U256(5));
  CHECK(read->tx.data == order().call.payload);
  CHECK(read->tx.gas_limit == 90'000);
  CHECK(read->tx.max_fee == U256(30'000'000'000));
  CHECK(read->tx.max_priority_fee == U256(1'000'000'000));
  CHECK(read->sender == *Address20::from_text(alice));
  CHECK(sealed->hash.value == keccak256(sealed->bytes).value);
}

TEST_CASE("chain: a signature over anything but this order is destroyed, not posted") {
  Bench bench;
  const Bytes good = sign_with(alice_key, bench.chain.digest(order()));
  REQUIRE(bench.chain.seal(order(), good).has_value());
  ports::Order other = order();
  Bytes signature = good;
  SUBCASE("another key") { signature = sign_with(bob_key, bench.chain.digest(order())); }
  SUBCASE("another sender") { other.sender = {bob}; }
  SUBCASE("another sequence") { other.sequence = {8}; }
  SUBCASE("another target") { other.call.target = {bob}; }
  SUBCASE("another value") { other.call.value = 6; }
  SUBCASE("another payload") { other.call.payload.push_back(0); }
  SUBCASE("another fee") { other.fees.max_fee = 30'000'000'001; }
  SUBCASE("another priority fee") { other.fees.priority_fee = 0; }
  SUBCASE("another gas limit") { other.fees.gas_limit = 90'001; }
  SUBCASE("a priority fee over the fee") {
    other.fees.priority_fee = 30'000'000'001;
    signature = sign_with(alice_key, bench.chain.digest(other));
  }
  SUBCASE("64 bytes") { signature.pop_back(); }
  SUBCASE("66 bytes") { signature.push_back(0); }
  SUBCASE("no bytes") { signature.clear(); }
  SUBCASE("zeros") { signature.assign(65, 0); }
  SUBCASE("the other parity") { signature[64] ^= 7; }
  const auto sealed = bench.chain.seal(other, signature);
  REQUIRE_FALSE(sealed.has_value());
  CHECK(sealed.error().code == ChainError::wrong_bytes);
  CHECK_FALSE(sealed.error().detail.empty());
}

TEST_CASE("chain: where the signer is believed the bytes are the same, and all else is compared") {
  Bench bench;
  const Digest digest = bench.chain.digest(order());
  const Bytes good = sign_with(alice_key, digest);
  const auto sealed = bench.chain.seal_checked(order(), good, digest);
  REQUIRE(sealed.has_value());
  const auto recovered = bench.chain.seal(order(), good);
  CHECK(sealed->bytes == recovered->bytes);
  CHECK(sealed->hash == recovered->hash);

  ports::Order other = order();
  Bytes signature = good;
  SUBCASE("another sequence") { other.sequence = {8}; }
  SUBCASE("another target") { other.call.target = {bob}; }
  SUBCASE("another value") { other.call.value = 6; }
  SUBCASE("another payload") { other.call.payload.push_back(0); }
  SUBCASE("another fee") { other.fees.max_fee = 30'000'000'001; }
  SUBCASE("another gas limit") { other.fees.gas_limit = 90'001; }
  SUBCASE("64 bytes") { signature.pop_back(); }
  SUBCASE("zeros") { signature.assign(65, 0); }
  const auto wrong = bench.chain.seal_checked(other, signature, digest);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().code == ChainError::wrong_bytes);
}

namespace {

/// Signs with this key, whoever is asked for, and says that it checks itself, or that it does not.
class AnySigner final : public ports::Signer {
 public:
  explicit AnySigner(bool checks) : checks_(checks) {}
  std::vector<domain::Address> accounts() const override { return {}; }
  bool local() const override { return true; }
  bool checks_itself() const override { return checks_; }
  boost::asio::awaitable<ports::Outcome<Bytes>> sign(domain::Address, Digest digest) override {
    co_return sign_with(bob_key, digest);
  }

 private:
  bool checks_;
};

}  // namespace

TEST_CASE("chain: who signed is read out of the signature, but of a signer that checks itself") {
  Bench bench;
  const Digest digest = bench.chain.digest(order());
  const Bytes of_bob = sign_with(bob_key, digest);
  const auto doubted = engine::seal(bench.chain, AnySigner(false), order(), of_bob, digest);
  REQUIRE_FALSE(doubted.has_value());
  CHECK(doubted.error().code == ChainError::wrong_bytes);
  CHECK(engine::seal(bench.chain, AnySigner(true), order(), of_bob, digest).has_value());
  // Whoever it is, bytes with another digest than the one that was signed are destroyed.
  const Digest another = sha256(as_bytes("another"));
  CHECK_FALSE(engine::seal(bench.chain, AnySigner(true), order(), of_bob, another).has_value());
}

TEST_CASE("chain: the same order on another chain has another digest") {
  Bench here;
  Bench there({.id = {"eip155:1"}});
  CHECK(here.chain.digest(order()) != there.chain.digest(order()));
  const auto sealed = there.chain.seal(order(), sign_with(alice_key, here.chain.digest(order())));
  CHECK_FALSE(sealed.has_value());
}

TEST_CASE("chain: an accepted post is one whose hash came back") {
  Bench bench;
  const auto hash = *domain::TxHash::from_text(word(7));
  bench.node.overrides["eth_sendRawTransaction"] = always(json::value(word(7)));
  const auto posted = run(bench.chain.post({0x02, 0xff}, hash));
  REQUIRE(posted.ok() != nullptr);
  CHECK_FALSE(posted.ok()->already_known);
  CHECK(std::string(bench.node.asked.at(0).second.at(0).as_string()) == "0x02ff");
}

TEST_CASE("chain: a post answered with another hash, or none, is unknown") {
  for (const json::value& answer :
       {json::value(word(8)), json::value(), json::value(true), json::value(""),
        json::value("0x07"), json::value(word(7).substr(2)), json::value(json::object{})}) {
    Bench bench;
    bench.node.overrides["eth_sendRawTransaction"] = always(answer);
    CHECK(run(bench.chain.post({2}, *domain::TxHash::from_text(word(7)))).unknown() != nullptr);
  }
}

TEST_CASE("chain: bytes that a node has already are posted; every other refusal stays what it is") {
  struct Row {
    ports::Refused refused;
    bool known;
  };
  for (const Row& row : {Row{{RefusalKind::other, "already known"}, true},
                         Row{{RefusalKind::nonce_too_low, "nonce too low"}, false},
                         Row{{RefusalKind::replacement_underpriced, "underpriced"}, false},
                         Row{{RefusalKind::unfunded, "insufficient funds"}, false},
                         Row{{RefusalKind::pool_full, "txpool is full"}, false}}) {
    CAPTURE(row.refused.message);
    Bench bench;
    bench.node.overrides["eth_sendRawTransaction"] = always(Answer(row.refused));
    const auto posted = run(bench.chain.post({2}, {}));
    if (row.known) {
      REQUIRE(posted.ok() != nullptr);
      CHECK(posted.ok()->already_known);
    } else {
      REQUIRE(posted.refused() != nullptr);
      CHECK(posted.refused()->kind == row.refused.kind);
    }
  }
}

TEST_CASE("chain: a rate limit says nothing about the bytes") {
  Bench bench;
  bench.node.overrides["eth_sendRawTransaction"] = always(Answer(ports::Unknown{"429", true}));
  const auto posted = run(bench.chain.post({2}, {}));
  REQUIRE(posted.unknown() != nullptr);
  CHECK(posted.unknown()->rate_limited);
}

TEST_CASE("chain: orders are refused: this chain takes signed bytes") {
  Bench bench;
  const auto sent = run(bench.chain.send_order({}, {}));
  REQUIRE(sent.refused() != nullptr);
  CHECK(bench.node.asked.empty());
}

TEST_CASE("chain: a simulation asks for the call as it would be sent") {
  Bench bench;
  bench.node.overrides["eth_estimateGas"] = always(json::value("0xea60"));
  const auto simulated = run(bench.chain.simulate({alice}, order().call));
  REQUIRE(simulated.ok() != nullptr);
  CHECK(simulated.ok()->gas == 60'000);
  const json::object& asked = bench.node.asked.at(0).second.at(0).as_object();
  CHECK(asked ==
        json::object{{"from", alice}, {"to", token}, {"value", "0x5"}, {"data", "0xa9059cbb"}});
}

TEST_CASE(
    "chain: a revert carries its reason, want of gas money is no revert, zero gas no answer") {
  Bench bench;
  bench.node.overrides["eth_estimateGas"] =
      always(Answer(ports::Refused{RefusalKind::reverted, "authorization is expired"}));
  const auto reverted = run(bench.chain.simulate({alice}, order().call));
  REQUIRE(reverted.refused() != nullptr);
  CHECK(reverted.refused()->message == "authorization is expired");
  bench.node.overrides["eth_estimateGas"] =
      always(Answer(ports::Refused{RefusalKind::unfunded, "insufficient funds for gas"}));
  CHECK(run(bench.chain.simulate({alice}, order().call)).refused()->kind == RefusalKind::unfunded);
  bench.node.overrides["eth_estimateGas"] = always(json::value("0x0"));
  CHECK(run(bench.chain.simulate({alice}, order().call)).unknown() != nullptr);
}
