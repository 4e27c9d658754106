// Storing an attempt: the four checks of section 3 rule 6, each on its own.
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using domain::AttemptOutcome;
using domain::SlotState;
using store::StoreError;

/// A claimed payout, its job held, nothing signed.
struct Claimed {
  TestStore db;
  Desk desk{db};
  IntentId id;
  Claimed() {
    id = desk.create_payout(1).id;
    desk.bring_to(id, IntentState::settling);
  }
  store::AttemptToStore wanted() { return desk.attempt_for(desk.facts(id)); }
  Result<Facts> store(const store::AttemptToStore& attempt) {
    return db.write([&](store::Txn& txn) { return store::store_attempt(txn, attempt); });
  }
  Result<void> record(domain::AttemptId attempt, AttemptOutcome outcome) {
    const store::PostRecord record{attempt, outcome, "detail", {}, 7000};
    return db.write([&](store::Txn& txn) { return store::record_post(txn, record); });
  }
  std::int64_t attempts() { return db.number("SELECT count(*) FROM attempts"); }
};

}  // namespace

TEST_CASE("store: bytes of a version that was overtaken are not stored") {
  Claimed at;
  const store::AttemptToStore wanted = at.wanted();
  REQUIRE(at.db
              .write([&](store::Txn& txn) {
                return store::ask_cancel(txn, at.id, {}, Actor::operator_,
                                         {"ann", "stop", {}, 1, 0});
              })
              .has_value());
  CHECK(refused_with(at.store(wanted), StoreError::version_conflict));
  CHECK(at.attempts() == 0);
  CHECK(at.db.text("SELECT state FROM slots") == "reserved");
}

TEST_CASE("store: bytes are not stored for a payment that is not settling") {
  Claimed at;
  at.desk.sign(at.id);
  at.desk.confirm(at.id);
  store::AttemptToStore wanted = at.wanted();
  CHECK(refused_with(at.store(wanted), StoreError::not_signable));
  CHECK(at.attempts() == 1);
}

TEST_CASE("store: bytes under another receipt are not stored") {
  Claimed at;
  store::AttemptToStore wanted = at.wanted();
  wanted.receipt = receipt(4711);
  CHECK(refused_with(at.store(wanted), StoreError::stale_receipt));
  CHECK(at.attempts() == 0);
}

TEST_CASE("store: a worker that slept through its lease stores nothing") {
  Claimed at;
  const store::AttemptToStore slept = at.wanted();
  at.desk.now_ms += 60'000;
  at.desk.lease_all();
  CHECK(refused_with(at.store(slept), StoreError::stale_receipt));
  CHECK(at.store(at.wanted()).has_value());
}

TEST_CASE("store: bytes of an engine that lost the account are not stored") {
  Claimed at;
  const store::AttemptToStore wanted = at.wanted();
  const auto epoch = at.db.write([&](store::Txn& txn) {
    return store::take_over_account(txn, chain, our_account, "the next one", 1);
  });
  CHECK(epoch == at.desk.epoch + 1);
  CHECK(refused_with(at.store(wanted), StoreError::stale_epoch));
  CHECK(at.attempts() == 0);
}

TEST_CASE("store: bytes for another payment's slot, or a made-up one, are not stored") {
  Claimed at;
  const IntentId other = at.desk.create_payout(2).id;
  at.desk.lease_all();
  const Facts theirs = at.desk.claim(other);
  store::AttemptToStore wanted = at.wanted();
  wanted.attempt.slot = theirs.slot->id;
  CHECK(refused_with(at.store(wanted), StoreError::not_signable));
  wanted.attempt.slot = domain::SlotId{4711};
  CHECK(refused_with(at.store(wanted), StoreError::not_signable));
  wanted.attempt.slot.reset();
  CHECK(refused_with(at.store(wanted), StoreError::not_signable));
  CHECK(at.attempts() == 0);
}

