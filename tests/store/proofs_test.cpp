// What a mover offers as evidence or proof, held against what is stored.
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using domain::SlotState;
using store::StoreError;

struct Confirming {
  TestStore db;
  Desk desk{db};
  IntentId id;
  Confirming() {
    id = desk.create_payout(1).id;
    desk.bring_to(id, IntentState::confirming);
  }
};

}  // namespace

TEST_CASE("store: final evidence must be the transaction named, and bring what is said") {
  Confirming at;
  const store::Move good = at.desk.settle_move(at.desk.facts(at.id));
  SUBCASE("another hash than the one named") {
    store::Move move = good;
    move.final_tx->hash = tx_hash(5);
    CHECK(refused_with(at.desk.may(move), StoreError::unproven));
  }
  SUBCASE("it reverted") {
    store::Move move = good;
    move.final_tx->succeeded = false;
    CHECK(refused_with(at.desk.may(move), StoreError::unproven));
  }
  SUBCASE("it moved another asset") {
    store::Move move = good;
    move.final_tx->transfers[0].asset = domain::native_asset;
    CHECK(refused_with(at.desk.may(move), StoreError::unproven));
  }
  SUBCASE("it paid somebody else") {
    store::Move move = good;
    move.final_tx->transfers[0].to = our_second;
    CHECK(refused_with(at.desk.may(move), StoreError::unproven));
  }
  SUBCASE("less arrived than is posted") {
    store::Move move = good;
    move.final_tx->transfers[0].amount = domain::Amount(1);
    CHECK(refused_with(at.desk.may(move), StoreError::unproven));
  }
  SUBCASE("it is somebody else's transaction, without our ref") {
    store::Move move = good;
    move.tx_hash = tx_hash(5);
    move.final_tx->hash = tx_hash(5);
    move.final_tx->trailing_ref.reset();
    CHECK(refused_with(at.desk.may(move), StoreError::unproven));
  }
  SUBCASE("good as it is") { CHECK(at.desk.may(good).has_value()); }
}

TEST_CASE("store: when less arrives the post says so, and a fee leg takes the rest") {
  Confirming at;
  store::Move move = at.desk.settle_move(at.desk.facts(at.id));
  move.final_tx->transfers[0].amount = domain::Amount(1000);
  move.arrived = domain::Amount(1000);
  at.desk.must(move);
  const auto entries = at.db.read([&](store::Txn& txn) { return store::entries_of(txn, at.id); });
  REQUIRE(entries.size() == 3);
  REQUIRE(entries[1].entry.legs.size() == 3);
  CHECK(entries[1].entry.legs[2].account == domain::fee_account(token));
  CHECK(entries[1].entry.legs[2].amount.magnitude == domain::Amount(1));
}

TEST_CASE("store: a payment settled by a transaction at another number hands its slot over") {
  Confirming at;
  const Facts before = at.desk.facts(at.id);
  store::Move move = at.desk.settle_move(before);
  move.tx_hash = tx_hash(5);
  move.final_tx = paying_tx(before.intent, tx_hash(5), our_account, 77);
  const Facts after = at.desk.must(move);
  CHECK(after.intent.tx_hash == tx_hash(5));
  CHECK(after.slot->state == SlotState::broadcast);
  CHECK(after.slot->handed_over);
  CHECK(at.db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 0);
}

TEST_CASE("store: a bearer payment run by a stranger settles, pays no gas, hands its slot over") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_bearer(1).id;
  const Facts before = desk.bring_to(id, IntentState::confirming);
  store::Move move = desk.move(id, IntentState::settled, Actor::listener);
  move.tx_hash = tx_hash(5);
  move.final_tx = paying_tx(before.intent, tx_hash(5), payee, 3);
  move.arrived = before.intent.terms.amount;
  const Facts after = desk.must(move);
  CHECK(after.slot->handed_over);
  CHECK(after.slot->state == SlotState::broadcast);
  CHECK(db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 0);
}

TEST_CASE("store: a claim for money that was moved already takes no slot") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_bearer(1).id;
  desk.lease_all();
  store::Move claim = desk.claim_move(id);
  claim.candidates.clear();
  const Facts claimed = desk.must(claim);
  CHECK(!claimed.slot.has_value());
  CHECK(claimed.slots_taken == 0);
  store::Move confirm = desk.move(id, IntentState::confirming, Actor::relayer);
  confirm.tx_hash = tx_hash(5);
  desk.must(confirm);
  store::Move settle = desk.move(id, IntentState::settled, Actor::listener);
  settle.tx_hash = tx_hash(5);
  settle.final_tx = paying_tx(claimed.intent, tx_hash(5), payee, 3);
  settle.arrived = claimed.intent.terms.amount;
  CHECK(desk.must(settle).intent.state == IntentState::settled);
}

