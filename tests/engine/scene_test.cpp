// The reference scene: three authorised payouts of 100000000 in one queue, in virtual time.
#include "rig.hpp"

#include <doctest/doctest.h>

#include <holdfast/domain/refs.hpp>
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using holdfast::testing::Rig;

namespace {

// A payout whose job is leased, in the write that creates it, by a worker that then dies: nobody
// acks, nobody extends, and this engine cannot come in between.
domain::Intent create_leased_by_the_dead(Rig& rig, const domain::Intent& like,
                                         std::int64_t lease_ms) {
  const std::int64_t now_ms = rig.world.clock().wall_ms();
  store::NewIntent wanted{like, {}, now_ms};
  wanted.intent.id = domain::derive_intent_id({"shop"}, "second");
  wanted.intent.ref = domain::derive_ref(wanted.intent.id, like.terms);
  wanted.intent.state = IntentState::authorized;
  wanted.intent.version = 1;
  wanted.intent.tx_hash.reset();
  wanted.intent.settling_ms = 0;
  store::LeaseRequest lease;
  lease.now_ms = now_ms;
  lease.lease_ms = lease_ms;
  lease.instance = rig.world.entropy().bytes<domain::InstanceId>();
  lease.receipts = {rig.world.entropy().bytes<domain::Receipt>()};
  const std::size_t leased = rig.run(rig.store->write([wanted, lease](store::Txn& txn) {
    const auto created = store::create_intent(txn, wanted);
    return created ? store::lease_jobs(txn, lease).size() : 0;
  }));
  REQUIRE(leased == 1);
  return wanted.intent;
}

domain::Intent insert_payout(Rig& rig, const std::string& key, const std::string& chain) {
  engine::NewPayment payment = rig.payout("100000000");
  payment.chain = chain;
  return rig.create(key, payment);
}

}  // namespace

TEST_CASE("scene: three payouts, one worker lost, one sender silent, and nothing lost or doubled") {
  testing::RigOptions options;
  options.block_ms = 0;  // nothing is mined: confirming is as far as they come
  options.with_opaque = true;
  Rig rig(options);
  rig.start();

  // The first runs through; its job queued again is a no-op.
  const domain::Intent first = insert_payout(rig, "first", "sim:1");
  REQUIRE(rig.reaches(first.id, IntentState::confirming, 5'000));
  const std::uint64_t version = rig.find(first.id).version;
  const std::int64_t now_ms = rig.world.clock().wall_ms();
  CHECK(rig.run(rig.store->write([&](store::Txn& txn) {
    return store::enqueue_job(txn, domain::Job{first.id, first.ref}, now_ms);
  })));
  rig.world.run_for(2'000);
  CHECK_FALSE(rig.job(first.id).has_value());
  CHECK(rig.find(first.id).version == version);
  CHECK(rig.chain.posts().size() == 1);

  // The second's worker dies after leasing; when the lease ends, delivery 2 finishes it.
  const domain::Intent second = create_leased_by_the_dead(rig, rig.find(first.id), 10'000);
  rig.world.run_for(9'000);
  CHECK(rig.state(second.id) == IntentState::authorized);
  CHECK(rig.job(second.id)->deliveries == 1);
  REQUIRE(rig.reaches(second.id, IntentState::confirming, 5'000));
  CHECK(rig.chain.posts().size() == 2);

  // The third goes through the opaque sender, which answers nothing readable.
  rig.opaque->next_answer(ports::Unknown{"no answer", false});
  const domain::Intent third = insert_payout(rig, "third", "opaque:1");
  rig.world.run_for(30'000);
  CHECK(rig.state(third.id) == IntentState::settling);
  CHECK(rig.job(third.id)->deliveries >= 2);
  CHECK(rig.opaque->sends(third.id) == 1);
  rig.world.run_for(300'000);
  const domain::Intent parked = rig.find(third.id);
  CHECK(parked.state == IntentState::needs_review);
  CHECK(parked.reason == "outcome_unknown");
  CHECK(rig.opaque->sends(third.id) == 1);

  // At the end: queue empty, three pending holds, two confirming, one in review.
  const auto counts = rig.read([](store::Txn& txn) { return store::queue_counts(txn); });
  CHECK(counts.queued + counts.leased == 0);
  CHECK(rig.pending_hold("sim:1").decimal() == "200000000");
  CHECK(rig.pending_hold("opaque:1").decimal() == "100000000");
  CHECK(rig.state(first.id) == IntentState::confirming);
  CHECK(rig.state(second.id) == IntentState::confirming);
  const auto report = rig.audit();
  for (const auto& finding : report.findings) MESSAGE(finding.subject << ": " << finding.sentence);
  CHECK(report.good());
}
