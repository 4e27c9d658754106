// The account's own transactions: slots handed over, noops, and gaps.
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::SlotState;
using store::StoreError;

struct Account {
  TestStore db;
  Desk desk{db};

  IntentId signed_payout(std::uint64_t number) {
    const IntentId id = desk.create_payout(number).id;
    desk.bring_to(id, IntentState::settling);
    desk.sign(id);
    return id;
  }
  store::HandOver hand_over_of(const IntentId& id) {
    const Facts facts = desk.facts(id);
    return {id,
            facts.slot->id,
            desk.epoch,
            facts.intent.version,
            desk.receipt_of(id),
            "cancel_asked",
            desk.now_ms};
  }
  Result<Facts> hand_over(const store::HandOver& wanted) {
    return db.write([&](store::Txn& txn) { return store::hand_over(txn, wanted); });
  }
  store::NoopToStore noop_at(domain::SlotId slot) {
    store::NoopToStore out;
    out.slot = slot;
    out.epoch = desk.epoch;
    out.attempt.bytes = {9, 9, 9};
    out.attempt.hash = tx_hash(900);
    out.now_ms = desk.now_ms;
    return out;
  }
  Result<domain::AttemptId> store_noop(const store::NoopToStore& wanted) {
    return db.write([&](store::Txn& txn) { return store::store_noop(txn, wanted); });
  }
  store::GapToFill gap_at(std::uint64_t sequence) {
    store::GapToFill out;
    out.chain = chain;
    out.account = our_account;
    out.epoch = desk.epoch;
    out.sequence = {sequence};
    out.attempt.bytes = {9, 9, 9};
    out.attempt.hash = tx_hash(901);
    out.who = "test";
    out.now_ms = desk.now_ms;
    return out;
  }
  Result<store::GapFilled> fill(const store::GapToFill& wanted) {
    return db.write([&](store::Txn& txn) { return store::fill_gap(txn, wanted); });
  }
  std::vector<domain::Sequence> gaps(std::uint64_t from = 0) {
    return db.read(
        [&](store::Txn& txn) { return store::gaps(txn, chain, our_account, {from}, 10); });
  }
  void release(const Facts& facts) {
    store::SlotMove move;
    move.slot = facts.slot->id;
    move.epoch = desk.epoch;
    move.from = facts.slot->state;
    move.to = SlotState::released;
    REQUIRE(db.write([&](store::Txn& txn) { return store::move_slot(txn, move); }).has_value());
  }
};

}  // namespace

TEST_CASE("noop: a signed slot is handed over once, under version, receipt and epoch") {
  Account at;
  const IntentId id = at.signed_payout(1);
  const store::HandOver good = at.hand_over_of(id);
  store::HandOver wrong = good;
  wrong.version = *good.version - 1;
  CHECK(refused_with(at.hand_over(wrong), StoreError::version_conflict));
  wrong = good;
  wrong.receipt = receipt(4711);
  CHECK(refused_with(at.hand_over(wrong), StoreError::stale_receipt));
  wrong = good;
  wrong.epoch = good.epoch + 1;
  CHECK(refused_with(at.hand_over(wrong), StoreError::stale_epoch));

  const auto facts = at.hand_over(good);
  REQUIRE(facts.has_value());
  CHECK(facts->slot->handed_over);
  CHECK(facts->intent.version == *good.version + 1);
  CHECK(facts->intent.state == IntentState::settling);
  CHECK(
      at.db.number(
          "SELECT count(*) FROM events WHERE reason LIKE '%handed to the account, cancel_asked'") ==
      1);
  store::HandOver again = at.hand_over_of(id);
  CHECK(at.hand_over(again)->intent.version == facts->intent.version);
  // From here on no payment is signed there.
  CHECK(refused_with(at.db.write([&](store::Txn& txn) {
    return store::store_attempt(txn, at.desk.attempt_for(at.desk.facts(id)));
  }),
                     StoreError::not_signable));
}

TEST_CASE("noop: what was never signed is not handed over: it is released") {
  Account at;
  const IntentId id = at.desk.create_payout(1).id;
  at.desk.bring_to(id, IntentState::settling);
  CHECK(refused_with(at.hand_over(at.hand_over_of(id)), StoreError::not_signable));
}

