// Every row of the transition table through move_intent, and everything that is not in it.
#include <algorithm>
#include <string>

#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using domain::Effect;
using domain::Need;
using domain::SlotState;
using domain::Transition;
using domain::TransitionError;
using store::StoreError;

constexpr IntentState all_states[] = {IntentState::created,  IntentState::authorized,
                                      IntentState::settling, IntentState::confirming,
                                      IntentState::settled,  IntentState::failed,
                                      IntentState::canceled, IntentState::needs_review};
constexpr Actor all_actors[] = {Actor::api, Actor::operator_, Actor::system, Actor::relayer,
                                Actor::listener};

/// A payment in any state. Settling and later it has a slot, and an attempt where asked for.
struct Stage {
  TestStore db;
  Desk desk{db};

  Facts at(IntentState state, bool with_attempt = true);
  /// All the row needs, brought by `actor`.
  store::Move good_move(const Facts& facts, const Transition& row, Actor actor);
};

Facts Stage::at(IntentState state, bool with_attempt) {
  if (state == IntentState::created) return desk.facts(desk.create(bearer(1)).id);
  const IntentId id = desk.create_payout(1).id;
  if (state == IntentState::authorized) return desk.facts(id);
  if (state == IntentState::canceled) {
    store::Move cancel = desk.move(id, state, Actor::api);
    cancel.reason = "not wanted";
    return desk.must(cancel);
  }
  desk.lease_all();
  desk.claim(id);
  if (with_attempt) desk.sign(id);
  if (state == IntentState::settling) return desk.facts(id);
  if (state == IntentState::needs_review) {
    store::Move review = desk.move(id, state, Actor::relayer);
    review.reason = "outcome_unknown";
    review.receipt = desk.receipt_of(id);
    review.ack = true;
    return desk.must(review);
  }
  if (state == IntentState::failed) {
    store::Move fail = desk.move(id, state, Actor::relayer);
    fail.reason = "expired";
    const Facts now = desk.facts(id);
    fail.proof = domain::AllSlotsConsumed{{domain::consumer_of(
        *now.slot, other_tx(tx_hash(99), our_account, now.slot->sequence.value))}};
    return desk.must(fail);
  }
  desk.confirm(id);
  if (state == IntentState::settled) desk.settle(id);
  return desk.facts(id);
}

store::Move Stage::good_move(const Facts& facts, const Transition& row, Actor actor) {
  store::Move out = desk.move(facts.intent.id, row.to, actor);
  if (row.to == IntentState::authorized) out.authorization = authorization_of(facts.intent);
  if (has(row.effects, Effect::reserve)) out.candidates = {desk.candidate(desk.chain_count)};
  if (has(row.needs, Need::reason)) {
    out.reason = row.to == IntentState::needs_review ? "no_receipt" : "a reason";
  }
  const std::uint64_t sequence = facts.slot ? facts.slot->sequence.value : 0;
  if (has(row.needs, Need::tx_hash)) {
    out.tx_hash = facts.attempts.empty() ? tx_hash(1) : *facts.attempts.back().hash;
  }
  if (has(row.needs, Need::final_evidence)) {
    out.final_tx = paying_tx(facts.intent, *out.tx_hash, our_account, sequence);
    out.arrived = facts.intent.terms.amount;
  }
  if (has(row.needs, Need::unredeemable)) {
    if (facts.attempts.empty()) {
      out.proof = domain::NeverAsked{};
    } else {
      out.proof = domain::AllSlotsConsumed{
          {domain::consumer_of(*facts.slot, other_tx(tx_hash(99), our_account, sequence))}};
    }
  }
  return out;
}

std::string name_of(const Transition& row, Actor actor) {
  return std::string(domain::to_text(row.from)) + " to " + std::string(domain::to_text(row.to)) +
         " by " + std::string(domain::to_text(actor));
}

void check_journal(Stage& stage, const Transition& row) {
  const auto count = [&](const char* sql) { return stage.db.number(sql); };
  if (has(row.effects, Effect::journal_hold)) {
    CHECK(count("SELECT count(*) FROM entries WHERE kind = 'hold'") == 1);
    CHECK(count("SELECT count(*) FROM entries WHERE kind <> 'hold'") == 0);
  }
  if (has(row.effects, Effect::journal_post)) {
    CHECK(count("SELECT count(*) FROM entries WHERE kind = 'post'") == 1);
    CHECK(count("SELECT count(*) FROM entries WHERE kind = 'void'") == 0);
  }
  if (has(row.effects, Effect::journal_void)) {
    CHECK(count("SELECT count(*) FROM entries WHERE kind = 'void'") == 1);
    CHECK(count("SELECT count(*) FROM entries WHERE kind = 'post'") == 0);
  }
}

