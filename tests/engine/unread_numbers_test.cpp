// Numbers used elsewhere where no node keeps what would tell by what.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using testing::Rig;
using testing::RigOptions;

namespace {

bool says_what_to_do(const std::string& text) {
  return text.find("what used number 0 cannot be read") != std::string::npos &&
         text.find("missing trie node") != std::string::npos &&
         text.find("archive node") != std::string::npos;
}

}  // namespace

TEST_CASE("foreign: where no node keeps old state, an operator is told what to configure") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.world.run_for(2'000);
  const domain::Address account = rig.accounts.front();
  const domain::ChainId chain = rig.chain.info().id;
  rig.chain.script().fail_next(sim::ChainCall::consumer, sim::unknown("missing trie node"), 15);
  rig.chain.run_elsewhere(
      {account, {0}, rig.chain.noop_call(account), {U256{5'000}, U256{500}, 60'000}});
  const std::uint64_t alarms = rig.engine->stats().alarms;
  rig.mine_for(10);
  const auto report = rig.run(rig.engine->reconcile("ann", chain, account));
  REQUIRE_MESSAGE(report.has_value(), report.error().detail);
  CHECK_MESSAGE(says_what_to_do(report->trouble), report->trouble);
  const auto refused = rig.run(rig.engine->adopt(rig.by("ann"), chain, account, "mine"));
  REQUIRE_FALSE(refused.has_value());
  CHECK_MESSAGE(says_what_to_do(refused.error().detail), refused.error().detail);
  CHECK(rig.engine->stats().alarms == alarms + 2);  // that it is blocked, and this, once
  // Another endpoint is configured, and answers.
  rig.mine_for(120);
  const auto adopted = rig.run(rig.engine->adopt(rig.by("ann"), chain, account, "mine"));
  REQUIRE_MESSAGE(adopted.has_value(), adopted.error().detail);
  CHECK(rig.run(rig.engine->reconcile("ann", chain, account))->trouble.empty());
}
