// Numbers: who gets which, when one comes back, and that none is given twice.
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using domain::SlotState;
using store::StoreError;

struct Claims {
  TestStore db;
  Desk desk{db};
  std::uint64_t second_epoch = 0;

  Claims() {
    second_epoch = db.write([&](store::Txn& txn) {
      return store::take_over_account(txn, chain, our_second, "test", 1);
    });
  }
  IntentId leased(std::uint64_t number) {
    const IntentId id = desk.create_payout(number).id;
    desk.lease_all();
    return id;
  }
  std::uint64_t claimed_number(std::uint64_t number) {
    return desk.claim(leased(number)).slot->sequence.value;
  }
  void fail_unsigned(const IntentId& id) {
    store::Move fail = desk.move(id, IntentState::failed, Actor::relayer);
    fail.reason = "expired";
    fail.proof = domain::NeverAsked{};
    desk.must(fail);
  }
  Facts review(const IntentId& id) {
    store::Move move = desk.move(id, IntentState::needs_review, Actor::relayer);
    move.reason = "no_receipt";
    return desk.must(move);
  }
  Result<Facts> back_to_settling(const IntentId& id) {
    store::Move move = desk.move(id, IntentState::settling, Actor::operator_);
    move.reason = "try again";
    move.candidates = {desk.candidate(desk.chain_count)};
    return desk.may(move);
  }
  Result<Facts> reserve(const IntentId& id) {
    const Facts now = desk.facts(id);
    const store::Candidate candidate = desk.candidate(desk.chain_count);
    return db.write([&](store::Txn& txn) {
      return store::reserve_slot(txn, id, now.intent.version, desk.receipt_of(id),
                                 std::span(&candidate, 1), 1000, desk.now_ms);
    });
  }
  Result<void> move(const store::SlotMove& move) {
    return db.write([&](store::Txn& txn) { return store::move_slot(txn, move); });
  }
  store::SlotMove slot_move(const domain::Slot& slot, SlotState to) {
    store::SlotMove out;
    out.slot = slot.id;
    out.epoch = desk.epoch;
    out.from = slot.state;
    out.to = to;
    out.now_ms = desk.now_ms;
    out.why = "test";
    return out;
  }
};

}  // namespace

TEST_CASE("sequencer: numbers start at the chain's count and go up by one") {
  Claims at;
  at.desk.chain_count = 40;
  CHECK(at.claimed_number(1) == 40);
  CHECK(at.claimed_number(2) == 41);
  at.desk.chain_count = 3;  // a node that lags
  CHECK(at.claimed_number(3) == 42);
  at.desk.chain_count = 50;
  CHECK(at.claimed_number(4) == 50);
}

TEST_CASE("sequencer: the number of an unsigned payment that ended is taken again") {
  Claims at;
  const IntentId first = at.leased(1);
  at.desk.claim(first);
  CHECK(at.claimed_number(2) == 1);
  at.fail_unsigned(first);
  CHECK(at.db.text("SELECT state FROM slots WHERE sequence = 0") == "released");
  const Facts third = at.desk.claim(at.leased(3));
  CHECK(third.slot->sequence.value == 0);
  CHECK(third.slot_is_lowest);
  CHECK(at.claimed_number(4) == 2);
}

TEST_CASE("sequencer: a released number behind the chain is not taken again") {
  Claims at;
  const IntentId first = at.leased(1);
  at.desk.claim(first);
  at.fail_unsigned(first);
  at.desk.chain_count = 1;
  CHECK(at.claimed_number(2) == 1);
}

TEST_CASE("sequencer: a lagging node does not bring back a number below a consumed one") {
  Claims at;
  const IntentId first = at.leased(1);
  at.desk.claim(first);
  const IntentId second = at.leased(2);
  at.desk.claim(second);
  at.desk.sign(second);
  at.desk.confirm(second);
  at.fail_unsigned(first);
  at.desk.settle(second);  // number 1 is consumed, so number 0 was too, by somebody
  at.desk.chain_count = 0;
  CHECK(at.claimed_number(3) == 2);
}