void check_effects(Stage& stage, const Facts& before, const Transition& row, const Facts& after) {
  CHECK(after.intent.state == row.to);
  CHECK(after.intent.version == before.intent.version + 1);
  CHECK(after.intent.updated_ms == stage.desk.now_ms);
  check_journal(stage, row);
  const auto job =
      stage.db.read([&](store::Txn& txn) { return store::find_job(txn, after.intent.id); });
  if (has(row.effects, Effect::enqueue_settle)) {
    REQUIRE(job.has_value());
    CHECK(!job->leased);
    CHECK(job->visible_ms == stage.desk.now_ms);
  }
  if (has(row.effects, Effect::reserve)) {
    REQUIRE(after.slot.has_value());
    CHECK(after.slot->state == SlotState::reserved);
  }
  if (has(row.effects, Effect::end_slot) && before.slot) {
    const bool was_signed = !before.attempts.empty();
    const auto state = stage.db.text("SELECT state FROM slots");
    CHECK(state == (was_signed ? "consumed" : "released"));
    CHECK(stage.db.number("SELECT count(*) FROM entries WHERE kind = 'gas'") ==
          (was_signed ? 1 : 0));
  }
  const auto history =
      stage.db.read([&](store::Txn& txn) { return store::history_of(txn, after.intent.id); });
  REQUIRE(!history.empty());
  CHECK(history.back().from == row.from);
  CHECK(history.back().to == row.to);
  CHECK(history.back().version == after.intent.version);
  // What the move returned is what the rows say.
  const Facts again = stage.desk.facts(after.intent.id);
  CHECK(again.intent.state == after.intent.state);
  CHECK(again.intent.tx_hash == after.intent.tx_hash);
  CHECK(again.slot.has_value() == after.slot.has_value());
  if (again.slot) CHECK(again.slot->state == after.slot->state);
  CHECK(again.slot_is_lowest == after.slot_is_lowest);
  CHECK(again.slots_taken == after.slots_taken);
}

/// Payments with and without an attempt, as far as the row lets them be.
std::vector<bool> attempt_choices(const Transition& row) {
  if (has(row.needs, Need::no_attempt)) return {false};
  const bool both = row.from == IntentState::settling || row.from == IntentState::needs_review;
  if (both && !has(row.needs, Need::final_evidence)) return {true, false};
  return {true};
}

}  // namespace

TEST_CASE("store: every row of the table moves the payment, with all its effects") {
  for (const Transition& row : domain::transitions()) {
    for (const Actor actor : row.actors) {
      for (const bool with_attempt : attempt_choices(row)) {
        CAPTURE(name_of(row, actor));
        CAPTURE(with_attempt);
        Stage stage;
        const Facts before = stage.at(row.from, with_attempt);
        stage.desk.now_ms += 500;
        const auto after = stage.desk.may(stage.good_move(before, row, actor));
        if (after.has_error()) FAIL(after.error().detail);
        check_effects(stage, before, row, *after);
      }
    }
  }
}

TEST_CASE("store: a row that lacks one of its needs is refused, and nothing is written") {
  int refused = 0;
  for (const Transition& row : domain::transitions()) {
    for (const Need need : {Need::reason, Need::tx_hash, Need::final_evidence, Need::unredeemable,
                            Need::no_attempt}) {
      if (!has(row.needs, need)) continue;
      CAPTURE(name_of(row, row.actors.front()));
      Stage stage;
      const Facts before = stage.at(row.from, need == Need::no_attempt || row.from != row.to);
      store::Move move = stage.good_move(before, row, row.actors.front());
      if (need == Need::reason) move.reason.clear();
      if (need == Need::tx_hash) move.tx_hash.reset();
      if (need == Need::final_evidence) move.final_tx.reset();
      if (need == Need::unredeemable) move.proof.reset();
      CHECK(refused_with(stage.desk.may(move), TransitionError::missing_need));
      CHECK(stage.desk.facts(before.intent.id).intent.state == row.from);
      ++refused;
    }
  }
  CHECK(refused > 15);
}