TEST_CASE("store: a replacement is stored at a signed slot, and not at a consumed one") {
  Claimed at;
  at.desk.sign(at.id);
  const auto second = at.store(at.wanted());
  REQUIRE(second.has_value());
  CHECK(second->attempts.size() == 2);
  CHECK(second->attempts[1].slot == second->slot->id);
  CHECK(second->slot->state == SlotState::signed_);
  store::SlotMove consumed;
  consumed.slot = second->slot->id;
  consumed.epoch = at.desk.epoch;
  consumed.consumer = other_tx(tx_hash(8), our_account, 0);
  REQUIRE(
      at.db.write([&](store::Txn& txn) { return store::move_slot(txn, consumed); }).has_value());
  CHECK(refused_with(at.store(at.wanted()), StoreError::not_signable));
}

TEST_CASE("store: a payment's own attempt is never a noop") {
  Claimed at;
  store::AttemptToStore noop = at.wanted();
  noop.attempt.kind = domain::AttemptKind::noop;
  CHECK(refused_with(at.store(noop), StoreError::not_signable));
}

TEST_CASE("store: a sender without sequences is asked once and never again") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  store::Move claim = desk.claim_move(id);
  claim.candidates.clear();
  desk.must(claim);
  store::AttemptToStore wanted = desk.attempt_for(desk.facts(id));
  wanted.attempt.bytes.clear();
  wanted.attempt.hash.reset();
  const auto store_it = [&] {
    return db.write([&](store::Txn& txn) { return store::store_attempt(txn, wanted); });
  };
  REQUIRE(store_it().has_value());
  wanted.version = desk.facts(id).intent.version;
  CHECK(refused_with(store_it(), StoreError::not_signable));
  CHECK(db.number("SELECT count(*) FROM attempts") == 1);
}

TEST_CASE("store: a gas limit that no column holds is refused with a sentence") {
  Claimed at;
  store::AttemptToStore wanted = at.wanted();
  wanted.attempt.fees.gas_limit = ~0ULL;
  CHECK(refused_with(at.store(wanted), StoreError::not_signable));
}

TEST_CASE("store: what is stored comes back as it was, byte for byte") {
  Claimed at;
  store::AttemptToStore wanted = at.wanted();
  wanted.attempt.fees = {U256::max(), U256::max(), 12'345};
  wanted.attempt.bytes = Bytes(5000, 0xfe);
  REQUIRE(at.store(wanted).has_value());
  const Facts now = at.desk.facts(at.id);
  CHECK(now.attempts[0].bytes == wanted.attempt.bytes);
  CHECK(now.attempts[0].fees == wanted.attempt.fees);
  CHECK(now.attempts[0].hash == wanted.attempt.hash);
  CHECK(now.attempts[0].stored_ms == at.desk.now_ms);
  CHECK(now.attempts[0].posted_ms == 0);
}

TEST_CASE("store: an accepted post moves the slot to broadcast, an unknown one moves nothing") {
  Claimed at;
  const Facts now = at.desk.sign(at.id);
  REQUIRE(at.record(now.attempts[0].id, AttemptOutcome::unknown).has_value());
  Facts after = at.desk.facts(at.id);
  CHECK(after.attempts[0].outcome == AttemptOutcome::unknown);
  CHECK(after.attempts[0].posted_ms == 7000);
  CHECK(after.slot->state == SlotState::signed_);
  CHECK(after.intent.state == IntentState::settling);
  CHECK(after.intent.version == now.intent.version + 1);
  // The same answer again is no change.
  REQUIRE(at.record(now.attempts[0].id, AttemptOutcome::unknown).has_value());
  CHECK(at.desk.facts(at.id).intent.version == now.intent.version + 1);
  REQUIRE(at.record(now.attempts[0].id, AttemptOutcome::accepted).has_value());
  after = at.desk.facts(at.id);
  CHECK(after.slot->state == SlotState::broadcast);
  CHECK(after.intent.state == IntentState::settling);
  CHECK(refused_with(at.record({99}, AttemptOutcome::accepted), StoreError::not_found));
}

TEST_CASE("store: a post never changes a hash that is stored") {
  Claimed at;
  const Facts now = at.desk.sign(at.id);
  const store::PostRecord record{now.attempts[0].id, AttemptOutcome::accepted, "", tx_hash(9), 1};
  const auto posted = at.db.write([&](store::Txn& txn) { return store::record_post(txn, record); });
  CHECK(refused_with(posted, StoreError::unproven));
}

}  // namespace holdfast::test
