// The queue: order, leases, receipts, delays, and the sweep.
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using store::StoreError;

struct Queue {
  TestStore db;
  Desk desk{db};
  std::uint64_t next = 1;

  std::vector<store::Leased> lease(std::int64_t now_ms, std::size_t most,
                                   std::vector<domain::ChainId> paused = {}) {
    store::LeaseRequest wanted;
    wanted.now_ms = now_ms;
    wanted.lease_ms = 30'000;
    wanted.instance = instance();
    wanted.paused = std::move(paused);
    for (std::size_t i = 0; i < most; ++i) wanted.receipts.push_back(receipt(next++));
    return db.write([&](store::Txn& txn) { return store::lease_jobs(txn, wanted); });
  }
  Result<void> ack(const domain::Receipt& held) {
    return db.write([&](store::Txn& txn) { return store::ack_job(txn, held); });
  }
  Result<void> nack(const domain::Receipt& held, std::int64_t visible_ms) {
    return db.write(
        [&](store::Txn& txn) { return store::nack_job(txn, held, visible_ms, "node_down"); });
  }
  Result<void> extend(const domain::Receipt& held, std::int64_t until_ms) {
    return db.write([&](store::Txn& txn) { return store::extend_lease(txn, held, until_ms); });
  }
  bool enqueue(const domain::Intent& intent, std::int64_t visible_ms) {
    return db.write([&](store::Txn& txn) {
      return store::enqueue_job(txn, {intent.id, intent.ref}, visible_ms);
    });
  }
  std::optional<store::JobRow> job(const IntentId& id) {
    return db.read([&](store::Txn& txn) { return store::find_job(txn, id); });
  }
  store::QueueCounts counts() {
    return db.read([](store::Txn& txn) { return store::queue_counts(txn); });
  }
  std::optional<std::int64_t> next_visible_ms() {
    return db.read([](store::Txn& txn) { return store::next_visible_ms(txn); });
  }
};

}  // namespace

TEST_CASE("queue: the oldest visible job is handed out first, each with its facts") {
  Queue q;
  const auto late = q.desk.create(payout(1, 500));
  const auto early = q.desk.create(payout(2, 100));
  const auto middle = q.desk.create(payout(3, 300));
  const auto first = q.lease(1000, 2);
  REQUIRE(first.size() == 2);
  CHECK(first[0].facts.intent.id == early.id);
  CHECK(first[1].facts.intent.id == middle.id);
  CHECK(first[0].lease.job.ref == early.ref);
  CHECK(first[0].lease.deliveries == 1);
  CHECK(first[0].facts.intent.state == IntentState::authorized);
  const auto rest = q.lease(1000, 2);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].facts.intent.id == late.id);
  CHECK(q.lease(1000, 2).empty());
}

TEST_CASE("queue: a job is not handed out before it is visible, nor of a paused chain") {
  Queue q;
  q.desk.create(payout(1, 500));
  CHECK(q.lease(499, 1).empty());
  CHECK(q.lease(500, 1, {chain}).empty());
  CHECK(q.lease(500, 1, {domain::ChainId{"eip155:1"}, domain::ChainId{"eip155:2"}}).size() == 1);
}

