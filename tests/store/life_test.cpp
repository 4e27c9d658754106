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

// The budget of a payment: what one costs when many are leased at once.
TEST_CASE("store: a payout costs at most 30 row writes and 40 statements from birth to settled") {
  TestStore db;
  Desk desk(db);
  constexpr std::int64_t payments = 100;
  std::vector<IntentId> ids;
  ids.reserve(payments);
  const std::int64_t rows_before = db.rows_written;
  const std::int64_t statements_before = db.statements();
  for (std::int64_t i = 0; i < payments; ++i) {
    ids.push_back(desk.create_payout(static_cast<std::uint64_t>(i)).id);
  }
  desk.lease_all(payments);
  std::int64_t looks = 0;
  for (const IntentId& id : ids) {
    const std::int64_t before = db.statements();
    Facts now = desk.facts(id);  // what a test looks at is not part of the cost
    looks += db.statements() - before;
    now = desk.claim(id);
    store::AttemptToStore wanted = desk.attempt_for(now);
    now = *db.write([&](store::Txn& txn) { return store::store_attempt(txn, wanted); });
    store::Move confirm = desk.move(id, IntentState::confirming, domain::Actor::relayer);
    confirm.accepted = now.attempts.back().id;
    confirm.tx_hash = now.attempts.back().hash;
    confirm.receipt = desk.receipt_of(id);
    confirm.ack = true;
    now = desk.must(confirm);
    store::Move settle = desk.settle_move(now);
    settle.final_is_noted = true;  // the first payment that ends by a block notes it
    now = desk.must(settle);
    CHECK(now.intent.state == IntentState::settled);
  }
  const std::int64_t rows = db.rows_written - rows_before;
  const std::int64_t statements = db.statements() - statements_before - looks;
  MESSAGE("rows written per payout: ", static_cast<double>(rows) / payments,
          ", statements: ", static_cast<double>(statements) / payments);
  CHECK(rows <= 30 * payments);
  CHECK(statements <= 40 * payments);
}

}  // namespace holdfast::test