TEST_CASE("noop: stored only where the slot was handed over, under our epoch, whatever the state") {
  Account at;
  const IntentId id = at.signed_payout(1);
  const domain::SlotId slot = at.desk.facts(id).slot->id;
  CHECK(refused_with(at.store_noop(at.noop_at(slot)), StoreError::not_signable));
  REQUIRE(at.hand_over(at.hand_over_of(id)).has_value());
  store::NoopToStore wrong = at.noop_at(slot);
  wrong.epoch = at.desk.epoch + 1;
  CHECK(refused_with(at.store_noop(wrong), StoreError::stale_epoch));
  const std::uint64_t version = at.desk.facts(id).intent.version;
  REQUIRE(at.store_noop(at.noop_at(slot)).has_value());
  const Facts facts = at.desk.facts(id);
  CHECK(facts.attempts.back().kind == domain::AttemptKind::noop);
  CHECK(facts.attempts.back().outcome == domain::AttemptOutcome::stored);
  CHECK(facts.intent.version == version + 1);

  store::SlotMove consumed;
  consumed.slot = slot;
  consumed.epoch = at.desk.epoch;
  consumed.consumer = other_tx(tx_hash(900), our_account, 0);
  REQUIRE(
      at.db.write([&](store::Txn& txn) { return store::move_slot(txn, consumed); }).has_value());
  CHECK(refused_with(at.store_noop(at.noop_at(slot)), StoreError::not_signable));
}

TEST_CASE("noop: a number below open ones that nobody holds is a gap, and is filled once") {
  Account at;
  const IntentId first = at.desk.create_payout(1).id;
  const Facts claimed = at.desk.bring_to(first, IntentState::settling);
  const IntentId second = at.signed_payout(2);
  CHECK(at.gaps().empty());
  at.release(claimed);
  REQUIRE(at.gaps().size() == 1);
  CHECK(at.gaps()[0] == domain::Sequence{0});
  CHECK(at.gaps(1).empty());

  store::GapToFill wrong = at.gap_at(0);
  wrong.epoch = at.desk.epoch + 1;
  CHECK(refused_with(at.fill(wrong), StoreError::stale_epoch));
  wrong = at.gap_at(0);
  wrong.chain_latest = {1};
  CHECK(refused_with(at.fill(wrong), StoreError::not_signable));
  CHECK(refused_with(at.fill(at.gap_at(1)), StoreError::not_signable));  // the second's own
  CHECK(refused_with(at.fill(at.gap_at(5)), StoreError::not_signable));  // above everything

  const auto filled = at.fill(at.gap_at(0));
  REQUIRE(filled.has_value());
  REQUIRE(filled->reviewed.has_value());
  CHECK(filled->reviewed->intent.state == IntentState::needs_review);
  CHECK(filled->reviewed->intent.reason == "gap_filled");
  CHECK(at.desk.facts(second).intent.state == IntentState::settling);
  CHECK(at.gaps().empty());
  CHECK(at.db.text("SELECT state FROM slots WHERE item IS NULL") == "signed");
  CHECK(refused_with(at.fill(at.gap_at(0)), StoreError::not_signable));
}

TEST_CASE("noop: an account's own noop is consumed, and its gas is booked") {
  Account at;
  const Facts claimed = at.desk.bring_to(at.desk.create_payout(1).id, IntentState::settling);
  at.signed_payout(2);
  at.release(claimed);
  REQUIRE(at.fill(at.gap_at(0)).has_value());
  store::SlotMove consumed;
  consumed.slot = {at.db.number("SELECT row FROM slots WHERE item IS NULL")};
  consumed.epoch = at.desk.epoch;
  consumed.consumer = other_tx(tx_hash(901), our_account, 0);
  consumed.consumer->fee_paid = 21'000;
  REQUIRE(
      at.db.write([&](store::Txn& txn) { return store::move_slot(txn, consumed); }).has_value());
  CHECK(at.db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 1);
}

}  // namespace holdfast::test