TEST_CASE("queue: a lease that ran out is handed out again, counted, and the old receipt is dead") {
  Queue q;
  const auto made = q.desk.create(payout(1, 0));
  const domain::Receipt old = q.lease(0, 1)[0].lease.receipt;
  CHECK(q.lease(29'999, 1).empty());
  const auto again = q.lease(30'000, 1);
  REQUIRE(again.size() == 1);
  CHECK(again[0].lease.deliveries == 2);
  CHECK(again[0].lease.lapsed_leases == 1);
  CHECK(again[0].lease.receipt != old);
  // Stale, refused, harmless.
  CHECK(refused_with(q.ack(old), StoreError::stale_receipt));
  CHECK(refused_with(q.nack(old, 1), StoreError::stale_receipt));
  CHECK(refused_with(q.extend(old, 99'999), StoreError::stale_receipt));
  CHECK(q.job(made.id)->visible_ms == 60'000);
  CHECK(q.ack(again[0].lease.receipt).has_value());
  CHECK(!q.job(made.id).has_value());
  CHECK(refused_with(q.ack(again[0].lease.receipt), StoreError::stale_receipt));
}

TEST_CASE("queue: an extended lease is not handed out at its first end") {
  Queue q;
  q.desk.create(payout(1, 0));
  const auto held = q.lease(0, 1)[0].lease.receipt;
  REQUIRE(q.extend(held, 50'000).has_value());
  CHECK(q.lease(49'999, 1).empty());
  CHECK(q.lease(50'000, 1).size() == 1);
}

TEST_CASE("queue: a nacked job comes back after its delay, behind nobody's back") {
  Queue q;
  const auto made = q.desk.create(payout(1, 0));
  const auto held = q.lease(0, 1)[0].lease.receipt;
  REQUIRE(q.nack(held, 700).has_value());
  CHECK(q.job(made.id)->nacks == 1);
  CHECK(q.job(made.id)->why == "node_down");
  CHECK(q.lease(699, 1).empty());
  const auto again = q.lease(700, 1);
  REQUIRE(again.size() == 1);
  CHECK(again[0].lease.deliveries == 2);
  CHECK(again[0].lease.lapsed_leases == 0);  // a nack spends nothing of the budget
}

TEST_CASE("queue: enqueueing is idempotent while the job is there, and new work after an ack") {
  Queue q;
  const auto made = q.desk.create(payout(1, 0));
  CHECK(!q.enqueue(made, 5));
  const auto held = q.lease(0, 1)[0].lease.receipt;
  CHECK(!q.enqueue(made, 5));
  REQUIRE(q.ack(held).has_value());
  CHECK(q.enqueue(made, 5));
  CHECK(q.job(made.id)->deliveries == 0);
}

TEST_CASE("queue: a change that comes while the job is out survives the ack of its holder") {
  Queue q;
  const auto made = q.desk.create_payout(1);
  q.desk.lease_all();
  q.desk.claim(made.id);
  q.desk.sign(made.id);
  store::Move confirm = q.desk.move(made.id, IntentState::confirming, Actor::listener);
  confirm.tx_hash = tx_hash(1);
  q.desk.must(confirm);  // the relayer still holds its job
  store::Move back = q.desk.move(made.id, IntentState::settling, Actor::listener);
  back.reason = "reorg";
  back.queue_ms = 2500;
  q.desk.must(back);
  const auto held = q.desk.receipt_of(made.id);
  SUBCASE("acked: queued again as new work") {
    REQUIRE(q.ack(held).has_value());
    const auto job = q.job(made.id);
    REQUIRE(job.has_value());
    CHECK(!job->leased);
    CHECK(job->visible_ms == 2500);
    CHECK(job->deliveries == 0);
    // And only once.
    const auto again = q.lease(2500, 1);
    REQUIRE(again.size() == 1);
    REQUIRE(q.ack(again[0].lease.receipt).has_value());
    CHECK(!q.job(made.id).has_value());
  }
  SUBCASE("nacked: the change does not wait for the delay") {
    REQUIRE(q.nack(held, 90'000).has_value());
    CHECK(q.job(made.id)->visible_ms == 2500);
  }
}

TEST_CASE("queue: a restarted instance gets its leases back at once, none counted as lapsed") {
  Queue q;
  q.desk.create(payout(1, 0));
  q.desk.create(payout(2, 0));
  const auto leased = q.lease(0, 2);
  REQUIRE(q.nack(leased[1].lease.receipt, 1'000'000).has_value());
  const auto returned = q.db.write([](store::Txn& txn) { return store::return_leases(txn, 10); });
  CHECK(returned == 1);
  const auto again = q.lease(10, 5);
  REQUIRE(again.size() == 2);
  CHECK(again[0].lease.lapsed_leases == 0);
  CHECK(again[1].lease.lapsed_leases == 0);
  CHECK(refused_with(q.ack(leased[0].lease.receipt), StoreError::stale_receipt));
}

TEST_CASE("queue: the counts say what waits, what is out, and when to look next") {
  Queue q;
  CHECK(!q.next_visible_ms().has_value());
  q.desk.create(payout(1, 100));
  q.desk.create(payout(2, 200));
  q.lease(150, 5);
  CHECK(q.counts().queued == 1);
  CHECK(q.counts().leased == 1);
  CHECK(q.next_visible_ms() == 200);
}

TEST_CASE("queue: the sweep finds what nobody drives, in turn, within its limit") {
  Queue q;
  std::vector<IntentId> ids;
  ids.reserve(10);
  for (std::uint64_t i = 0; i < 10; ++i) ids.push_back(q.desk.create_payout(i).id);
  const auto sweep = [&](std::size_t limit) {
    return q.db.write([&](store::Txn& txn) { return store::sweep_undriven(txn, 77, limit); });
  };
  CHECK(sweep(100).empty());
  q.db.sql("DELETE FROM jobs WHERE intent IN (2, 9)");
  std::vector<IntentId> found;
  std::size_t turns = 0;
  while (found.size() < 2 && turns++ < 10) {
    for (const IntentId& id : sweep(4)) found.push_back(id);
  }
  REQUIRE(found.size() == 2);
  CHECK(turns <= 3);  // ten payments, four at a time
  CHECK(found[0] == ids[1]);
  CHECK(found[1] == ids[8]);
  CHECK(q.job(ids[8])->visible_ms == 77);
  CHECK(sweep(100).empty());
}

TEST_CASE("queue: the sweep looks at settling payments too") {
  Queue q;
  const auto made = q.desk.create_payout(1);
  q.desk.bring_to(made.id, IntentState::settling);
  q.db.sql("DELETE FROM jobs");
  const auto found = q.db.write([](store::Txn& txn) { return store::sweep_undriven(txn, 1, 10); });
  CHECK(found == std::vector{made.id});
}

}  // namespace holdfast::test