TEST_CASE("sequencer: a number released into review stays its payment's") {
  Claims at;
  const IntentId first = at.leased(1);
  at.desk.claim(first);
  const Facts parked = at.review(first);
  CHECK(!parked.slot.has_value());
  CHECK(at.claimed_number(2) == 1);
  const auto back = at.back_to_settling(first);
  REQUIRE(back.has_value());
  CHECK(back->slot->sequence.value == 0);
  CHECK(back->slots_taken == 1);
  CHECK(back->slot_is_lowest);
}

TEST_CASE("sequencer: sent back by an operator, a number that is gone is replaced by a fresh one") {
  Claims at;
  const IntentId first = at.leased(1);
  at.desk.claim(first);
  at.review(first);
  at.desk.chain_count = 5;
  const auto back = at.back_to_settling(first);
  REQUIRE(back.has_value());
  CHECK(back->slot->sequence.value == 5);
  CHECK(back->slots_taken == 2);
}

TEST_CASE("sequencer: a released slot is bound again to the same number for the same payment") {
  Claims at;
  const IntentId id = at.leased(1);
  const Facts claimed = at.desk.claim(id);
  REQUIRE(at.move(at.slot_move(*claimed.slot, SlotState::released)).has_value());
  CHECK(!at.desk.facts(id).slot.has_value());
  SUBCASE("while it is ahead of the chain") {
    const auto again = at.reserve(id);
    REQUIRE(again.has_value());
    CHECK(again->slot->sequence.value == 0);
    CHECK(again->slot->state == SlotState::reserved);
    CHECK(again->slots_taken == 1);
    // Asking once more gives the one there is.
    const auto once_more = at.reserve(id);
    REQUIRE(once_more.has_value());
    CHECK(once_more->slot->id == again->slot->id);
    CHECK(once_more->intent.version == again->intent.version);
  }
  SUBCASE("not once the chain has passed it") {
    at.desk.chain_count = 1;
    CHECK(refused_with(at.reserve(id), StoreError::released_slot_unusable));
  }
  SUBCASE("not once a number above it was consumed, whatever a lagging node says") {
    const IntentId second = at.leased(2);
    at.db.sql("UPDATE slots SET sequence = 5");
    at.desk.chain_count = 6;
    at.desk.claim(second);
    at.desk.sign(second);
    at.desk.confirm(second);
    at.desk.settle(second);
    at.desk.chain_count = 0;
    CHECK(refused_with(at.reserve(id), StoreError::released_slot_unusable));
  }
  SUBCASE("not once another payment holds it") {
    at.db.sql(
        "INSERT INTO slots (account, sequence, state, standing, handed_over, created_ms,"
        " updated_ms) VALUES (1, 0, 'reserved', 'open', 0, 0, 0)");
    CHECK(refused_with(at.reserve(id), StoreError::released_slot_unusable));
  }
}

TEST_CASE("sequencer: a fresh number follows a foreign consumer, never a transaction of our own") {
  Claims at;
  const IntentId id = at.leased(1);
  at.desk.claim(id);
  const Facts now = at.desk.sign(id);
  store::SlotMove consumed = at.slot_move(*now.slot, SlotState::consumed);
  SUBCASE("foreign") {
    consumed.consumer = other_tx(tx_hash(5), our_account, 0);
    REQUIRE(at.move(consumed).has_value());
    const auto fresh = at.reserve(id);
    REQUIRE(fresh.has_value());
    CHECK(fresh->slot->sequence.value == 1);
    CHECK(fresh->slots_taken == 2);
    REQUIRE(fresh->earlier_slots.size() == 1);
    CHECK(fresh->earlier_slots[0].state == SlotState::consumed);
    // Taken back with finality, it is open once more, and its payment's no longer.
    const auto taken_back =
        at.slot_move(fresh->earlier_slots[0], SlotState::reconciliation_required);
    REQUIRE(at.move(taken_back).has_value());
    const auto open =
        at.db.read([](store::Txn& txn) { return store::open_slots(txn, chain, our_account, 10); });
    REQUIRE(open.size() == 2);
    CHECK(open[0].is_left);
    CHECK(!open[1].is_left);
  }
  SUBCASE("our own") {
    consumed.consumer = paying_tx(now.intent, *now.attempts[0].hash, our_account, 0);
    REQUIRE(at.move(consumed).has_value());
    CHECK(refused_with(at.reserve(id), StoreError::not_signable));
  }
}

