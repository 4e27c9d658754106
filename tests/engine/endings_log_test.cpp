// What the log says of a payment that did not settle: which, and why.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <holdfast/base/log.hpp>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

namespace {

/// The log's lines that begin so, while it lives.
class Lines {
 public:
  explicit Lines(std::string start) {
    log::set_sink([this, start = std::move(start)](log::Level, std::string_view line) {
      if (line.starts_with(start)) lines_.emplace_back(line);
    });
  }
  ~Lines() {
    log::set_sink([](log::Level, std::string_view) {});
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

std::string line_of(const domain::Intent& intent, const std::string& state,
                    const std::string& reason) {
  return "payment_" + state + " intent=" + domain::text(intent.id) + " ref=" + intent.ref.hex() +
         " reason=" + reason;
}

}  // namespace

TEST_CASE("log: a payment that ends canceled or failed, or goes to review, has one line with why") {
  struct Row {
    int steps;
    IntentState ending;
  };
  // So many steps a delivery: too few to claim, to sign, to confirm.
  for (const Row row : {Row{1, IntentState::canceled}, Row{3, IntentState::failed},
                        Row{4, IntentState::needs_review}}) {
    CAPTURE(row.steps);
    RigOptions options;
    options.block_ms = 0;
    options.config.most_steps = row.steps;
    Rig rig(options);
    rig.start();
    const Lines endings("payment_");
    const domain::Intent intent = rig.create("one", rig.payout());
    REQUIRE(rig.reaches(intent.id, row.ending, 5'000));
    REQUIRE(endings.lines().size() == 1);
    CHECK(endings.lines()[0] ==
          line_of(intent, std::string(domain::to_text(row.ending)), "budget_spent"));
  }
}

TEST_CASE("log: a caller's and an operator's cancel have a line, a settled payment has none") {
  Rig rig;
  rig.start();
  const Lines endings("payment_");
  const domain::Intent ours = rig.create("one", rig.from_payer());
  const domain::Intent theirs = rig.create("two", rig.from_payer());
  const domain::Intent paid = rig.create("three", rig.payout());
  REQUIRE(rig.run(rig.engine->cancel(rig.caller("c"), ours.id, "sold out")).has_value());
  REQUIRE(rig.run(rig.engine->cancel(rig.caller("c"), ours.id, "sold out")).has_value());
  REQUIRE(rig.run(rig.engine->abandon(rig.by("desk"), theirs.id, "dispute")).has_value());
  REQUIRE(rig.reaches(paid.id, IntentState::settled, 30'000));
  CHECK(endings.lines() == std::vector<std::string>{line_of(ours, "canceled", "\"sold out\""),
                                                    line_of(theirs, "canceled", "dispute")});
}

TEST_CASE("log: a chain that stands still has one line, and another when it moves again") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.world.run_for(1'000);  // it is up
  const Lines lines("chain_");
  rig.world.run_for(290'000);
  CHECK(lines.lines().empty());
  CHECK(rig.engine->chains().at(0).latest_age_ms >= 290'000);
  rig.world.run_for(900'000);
  REQUIRE(lines.lines().size() == 1);
  CHECK(lines.lines()[0].starts_with("chain_stands_still chain=sim:1 latest="));
  rig.chain.mine();
  rig.world.run_for(3'000);
  REQUIRE(lines.lines().size() == 2);
  CHECK(lines.lines()[1].starts_with("chain_moves_again chain=sim:1 latest="));
  CHECK(rig.engine->chains().at(0).latest_age_ms <= 3'000);
  rig.chain.mine();
  rig.world.run_for(200'000);
  CHECK(lines.lines().size() == 2);
}

TEST_CASE("log: a payment that the listener ends has one line of its end, and an alarm") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  rig.chain.set_gas(450'000);  // more than it was signed for
  const Lines all("");
  rig.chain.mine(4);
  REQUIRE(rig.reaches(intent.id, IntentState::failed, 30'000));
  std::size_t named = 0;
  for (const std::string& line : all.lines()) {
    const bool alarm = line.starts_with("payment_did_not_move");
    if (!alarm && line.find(domain::text(intent.id)) != std::string::npos) ++named;
  }
  CHECK(named == 1);
}

// What is sent is told of, whatever the payment has become: its money may have moved.
TEST_CASE("log: a transaction of ours with the ref of a payment that ended otherwise is an alarm") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  rig.chain.script().set_down(true);
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.run(rig.engine->cancel(rig.caller("c"), intent.id, "changed mind")).has_value());
  rig.chain.script().set_down(false);
  const Lines alarms("sent_and_ended_otherwise");
  rig.chain.run_elsewhere(
      {rig.accounts.front(), {0}, *rig.payouts.call(intent), {U256(20'000), U256(500), 100'000}});
  rig.mine_for(8);
  REQUIRE(alarms.lines().size() == 1);
  CHECK(alarms.lines().front().find(domain::text(intent.id)) != std::string::npos);
  CHECK(alarms.lines().front().find("state=canceled") != std::string::npos);
}
