// Cases C: killed, and started again on what is on disk.
#include <signal.h>

#include <cstdlib>

#include <doctest/doctest.h>

#include "rig.hpp"
#include "sim/executor.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

/// HOLDFAST_CASES_SEEDS: how many seeds a combination, one by default.
std::uint64_t seeds() {
  const char* const wanted = std::getenv("HOLDFAST_CASES_SEEDS");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 1 : std::stoull(wanted);
}

struct Combination {
  std::string kill_point;
  Blocks blocks;
  int payments;
  std::uint64_t seed;
};

void die_and_recover(const Combination& how) {
  CAPTURE(how.kill_point);
  CAPTURE(how.payments);
  CAPTURE(how.seed);
  CAPTURE(static_cast<int>(how.blocks));
  sim::Chance chance(how.seed * 1'000 + static_cast<std::uint64_t>(how.payments));
  Options options;
  options.blocks = how.blocks;
  options.relayers = how.payments > 1 ? 2 : 1;
  options.rpc_batch = chance.below(2) == 0 ? 1 : 100;
  options.log_level = "info";
  options.stuck_after_ms = 3'000;
  Rig rig(options);
  // A round of posts may take all that is ready: of those there are as many as relayers, at least.
  const std::uint64_t passes = how.kill_point == "KP3" ? 2 : 10;
  const std::uint64_t pass = how.payments == 1 ? 1 : 1 + chance.below(passes);
  rig.start(how.kill_point + ":" + std::to_string(pass));
  // Asked for while it dies: whoever got no answer asks again with the same key.
  for (int i = 0; i < how.payments; ++i) {
    rig.ask("POST", "/v1/payment_intents", rig.payout_body(), "c4-" + std::to_string(i));
  }
  CHECK_MESSAGE(test::within_ms(
                    20'000,
                    [&] {
                      if (rig.running()) rig.mine();
                      return !rig.running();
                    },
                    150),
                "it did not die");
  // And again while it recovers.
  rig.start_unready();
  test::pause_ms(static_cast<std::int64_t>(chance.below(300)));
  rig.kill();
  rig.start();
  for (int i = 0; i < how.payments; ++i) rig.ask_for(rig.payout_body(), "c4-" + std::to_string(i));
  CHECK(rig.mine_until(rig.payments, "settled", 60'000));
  CHECK(rig.transfers_of_all() == static_cast<std::size_t>(how.payments));
  // Nothing is signed a second time: what goes out after a crash is what was stored before it.
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == how.payments);
  // And where the answer was known to be good, nothing goes out.
  const bool was_answered = how.kill_point >= "KP6";
  if (how.payments == 1 && was_answered) CHECK(rig.proxy->raws().size() == 1);
  rig.check_all();
}

void die_everywhere(const std::string& kill_point) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    for (const Blocks blocks : {Blocks::by_hand, Blocks::at_once}) {
      for (const int payments : {1, 20}) {
        die_and_recover({kill_point, blocks, payments, seed});
      }
    }
  }
}

}  // namespace

TEST_CASE("C4: killed when the reservation was committed") { die_everywhere("KP1"); }
TEST_CASE("C4: killed when the bytes were committed") { die_everywhere("KP2"); }
TEST_CASE("C4: killed before the send") { die_everywhere("KP3"); }
TEST_CASE("C4: killed when the request was written") { die_everywhere("KP4"); }
TEST_CASE("C4: killed when the answer was read") { die_everywhere("KP5"); }
TEST_CASE("C4: killed before confirming was stored") { die_everywhere("KP6"); }
TEST_CASE("C4: killed when confirming was stored") { die_everywhere("KP7"); }
TEST_CASE("C4: killed when the final receipt was seen") { die_everywhere("KP8"); }
TEST_CASE("C4: killed when it was settled") { die_everywhere("KP9"); }

TEST_CASE("C5: after a restart the next number is above what waits in the pool") {
  Rig rig;
  rig.start();
  auto all = rig.payouts(3);
  for (const Payment& one : all) CHECK(rig.reaches(one.id, "confirming"));
  rig.kill();
  rig.start();
  all.push_back(rig.payout());
  CHECK(rig.reaches(all.back().id, "confirming"));
  const auto raws = rig.raws_of(all.back());
  REQUIRE_FALSE(raws.empty());
  CHECK(raws.front().nonce == 3);
  for (const test::SentRaw& raw : rig.proxy->raws()) {
    CHECK(raw.answer.find("underpriced") == std::string::npos);
    CHECK(raw.answer.find("nonce too low") == std::string::npos);
  }
  CHECK(rig.mine_until(all, "settled"));
  CHECK(rig.transfers_of_all() == 4);
  rig.check_all();
}
