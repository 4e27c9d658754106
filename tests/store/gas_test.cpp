// What a number's transactions cost, and what of it stands in the journal.
#include "store/audit.hpp"
#include "store/fixture.hpp"
#include "store/journal.hpp"

namespace holdfast::test {

using domain::SlotState;

TEST_CASE("slot: finality taken back quarantines it, and the books say what was really paid") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  desk.claim(id);
  const Facts now = desk.sign(id);
  const auto move = [&](SlotState to, const std::optional<domain::MinedTx>& by) {
    store::SlotMove wanted{now.slot->id, desk.epoch, SlotState::consumed, to,
                           by,           "test",     desk.now_ms};
    const auto moved = db.write([&](store::Txn& txn) { return store::move_slot(txn, wanted); });
    REQUIRE(moved.has_value());
  };
  const auto back = [&] { move(SlotState::reconciliation_required, {}); };
  const auto consume = [&](const domain::TxHash& hash, std::uint64_t fee) {
    domain::MinedTx consumer = other_tx(hash, our_account, 0);
    consumer.fee_paid = domain::Amount(fee);
    move(SlotState::consumed, consumer);
    const auto ledger = db.read([](store::Txn& txn) { return store::verify_ledger(txn, {}); });
    CHECK(ledger.good());
    return db.number("SELECT count(*) FROM entries WHERE kind = 'gas'");
  };
  const auto paid = [&] {
    const auto rows = db.read([](store::Txn& txn) { return store::balances(txn, 100); });
    for (const store::BalanceRow& row : rows) {
      if (row.key.account == domain::gas_account(chain)) return row.balance.posted.decimal();
    }
    return std::string("no balance");
  };
  CHECK(consume(tx_hash(5), 700) == 1);
  back();
  // The same transaction at the same price costs its gas once.
  CHECK(consume(tx_hash(5), 700) == 1);
  CHECK(paid() == "700");
  back();
  CHECK(consume(tx_hash(5), 900) == 3);
  CHECK(paid() == "900");
  // Mined again before anybody saw it gone.
  CHECK(consume(tx_hash(5), 800) == 5);
  CHECK(paid() == "800");
  back();
  CHECK(consume(tx_hash(6), 50) == 7);
  CHECK(paid() == "50");
  back();
  CHECK(consume(tx_hash(5), 900) == 9);
  CHECK(paid() == "900");
  back();
  CHECK(consume(tx_hash(7), 0) == 10);
  CHECK(paid() == "0");
}

TEST_CASE("audit: a number that cost two transactions is found") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  desk.claim(id);
  domain::Slot slot = *desk.sign(id).slot;
  // Where no consumer is known, nothing that was booked is looked for.
  const auto book = [&](const domain::TxHash& hash) {
    domain::MinedTx consumer = other_tx(hash, our_account, 0);
    consumer.fee_paid = domain::Amount(700);
    db.write([&](store::Txn& txn) {
      store::Posting posting(txn, std::nullopt);
      REQUIRE(posting.gas(slot, consumer, desk.now_ms).has_value());
      REQUIRE(posting.balance().has_value());
      posting.write();
      return true;
    });
    return db.read([](store::Txn& txn) { return store::verify_ledger(txn, {}); }).findings;
  };
  CHECK(book(tx_hash(5)).empty());
  const auto found = book(tx_hash(6));
  REQUIRE(found.size() == 1);
  CHECK(found.front().invariant == 4);
  CHECK(found.front().subject == our_account.value);
  CHECK(found.front().sentence ==
        "the gas of number 0 is in the journal 2 times, and nothing reverses it");
  slot.consumed_by = tx_hash(6);
  CHECK(book(tx_hash(7)).empty());
}

}  // namespace holdfast::test
