// A payment's whole life through the named writes, and what it costs.
#include "store/fixture.hpp"

namespace holdfast::test {

TEST_CASE("store: a payout goes from authorized to settled, and every row says so") {
  TestStore db;
  Desk desk(db);
  const domain::Intent made = desk.create_payout(1);
  desk.lease_all();
  const Facts claimed = desk.claim(made.id);
  CHECK(claimed.intent.state == IntentState::settling);
  CHECK(claimed.intent.version == 2);
  CHECK(claimed.intent.settling_ms == desk.now_ms);
  REQUIRE(claimed.slot.has_value());
  CHECK(claimed.slot->state == domain::SlotState::reserved);
  CHECK(claimed.slot->sequence.value == 0);
  CHECK(claimed.slot_is_lowest);
  CHECK(claimed.slots_taken == 1);

  const Facts stored = desk.sign(made.id);
  CHECK(stored.intent.version == 3);
  CHECK(stored.slot->state == domain::SlotState::signed_);
  REQUIRE(stored.attempts.size() == 1);
  CHECK(stored.attempts[0].outcome == domain::AttemptOutcome::stored);

  const Facts confirmed = desk.confirm(made.id);
  CHECK(confirmed.intent.state == IntentState::confirming);
  CHECK(confirmed.slot->state == domain::SlotState::broadcast);
  CHECK(confirmed.attempts[0].outcome == domain::AttemptOutcome::accepted);
  CHECK(db.number("SELECT count(*) FROM jobs") == 0);

  const Facts settled = desk.settle(made.id);
  CHECK(settled.intent.state == IntentState::settled);
  CHECK(settled.slot->state == domain::SlotState::consumed);
  CHECK(settled.slot->consumed_by == settled.intent.tx_hash);

  const auto entries = db.read([&](store::Txn& txn) { return store::entries_of(txn, made.id); });
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].entry.kind == domain::EntryKind::hold);
  CHECK(entries[1].entry.kind == domain::EntryKind::post);
  CHECK(entries[2].entry.kind == domain::EntryKind::gas);
  CHECK(entries[1].previous == entries[0].hash);
  const auto history = db.read([&](store::Txn& txn) { return store::history_of(txn, made.id); });
  REQUIRE(history.size() == 4);
  CHECK(!history[0].from.has_value());
  CHECK(history[3].to == IntentState::settled);
}

}  // namespace holdfast::test
