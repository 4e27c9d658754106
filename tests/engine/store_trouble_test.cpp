// What a store that cannot write now does to deliveries: they wait, and go on where they were.
#include <set>
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

TEST_CASE("D1: a disk that is full stops leasing and posting, is said, and is left by itself") {
  RigOptions options;
  options.on_disk = true;
  options.config.max_in_flight = 2;
  Rig rig(options);
  rig.start();
  rig.chain.script().set_down(true);
  REQUIRE(rig.world.run_until([&] { return !rig.engine->chains().front().usable; }, 60'000));
  std::vector<domain::Intent> intents;
  intents.reserve(5);
  for (int i = 0; i < 5; ++i) intents.push_back(rig.create("k" + std::to_string(i), rig.payout()));
  rig.chain.script().set_down(false);
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == 2; }, 60'000));
  CHECK(rig.engine->trouble().empty());

  rig.disk.fill_up();
  const std::uint64_t heads = rig.chain.script().calls(sim::ChainCall::head);
  rig.world.run_for(180'000);  // six leases long
  CHECK(rig.engine->trouble() == "the store cannot be written: its disk is full");
  CHECK_FALSE(rig.engine->stats().store_writable);
  CHECK_FALSE(rig.engine->broken());
  CHECK(rig.chain.posts().empty());  // what could not be stored was not posted
  CHECK(rig.engine->stats().leased == 2);
  CHECK(rig.chain.script().calls(sim::ChainCall::head) >= heads + 100);
  CHECK_THROWS_AS(rig.run(rig.engine->create(rig.caller("late"), rig.payout())),
                  store::StoreUnavailable);

  rig.disk.make_room();
  for (const domain::Intent& intent : intents) {
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 60'000));
    check_paid_once(rig, intent);
    CHECK(rig.detail(intent.id).attempts.size() == 1);
  }
  CHECK(rig.engine->trouble().empty());
  CHECK(rig.engine->stats().store_writable);
  // The outage spent nobody's delivery budget: each job was handed out once.
  CHECK(rig.engine->stats().leased == 5);
  check_audit(rig);
}

TEST_CASE("D1: an outage longer than a lease hands no running job out again") {
  RigOptions options;
  options.on_disk = true;
  options.latency_ms = 300;
  Rig rig(options);
  rig.start();
  REQUIRE(rig.world.run_until([&] { return rig.engine->chains().front().usable; }, 60'000));
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.world.run_until([&] { return rig.engine->stats().leased == 1; }, 60'000));
  rig.disk.fill_up();
  rig.world.run_for(120'000);
  rig.disk.make_room();
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 120'000));
  check_paid_once(rig, intent);
  CHECK(rig.engine->stats().leased == 1);
}

TEST_CASE("D1: with nothing to do the engine still knows of a full disk, until there is room") {
  RigOptions options;
  options.on_disk = true;
  Rig rig(options);
  rig.start();
  rig.disk.fill_up();
  CHECK_THROWS_AS(rig.run(rig.engine->create(rig.caller("one"), rig.payout())),
                  store::StoreUnavailable);
  rig.world.run_for(90'000);
  CHECK_FALSE(rig.engine->trouble().empty());
  rig.disk.make_room();
  rig.world.run_for(1'500);
  CHECK(rig.engine->trouble().empty());
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 30'000));
  check_paid_once(rig, intent);
}

TEST_CASE("D1: after a sync that failed the engine is broken, posts nothing, and recovers anew") {
  for (std::uint64_t nth = 1; nth <= 6; ++nth) {
    CAPTURE(nth);
    RigOptions options;
    options.on_disk = true;
    Rig rig(options);
    rig.start();
    std::vector<domain::Intent> intents;
    intents.reserve(5);
    for (int i = 0; i < 5; ++i) {
      intents.push_back(rig.create("k" + std::to_string(i), rig.payout()));
    }
    rig.disk.fail_sync(test::FileKind::wal, static_cast<int>(nth));
    REQUIRE(rig.world.run_until([&] { return rig.engine->broken(); }, 60'000));
    rig.world.run_for(1'000);  // what was stored before may still be on its way
    const std::size_t posts = rig.chain.posts().size();
    rig.world.run_for(60'000);
    CHECK(rig.chain.posts().size() == posts);
    CHECK_THROWS_AS(rig.run(rig.engine->find(std::nullopt, intents[0].id)), store::StoreInDoubt);

    // As its owner does: drained, the file opened again, a new engine.
    rig.run(rig.engine->drain(0));
    rig.disk.heal();
    rig.store->close();
    const auto doubtful = std::move(rig.store);
    rig.reopen_store();
    rig.engine->renew(*rig.store);
    rig.run(rig.engine->start());
    CHECK_FALSE(rig.engine->broken());
    std::set<domain::TxHash> stored;
    for (const domain::Intent& intent : intents) {
      for (const auto& attempt : rig.detail(intent.id).attempts) stored.insert(*attempt.hash);
    }
    for (const sim::PostRecord& post : rig.chain.posts()) CHECK(stored.contains(post.hash));
    for (const domain::Intent& intent : intents) {
      REQUIRE(rig.reaches(intent.id, IntentState::settled, 120'000));
      check_paid_once(rig, intent);
    }
    check_audit(rig);
  }
}

TEST_CASE("D3: whatever reached a node is in what a power cut at that moment leaves") {
  RigOptions options;
  options.on_disk = true;
  options.synced_only = true;
  Rig rig(options);
  rig.start();
  std::vector<domain::Intent> intents;
  intents.reserve(8);
  for (int i = 0; i < 8; ++i) {
    intents.push_back(rig.create("k" + std::to_string(i), rig.payout()));
    const test::TempFolder copy;
    rig.disk.write_synced(copy.path().string());
    const auto db = sqlite::open_sqlite({.path = copy / "pay.db"})->open_writer();
    store::Txn txn(*db);
    for (const domain::Intent& told : intents) CHECK(store::find_intent(txn, told.id).has_value());
  }
  std::size_t looked_at = 0;
  while (rig.engine->stats().settled < intents.size()) {
    REQUIRE(rig.world.run_until(
        [&] {
          return rig.chain.posts().size() > looked_at ||
                 rig.engine->stats().settled == intents.size();
        },
        60'000));
    looked_at = rig.chain.posts().size();
    const test::TempFolder copy;
    rig.disk.write_synced(copy.path().string());
    const auto db = sqlite::open_sqlite({.path = copy / "pay.db"})->open_writer();
    store::Txn txn(*db);
    std::set<domain::TxHash> stored;
    for (const domain::Intent& intent : intents) {
      const auto facts = store::find_facts(txn, intent.id);
      REQUIRE(facts.has_value());
      for (const auto& attempt : facts->attempts) {
        if (attempt.hash) stored.insert(*attempt.hash);
      }
    }
    for (const sim::PostRecord& post : rig.chain.posts()) CHECK(stored.contains(post.hash));
  }
  CHECK(looked_at >= intents.size());
}
