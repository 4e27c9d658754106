// What a number's transactions cost, and what of it stands in the journal.
#include "store/audit.hpp"
#include "store/fixture.hpp"

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

}  // namespace holdfast::test