TEST_CASE("claim: the account with the fewest open slots is taken, the first of equals") {
  Claims at;
  const auto claim_of_two = [&](std::uint64_t number) {
    store::Move claim = at.desk.claim_move(at.leased(number));
    claim.candidates = {at.desk.candidate(0), {our_second, at.second_epoch, {7}, {7}}};
    claim.max_unconsumed = 2;
    return at.desk.may(claim);
  };
  CHECK(claim_of_two(1)->slot->account == our_account);
  const auto second = claim_of_two(2);
  CHECK(second->slot->account == our_second);
  CHECK(second->slot->sequence.value == 7);
  CHECK(claim_of_two(3)->slot->account == our_account);
  CHECK(claim_of_two(4)->slot->account == our_second);
  const auto fifth = claim_of_two(5);
  CHECK(refused_with(fifth, StoreError::account_full));
  CHECK(at.desk.facts(payout(5).intent.id).intent.state == IntentState::authorized);
  CHECK(at.db.number("SELECT count(*) FROM entries") == 4);
}

TEST_CASE("claim: an account under another epoch is not used") {
  Claims at;
  store::Move claim = at.desk.claim_move(at.leased(1));
  claim.candidates[0].epoch += 1;
  CHECK(refused_with(at.desk.may(claim), StoreError::stale_epoch));
  claim.candidates.push_back({our_second, at.second_epoch, {0}, {0}});
  CHECK(at.desk.may(claim)->slot->account == our_second);
}

TEST_CASE("claim: of two claims on one version the second conflicts and takes no number") {
  Claims at;
  const IntentId id = at.leased(1);
  store::Move claim = at.desk.claim_move(id);
  claim.version = 1;
  claim.from = IntentState::authorized;
  CHECK(at.desk.may(claim).has_value());
  store::Move late = claim;
  late.to = IntentState::canceled;
  late.actor = Actor::system;
  late.reason = "expired";
  CHECK(refused_with(at.desk.may(late), StoreError::version_conflict));
  CHECK(at.db.number("SELECT count(*) FROM slots") == 1);
}

TEST_CASE("claim: a stale receipt claims nothing") {
  Claims at;
  store::Move claim = at.desk.claim_move(at.leased(1));
  claim.receipt = receipt(4711);
  CHECK(refused_with(at.desk.may(claim), StoreError::stale_receipt));
}

TEST_CASE("claim: a chain count that no sequence can have is not believed") {
  Claims at;
  store::Move claim = at.desk.claim_move(at.leased(1));
  claim.candidates[0].chain_latest = {~0ULL};
  CHECK(at.desk.may(claim).has_error());
}

TEST_CASE("sequencer: two rows that are not released cannot share a number") {
  Claims at;
  at.claimed_number(1);
  const auto twice = [&] {
    at.db.sql(
        "INSERT INTO slots (account, sequence, state, standing, handed_over, created_ms,"
        " updated_ms) VALUES (1, 0, 'reserved', 'open', 0, 0, 0)");
  };
  CHECK_THROWS_AS(twice(), sql::Failure);
}

TEST_CASE("slot: only an unsigned one is released") {
  Claims at;
  const IntentId id = at.leased(1);
  at.desk.claim(id);
  const Facts now = at.desk.sign(id);
  CHECK(refused_with(at.move(at.slot_move(*now.slot, SlotState::released)),
                     StoreError::illegal_slot_move));
  REQUIRE(at.move(at.slot_move(*now.slot, SlotState::reconciliation_required)).has_value());
  const Facts apart = at.desk.facts(id);
  CHECK(refused_with(at.move(at.slot_move(*apart.slot, SlotState::released)),
                     StoreError::illegal_slot_move));
  REQUIRE(at.move(at.slot_move(*apart.slot, SlotState::broadcast)).has_value());
  CHECK(at.desk.facts(id).slot->state == SlotState::broadcast);
  // Being there already is no change.
  const auto version = at.desk.facts(id).intent.version;
  REQUIRE(at.move(at.slot_move(*now.slot, SlotState::broadcast)).has_value());
  CHECK(at.desk.facts(id).intent.version == version);
}

