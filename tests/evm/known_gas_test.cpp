// The gas that calls of one shape needed before: one trial instead of a search, and never a yes of
// its own.
#include <doctest/doctest.h>

#include "evm/chain_node.hpp"
#include "evm/known_gas.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using ports::RefusalKind;

namespace {

const ports::Call transfer{{token}, {}, {0xa9, 0x05, 0x9c, 0xbb, 0x01}};
const ports::Call money{{alice}, U256{5}, {0x01}};

struct Trials : Bench {
  explicit Trials(EvmOptions options = {.id = chain_id}) : Bench(std::move(options)) {
    node.overrides["eth_getCode"] = always(json::value("0x6001"));
    node.overrides["eth_estimateGas"] = always(json::value("0xea60"));
    node.overrides["eth_call"] = always(json::value("0x"));
  }
  ports::Outcome<ports::Simulated> simulate() { return run(chain.simulate({alice}, transfer)); }
};

}  // namespace

TEST_CASE("known gas: of a contract's calls the dearest counts, of plain money the cheapest") {
  KnownGas known;
  CHECK_FALSE(known.of(transfer, 0).has_value());
  known.note(transfer, 32'000, 0);
  known.note(transfer, 64'000, 1'000);
  known.note(transfer, 32'000, 2'000);
  CHECK(known.of(transfer, 2'000) == 66'000);
  CHECK_FALSE(known.of(transfer, 30'000).has_value());

  known.note(money, 64'000, 0);
  ports::Call to_another = money;
  to_another.target = {token};
  known.note(to_another, 32'000, 0);
  CHECK(known.of(money, 0) == 33'000);
}

TEST_CASE("known gas: another function, other data or another target is another shape") {
  KnownGas known;
  known.note(transfer, 32'000, 0);
  ports::Call other = transfer;
  other.payload[0] = 0x23;
  CHECK_FALSE(known.of(other, 0).has_value());
  other = transfer;
  other.payload.push_back(0);
  CHECK_FALSE(known.of(other, 0).has_value());
  other = transfer;
  other.target = {alice};
  CHECK_FALSE(known.of(other, 0).has_value());
}

TEST_CASE("chain: a call like one before is tried once, with the gas that one needed") {
  Trials bench;
  REQUIRE(bench.simulate().ok() != nullptr);
  bench.node.asked.clear();
  const auto again = bench.simulate();
  REQUIRE(again.ok() != nullptr);
  CHECK(again.ok()->gas == 60'000 + 60'000 / 32);
  CHECK(bench.node.count("eth_estimateGas") == 0);
  REQUIRE(bench.node.count("eth_call") == 1);
  CHECK(bench.node.asked.back().second.at(0).at("gas") == json::value("0xf1b3"));

  bench.clock.now_ms += 30'000;
  CHECK(bench.simulate().ok()->gas == 60'000);
}

TEST_CASE("chain: where the known gas does not do, it is searched for, and that answer counts") {
  Trials bench;
  REQUIRE(bench.simulate().ok() != nullptr);
  bench.node.overrides["eth_call"] =
      always(Answer(ports::Refused{RefusalKind::reverted, "out of gas"}));
  bench.node.overrides["eth_estimateGas"] = always(json::value("0x11170"));
  CHECK(bench.simulate().ok()->gas == 70'000);
  bench.node.overrides["eth_estimateGas"] =
      always(Answer(ports::Refused{RefusalKind::reverted, "authorization is expired"}));
  const auto no = bench.simulate();
  REQUIRE(no.refused() != nullptr);
  CHECK(no.refused()->message == "authorization is expired");
}

TEST_CASE("chain: known gas is never over the cap, and no silence is taken for a yes") {
  EvmOptions options{.id = chain_id};
  options.fees.gas_cap = 60'000;
  Trials bench(std::move(options));
  REQUIRE(bench.simulate().ok() != nullptr);
  CHECK(bench.simulate().ok()->gas == 60'000);
  bench.node.overrides["eth_call"] = always(Answer(ports::Unknown{"no answer", false}));
  CHECK(bench.simulate().unknown() != nullptr);
}