TEST_CASE("store: what is not in the table is refused, and nothing is written") {
  for (const IntentState from : all_states) {
    Stage stage;
    const Facts before = stage.at(from);
    for (const IntentState to : all_states) {
      if (to == from) continue;
      for (const Actor actor : all_actors) {
        const auto table = domain::transitions();
        const auto known = [&](const Transition& row) { return row.from == from && row.to == to; };
        const bool is_move = std::any_of(table.begin(), table.end(), known);
        const bool is_row = std::any_of(table.begin(), table.end(), [&](const Transition& row) {
          return known(row) &&
                 std::find(row.actors.begin(), row.actors.end(), actor) != row.actors.end();
        });
        if (is_row) continue;
        CAPTURE(domain::to_text(from));
        CAPTURE(domain::to_text(to));
        CAPTURE(domain::to_text(actor));
        store::Move move = stage.desk.move(before.intent.id, to, actor);
        move.reason = "no_receipt";
        const auto expected = domain::is_terminal(from) ? TransitionError::terminal
                              : is_move                 ? TransitionError::wrong_actor
                                                        : TransitionError::illegal_move;
        CHECK(refused_with(stage.desk.may(move), expected));
      }
    }
    CHECK(stage.desk.facts(before.intent.id).intent.version == before.intent.version);
  }
}

TEST_CASE("store: asking for the state it is in is a replay that changes nothing") {
  for (const IntentState state : all_states) {
    CAPTURE(domain::to_text(state));
    Stage stage;
    const Facts before = stage.at(state);
    const std::int64_t rows = stage.db.rows_written;
    const auto again = stage.desk.may(stage.desk.move(before.intent.id, state, Actor::relayer));
    REQUIRE(again.has_value());
    CHECK(again->intent.version == before.intent.version);
    CHECK(stage.db.rows_written == rows);
  }
}

TEST_CASE("store: a worker whose confirmation came second still gets its ack") {
  Stage stage;
  const Facts before = stage.at(IntentState::settling);
  const domain::Receipt held = stage.desk.receipt_of(before.intent.id);
  store::Move first = stage.desk.move(before.intent.id, IntentState::confirming, Actor::listener);
  first.tx_hash = before.attempts.back().hash;
  stage.desk.must(first);
  CHECK(stage.db.number("SELECT count(*) FROM jobs") == 1);
  store::Move second = first;
  second.actor = Actor::relayer;
  second.receipt = held;
  second.ack = true;
  stage.desk.must(second);
  CHECK(stage.db.number("SELECT count(*) FROM jobs") == 0);
}

TEST_CASE("store: a move by another caller finds nothing") {
  Stage stage;
  const Facts before = stage.at(IntentState::authorized);
  store::Move move = stage.desk.move(before.intent.id, IntentState::canceled, Actor::api);
  move.reason = "not mine";
  move.caller = domain::CallerId{"stranger"};
  CHECK(refused_with(stage.desk.may(move), StoreError::not_found));
  move.caller = shop;
  CHECK(stage.desk.may(move).has_value());
}

TEST_CASE("store: a review takes only the reasons there are") {
  Stage stage;
  const Facts before = stage.at(IntentState::settling);
  store::Move move = stage.desk.move(before.intent.id, IntentState::needs_review, Actor::relayer);
  move.reason = "a feeling";
  CHECK(refused_with(stage.desk.may(move), TransitionError::missing_need));
  move.reason = "no_receipt";
  CHECK(stage.desk.may(move).has_value());
}

TEST_CASE("store: going into review releases a slot that nothing was signed for, and no other") {
  for (const bool with_attempt : {true, false}) {
    Stage stage;
    const Facts before = stage.at(IntentState::settling, with_attempt);
    store::Move move = stage.desk.move(before.intent.id, IntentState::needs_review, Actor::relayer);
    move.reason = "no_receipt";
    const Facts after = stage.desk.must(move);
    CHECK(after.slot.has_value() == with_attempt);
    CHECK(stage.db.text("SELECT state FROM slots") == (with_attempt ? "signed" : "released"));
  }
}

}  // namespace holdfast::test