TEST_CASE("slot: what was concluded of a number that has moved since is not done to it") {
  Claims at;
  const IntentId id = at.leased(1);
  at.desk.claim(id);
  const Facts seen = at.desk.sign(id);
  store::SlotMove consumed = at.slot_move(*seen.slot, SlotState::consumed);
  consumed.consumer = other_tx(tx_hash(9), our_account, seen.slot->sequence.value);
  REQUIRE(at.move(consumed).has_value());
  // Found nowhere, by whoever looked before that.
  CHECK(refused_with(at.move(at.slot_move(*seen.slot, SlotState::reconciliation_required)),
                     StoreError::version_conflict));
  CHECK(at.desk.facts(id).slot->state == SlotState::consumed);
  // Whoever saw it consumed may say that this was taken back.
  REQUIRE(at.move(at.slot_move(*at.desk.facts(id).slot, SlotState::reconciliation_required))
              .has_value());
}

TEST_CASE("slot: it is consumed only by a transaction that stands at it, under our epoch") {
  Claims at;
  const IntentId id = at.leased(1);
  at.desk.claim(id);
  const Facts now = at.desk.sign(id);
  store::SlotMove consumed = at.slot_move(*now.slot, SlotState::consumed);
  CHECK(refused_with(at.move(consumed), StoreError::unproven));
  consumed.consumer = other_tx(tx_hash(5), our_account, 1);
  CHECK(refused_with(at.move(consumed), StoreError::unproven));
  consumed.consumer = other_tx(tx_hash(5), our_second, 0);
  CHECK(refused_with(at.move(consumed), StoreError::unproven));
  consumed.consumer = other_tx(tx_hash(5), our_account, 0);
  consumed.epoch += 1;
  CHECK(refused_with(at.move(consumed), StoreError::stale_epoch));
  consumed.epoch -= 1;
  REQUIRE(at.move(consumed).has_value());
  REQUIRE(at.move(consumed).has_value());  // again: no change
  CHECK(at.db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 1);
  consumed.consumer->hash = tx_hash(6);
  CHECK(refused_with(at.move(consumed), StoreError::unproven));
}

TEST_CASE("slot: a number given again after a restore is consumed by its first owner's payment") {
  Claims at;
  // Both are known; the backup forgot that the first was signed at number 0.
  const IntentId first = at.leased(1);
  store::Move claim = at.desk.claim_move(first);
  claim.candidates.clear();
  at.desk.must(claim);
  store::Move confirm = at.desk.move(first, IntentState::confirming, Actor::relayer);
  confirm.tx_hash = tx_hash(5);
  at.desk.must(confirm);
  const IntentId second = at.leased(2);
  const auto before = at.desk.claim(second);
  CHECK(before.slot->sequence.value == 0);
  store::Move settle = at.desk.move(first, IntentState::settled, Actor::listener);
  settle.tx_hash = tx_hash(5);
  settle.final_tx = paying_tx(at.desk.facts(first).intent, tx_hash(5), our_account, 0);
  settle.arrived = at.desk.facts(first).intent.terms.amount;
  at.desk.must(settle);
  const Facts after = at.desk.facts(second);
  CHECK(after.slot->state == SlotState::consumed);
  CHECK(after.slot->consumed_by == tx_hash(5));
  CHECK(after.intent.version == before.intent.version + 1);
  CHECK(at.db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") == 1);
}

TEST_CASE("account: what is open and highest is told, with every attempt and item") {
  Claims at;
  const IntentId first = at.leased(1);
  at.desk.claim(first);
  at.desk.sign(first);
  at.claimed_number(2);
  const auto account =
      at.db.read([](store::Txn& txn) { return store::find_account(txn, chain, our_account); });
  REQUIRE(account.has_value());
  CHECK(account->epoch == at.desk.epoch);
  CHECK(account->unconsumed == 2);
  CHECK(account->highest_used == domain::Sequence{1});
  const auto open =
      at.db.read([](store::Txn& txn) { return store::open_slots(txn, chain, our_account, 10); });
  REQUIRE(open.size() == 2);
  CHECK(open[0].attempts.size() == 1);
  REQUIRE(open[0].item);
  CHECK(open[0].item->state == IntentState::settling);
  CHECK(open[0].item_leased);
  CHECK(open[1].slot.state == SlotState::reserved);
}

}  // namespace holdfast::test
