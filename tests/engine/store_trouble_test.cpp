// What a store that cannot write now does to deliveries: they wait, and go on where they were.
#include <string>

#include <doctest/doctest.h>

#include <holdfast/base/log.hpp>
#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

/// Counts the log's lines with this text, while it lives.
class Lines {
 public:
  explicit Lines(std::string text) {
    log::set_sink([this, text = std::move(text)](log::Level, std::string_view line) {
      if (line.find(text) != std::string_view::npos) ++count_;
    });
  }
  ~Lines() {
    log::set_sink([](log::Level, std::string_view) {});
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  int count() const { return count_; }

 private:
  int count_ = 0;
};

}  // namespace

TEST_CASE("engine: a delivery survives a store that fails again and again, and goes on") {
  RigOptions options;
  options.on_disk = true;
  Rig rig(options);
  rig.start();
  const Lines failed("store_unavailable intent=");
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == 1; }, 5'000));
  rig.disk.fill_up();
  rig.world.run_for(3'500);
  CHECK(failed.count() >= 3);
  CHECK(rig.chain.posts().empty());
  CHECK(rig.state(intent.id) == IntentState::authorized);
  rig.disk.make_room();
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 30'000));
  check_paid_once(rig, intent);
  CHECK(rig.engine->stats().leased == 1);  // one delivery, whatever it went through
  check_audit(rig);
}

TEST_CASE("engine: deliveries that find the store's queue full again and again all go on") {
  constexpr std::uint64_t payments = 40;
  RigOptions options;
  options.max_queued = 3;
  options.max_unconsumed = 64;
  Rig rig(options);
  rig.chain.script().set_down(true);
  rig.start();
  std::vector<domain::Intent> intents;
  intents.reserve(payments);
  for (std::uint64_t i = 0; i < payments; ++i) {
    intents.push_back(rig.create("k" + std::to_string(i), rig.payout()));
  }
  rig.chain.script().set_down(false);
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().settled == payments; }, 300'000));
  for (const domain::Intent& intent : intents) check_paid_once(rig, intent);
  CHECK(rig.engine->stats().leased == payments);
  check_audit(rig);
}
