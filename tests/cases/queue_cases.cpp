// Cases Q: leases that run out under a worker that lives.
#include <signal.h>

#include <doctest/doctest.h>

#include "engine/rig.hpp"
#include "rig.hpp"
#include "sim/executor.hpp"
#include "store/fixture.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

/// The store's queue, with a lease of a second.
struct Queue {
  test::TestStore db;
  test::Desk desk{db};
  std::uint64_t next = 1;
  std::int64_t now_ms = 10'000;

  std::optional<domain::Receipt> lease() {
    store::LeaseRequest wanted;
    wanted.now_ms = now_ms;
    wanted.lease_ms = 1'000;
    wanted.instance = test::instance();
    wanted.receipts.push_back(test::receipt(next++));
    const auto leased = db.write([&](store::Txn& txn) { return store::lease_jobs(txn, wanted); });
    return leased.empty() ? std::nullopt : std::optional(leased[0].lease.receipt);
  }
  Result<void> ack(const domain::Receipt& held) {
    return db.write([&](store::Txn& txn) { return store::ack_job(txn, held); });
  }
  Result<void> nack(const domain::Receipt& held, std::int64_t visible_ms) {
    return db.write(
        [&](store::Txn& txn) { return store::nack_job(txn, held, visible_ms, "case"); });
  }
  Result<void> extend(const domain::Receipt& held, std::int64_t until_ms) {
    return db.write([&](store::Txn& txn) { return store::extend_lease(txn, held, until_ms); });
  }
  std::optional<store::JobRow> job(const domain::IntentId& id) {
    return db.read([&](store::Txn& txn) { return store::find_job(txn, id); });
  }
};

bool is_stale(const Result<void>& answer) {
  return test::refused_with(answer, store::StoreError::stale_receipt);
}

}  // namespace

TEST_CASE("Q1: a lease that runs out inside the send pays once, with one body") {
  int taken_over = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    testing::RigOptions options;
    options.seed = seed;
    options.block_ms = 0;
    testing::Rig rig(options);
    rig.start();
    const domain::Intent one = rig.create("one", rig.payout());
    REQUIRE(rig.world.run_until([&] { return !rig.chain.posts().empty(); }, 10'000));
    // The first worker is in its send. For a second one its lease has run out.
    store::LeaseRequest second;
    second.now_ms = rig.world.clock().wall_ms() + options.config.lease_ms + 1;
    second.lease_ms = 2'000;
    second.instance = rig.world.entropy().bytes<domain::InstanceId>();
    second.receipts = {rig.world.entropy().bytes<domain::Receipt>()};
    const std::size_t leased = rig.run(rig.store->write(
        [second](store::Txn& txn) { return store::lease_jobs(txn, second).size(); }));
    rig.world.run_for(1'000);
    if (leased == 1) {
      ++taken_over;
      // The first worker's end was refused: the job is still the second one's.
      const auto job = rig.job(one.id);
      REQUIRE(job);
      CHECK(job->deliveries == 2);
      CHECK(rig.state(one.id) == domain::IntentState::settling);
    }
    CHECK(rig.reaches(one.id, domain::IntentState::confirming, 120'000));
    rig.chain.mine(4);
    CHECK(rig.reaches(one.id, domain::IntentState::settled, 30'000));
    testing::check_paid_once(rig, one);
    CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
    CHECK(rig.chain.count({"relayer0"}) == 1);
    testing::check_audit(rig);
  }
  CHECK(taken_over > 0);
}

namespace {

/// One job, handed out once: nobody else got it while it was worked on.
void paid_in_one_delivery(Rig& rig, const Payment& one) {
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.metric("holdfast_jobs_leased_total") == 1);
  CHECK(rig.transfers(one) == 1);
  CHECK(rig.nonce(rig.relayers[0]) == 1);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 1);
  rig.check_all();
}

Options short_lease() {
  Options options;
  options.lease_ms = 1'000;
  options.deadline_ms = 8'000;
  return options;
}

}  // namespace

TEST_CASE("Q1: a send that takes three times its lease is one delivery, and pays once") {
  Rig rig(short_lease());
  rig.proxy->add({.method = "eth_sendRawTransaction", .fault = test::hold(3'000)});
  rig.start();
  paid_in_one_delivery(rig, rig.payout());
}

TEST_CASE("Q1: a process that slept right before the send pays once") {
  Options options = short_lease();
  options.environment = {"HOLDFAST_KILL_WITH=STOP"};
  Rig rig(options);
  rig.start("KP3");
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return rig.server().asleep(); }));
  CHECK(rig.proxy->raws().empty());
  test::pause_ms(2'500);
  rig.server().signal(SIGCONT);
  paid_in_one_delivery(rig, one);
}

TEST_CASE("Q1: a process that slept in the send for longer than its lease pays once") {
  Rig rig(short_lease());
  rig.proxy->add({.method = "eth_sendRawTransaction", .fault = test::hold(4'000)});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(2'000, [&] { return !rig.proxy->raws().empty(); }, 10));
  rig.server().signal(SIGSTOP);
  test::pause_ms(2'500);
  rig.server().signal(SIGCONT);
  paid_in_one_delivery(rig, one);
}

TEST_CASE("Q2: a job that is acked while its lease lapses ends once and is not handed out again") {
  Queue queue;
  sim::Chance chance(2);
  for (std::uint64_t round = 1; round <= 200; ++round) {
    const auto intent = queue.desk.create(test::payout(round, 0));
    const auto version = intent.version;
    const auto held = queue.lease();
    REQUIRE(held);
    queue.now_ms += 900 + static_cast<std::int64_t>(chance.below(200));
    const bool lapsed_first = chance.below(2) == 0;
    const auto again = lapsed_first ? queue.lease() : std::nullopt;
    const auto acked = queue.ack(*held);
    if (again) {
      CHECK(is_stale(acked));
      CHECK(queue.ack(*again).has_value());
    } else {
      CHECK(acked.has_value());
    }
    CHECK_FALSE(queue.job(intent.id));
    queue.now_ms += 5'000;
    CHECK_FALSE(queue.lease());
    CHECK(queue.desk.facts(intent.id).intent.version == version);
    CHECK(is_stale(queue.ack(*held)));
  }
}

TEST_CASE("Q4: an ack with a receipt whose lease ran out harms nobody") {
  Queue queue;
  const auto alone = queue.desk.create(test::payout(1, 0));
  const auto first = queue.lease();
  REQUIRE(first);
  queue.now_ms += 2'000;
  // a: nobody else has it: the ack ends the job.
  CHECK(queue.ack(*first).has_value());
  CHECK_FALSE(queue.job(alone.id));

  const auto shared = queue.desk.create(test::payout(2, 0));
  const auto old = queue.lease();
  REQUIRE(old);
  queue.now_ms += 2'000;
  const auto current = queue.lease();
  REQUIRE(current);
  const auto before = queue.job(shared.id);
  REQUIRE(before);
  // b: somebody else has it: all three are refused, and the newer lease stands as it was.
  CHECK(is_stale(queue.ack(*old)));
  CHECK(is_stale(queue.nack(*old, 0)));
  CHECK(is_stale(queue.extend(*old, queue.now_ms + 30'000)));
  const auto after = queue.job(shared.id);
  REQUIRE(after);
  CHECK(after->visible_ms == before->visible_ms);
  CHECK(queue.ack(*current).has_value());
  CHECK_FALSE(queue.job(shared.id));
}