TEST_CASE("store: proof 1 does not hold once an attempt is stored") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  desk.claim(id);
  store::Move fail = desk.move(id, IntentState::failed, Actor::relayer);
  fail.reason = "expired";
  fail.proof = domain::NeverAsked{};
  const Facts signed_now = desk.sign(id);
  CHECK(refused_with(desk.may(fail), StoreError::unproven));
  CHECK(desk.facts(id).intent.version == signed_now.intent.version);
}

TEST_CASE("store: proof 2 asks for a consumer that stands at the stored number") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  desk.claim(id);
  const Facts now = desk.sign(id);
  store::Move fail = desk.move(id, IntentState::failed, Actor::relayer);
  fail.reason = "foreign";
  SUBCASE("at another number, whatever the proof says of its slot") {
    domain::FinalConsumer consumer{
        now.slot->id, other_tx(tx_hash(5), our_account, 9), our_account, {9}};
    fail.proof = domain::AllSlotsConsumed{{consumer}};
    CHECK(refused_with(desk.may(fail), StoreError::unproven));
  }
  SUBCASE("of another account") {
    fail.proof = domain::AllSlotsConsumed{
        {domain::consumer_of(*now.slot, other_tx(tx_hash(5), our_second, 0))}};
    CHECK(refused_with(desk.may(fail), StoreError::unproven));
  }
  SUBCASE("a slot that is not the payment's") {
    domain::FinalConsumer consumer =
        domain::consumer_of(*now.slot, other_tx(tx_hash(5), our_account, 0));
    consumer.slot = {77};
    fail.proof = domain::AllSlotsConsumed{{consumer}};
    CHECK(refused_with(desk.may(fail), StoreError::unproven));
  }
  SUBCASE("one that paid") {
    fail.proof = domain::AllSlotsConsumed{{domain::consumer_of(
        *now.slot, paying_tx(now.intent, *now.attempts[0].hash, our_account, 0))}};
    CHECK(refused_with(desk.may(fail), StoreError::unproven));
  }
  SUBCASE("our own, reverted: the slot is consumed, its gas journalled, the hold void") {
    domain::MinedTx reverted = other_tx(*now.attempts[0].hash, our_account, 0);
    reverted.succeeded = false;
    fail.proof = domain::AllSlotsConsumed{{domain::consumer_of(*now.slot, reverted)}};
    const Facts after = desk.must(fail);
    CHECK(after.slot->state == SlotState::consumed);
    CHECK(after.slot->consumed_by == reverted.hash);
    CHECK(db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 1);
    CHECK(db.number("SELECT count(*) FROM entries WHERE kind = 'void'") == 1);
  }
}

TEST_CASE("store: a consumer that a proof names twice costs its gas once") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  desk.claim(id);
  const Facts now = desk.sign(id);
  store::Move fail = desk.move(id, IntentState::failed, Actor::relayer);
  fail.reason = "foreign";
  const auto consumer = domain::consumer_of(*now.slot, other_tx(tx_hash(5), our_account, 0));
  fail.proof = domain::AllSlotsConsumed{{consumer, consumer}};
  desk.must(fail);
  CHECK(db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 1);
}

TEST_CASE("store: an accepted attempt must be the payment's own, with the hash named") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  const IntentId other = desk.create_payout(2).id;
  desk.lease_all();
  desk.claim(id);
  desk.claim(other);
  const Facts now = desk.sign(id);
  const Facts theirs = desk.sign(other);
  store::Move confirm = desk.move(id, IntentState::confirming, Actor::relayer);
  confirm.tx_hash = now.attempts[0].hash;
  confirm.accepted = theirs.attempts[0].id;
  CHECK(refused_with(desk.may(confirm), StoreError::unproven));
  confirm.accepted = now.attempts[0].id;
  confirm.tx_hash = tx_hash(5);
  CHECK(refused_with(desk.may(confirm), StoreError::unproven));
  confirm.tx_hash = now.attempts[0].hash;
  CHECK(desk.may(confirm).has_value());
}

TEST_CASE("store: the gas of one transaction is journalled once, whatever settles after it") {
  Confirming at;
  const Facts before = at.desk.facts(at.id);
  const store::Move settle = at.desk.settle_move(before);
  // The listener saw the slot consumed before it settled the payment.
  store::SlotMove consumed;
  consumed.slot = before.slot->id;
  consumed.epoch = at.desk.epoch;
  consumed.consumer = settle.final_tx;
  consumed.now_ms = 5;
  REQUIRE(
      at.db.write([&](store::Txn& txn) { return store::move_slot(txn, consumed); }).has_value());
  CHECK(at.desk.facts(at.id).slot->state == SlotState::consumed);
  at.desk.must(settle);
  CHECK(at.db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 1);
}

}  // namespace holdfast::test
