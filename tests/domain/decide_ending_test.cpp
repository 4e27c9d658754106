#include <doctest/doctest.h>

#include "domain/decide_scene.hpp"

namespace holdfast::test {
namespace {

using Found = HashSeen::Result;
using Authorized = AuthorizationSeen::Result;

/// Searched in vain, and the chain's final count has passed our number.
Scene passed_by(bool bearer = false) {
  Scene out = signed_scene(bearer).searched({Found::not_found});
  out.seen.final_sequence = slot_sequence.next();
  return out;
}

/// Our transaction at the slot, reverted with finality.
Scene reverted_scene(bool bearer) {
  Scene out = signed_scene(bearer, SlotState::broadcast).searched({Found::final_reverted});
  MinedTx tx = mined(1);
  tx.succeeded = false;
  out.seen.search->at(0).tx = tx;
  return out;
}

MinedTx payout_tx(Byte byte, bool with_ref) {
  MinedTx out = mined(byte);
  out.transfers = {{token, our_account, payee, {1000}, 0}};
  if (with_ref) out.trailing_ref = filled<Ref>(0xb2);
  return out;
}

}  // namespace

TEST_CASE("decide: settling: a payout that reverted with finality fails by proof 2") {
  Scene s = reverted_scene(false);
  REQUIRE(s.step() == "fail");
  CHECK(s.row() == "settling: our transaction reverted with finality");
  CHECK(s.take<step::Fail>().reason == "reverted");
  CHECK(std::holds_alternative<AllSlotsConsumed>(s.take<step::Fail>().proof));
  // Found by the simulator (hell, seed 41525): what the lost part of a store signed at another
  // number has paid, and all numbers on record were used by others.
  s.now.is_restored = true;
  CHECK(s.why() == "store_restored");
  s.now.is_restored = false;
  s.facts.ref_found_in = {{hash(9), our_account, {41}}};
  CHECK(s.step() == "read_ref_found");
  s.seen.ref_found = RefSeen{};
  s.seen.ref_found->tx = mined(9);
  CHECK(s.take<step::Confirm>().hash == hash(9));
  s.seen.ref_found->tx->succeeded = false;
  CHECK(s.why() == "ref_not_final");
  s.seen.ref_found->is_final = true;
  CHECK(s.take<step::Fail>().reason == "reverted");
}

TEST_CASE("decide: settling: a revert whose transaction was not read is fetched first") {
  Scene s = reverted_scene(false);
  s.seen.search->at(0).tx.reset();
  CHECK(s.step() == "fetch_consumer");
  CHECK(s.take<step::FetchConsumer>().slot == slot_id);
  MinedTx tx = mined(1);
  tx.succeeded = false;
  s.consumer(tx);
  CHECK(s.step() == "fail");
}

TEST_CASE("decide: settling: a bearer payment that reverted is watched until proof 3") {
  Scene s = reverted_scene(true);
  CHECK(s.step() == "read_authorization");
  for (const Authorized result : {Authorized::unused, Authorized::unknown}) {
    s.authorization(result);
    CHECK(s.step() == "nack");
    CHECK(s.why() == "authorization_live");
  }
  s.authorization(Authorized::unused).seen.authorization->unused_at_final_s = validity_end_s - 1;
  CHECK(s.step() == "nack");
  s.seen.authorization->unused_at_final_s = validity_end_s;
  REQUIRE(s.step() == "fail");
  CHECK(std::holds_alternative<AuthorizationDead>(s.take<step::Fail>().proof));
  // Somebody else ran it: that is the payment.
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.take<step::Confirm>().hash == hash(9));
  s.authorization(Authorized::canceled, true, cancellation(9));
  CHECK(s.step() == "fail");
  s.authorization(Authorized::canceled, true);  // unread, it is no proof
  CHECK(s.step() == "nack");
}

TEST_CASE("decide: settling: a number the chain has passed is read before anything is posted") {
  Scene s = passed_by();
  CHECK(s.step() == "fetch_consumer");
  CHECK(s.row() == "settling: slot consumed with finality");
  s.consumer({});
  CHECK(s.step() == "nack");
  CHECK(s.why() == "consumer_unreadable");
  s.now.unchanged_s = s.policy.review_after_ms / 1000 - 1;
  CHECK(s.step() == "nack");
  s.now.unchanged_s = s.policy.review_after_ms / 1000;
  // A node that says nothing is no node that finds nothing.
  s.seen.consumer->is_unanswered = true;
  CHECK(s.why() == "consumer_unreadable");
  s.seen.consumer->is_unanswered = false;
  CHECK(s.take<step::Review>().reason == "no_receipt");
}

TEST_CASE("decide: settling: the wait for a receipt is the chain's time, whatever the wall says") {
  Scene s = passed_by().consumer({});
  s.now.unchanged_s = s.policy.review_after_ms / 1000 - 1;
  s.now.wall_ms += 10 * s.policy.review_after_ms;
  s.now.chain_s += 10 * s.policy.review_after_ms / 1000;  // a chain ahead of our clock, too
  CHECK(s.step() == "nack");
  s.now.unchanged_s.reset();
  CHECK(s.step() == "nack");
  s.now.unchanged_s = s.policy.review_after_ms / 1000;
  CHECK(s.step() == "review");
}

TEST_CASE("decide: a payment's record changed last when it was claimed, stored or posted last") {
  Scene s = passed_by();
  s.facts.intent.settling_ms = 5;
  s.facts.attempts[0].stored_ms = 7;
  CHECK(last_record_ms(s.facts) == std::max<std::int64_t>(7, s.facts.attempts[0].posted_ms));
  s.facts.attempts[0].posted_ms = 9;
  CHECK(last_record_ms(s.facts) == 9);
}

TEST_CASE("decide: settling: nonce too low leads to the search, the count and the consumer") {
  Scene s = signed_scene().posted(PostAnswer::nonce_too_low);
  CHECK(s.step() == "search_attempts");
  s.searched({Found::included});
  CHECK(s.step() == "confirm");
  s.searched({Found::not_found});
  CHECK(s.step() == "read_final_sequence");
  s.seen.final_sequence = slot_sequence;
  CHECK(s.step() == "nack");  // consumed, not yet with finality: nothing is posted or signed
  s.seen.final_sequence = slot_sequence.next();
  CHECK(s.step() == "fetch_consumer");
  s.consumer(mined(1));
  CHECK(s.take<step::Confirm>().hash == hash(1));  // our own, though no search found it
}

TEST_CASE("decide: settling: a consumer that is evidence: confirming with its hash") {
  Scene payout = passed_by().consumer(payout_tx(9, true));
  CHECK(payout.take<step::Confirm>().hash == hash(9));
  CHECK(payout.row() == "settling: evidence was fetched at the slot");
  Scene bearer = passed_by(true);
  MinedTx tx = use_of_authorization(9);
  tx.sender = our_account;
  bearer.consumer(tx);
  CHECK(bearer.take<step::Confirm>().hash == hash(9));
}

TEST_CASE("decide: settling: a consumer that may have moved this money is for a person") {
  Scene same_amount = passed_by().consumer(payout_tx(9, false));
  CHECK(same_amount.take<step::Review>().reason == "foreign_use");
  MinedTx odd = payout_tx(9, true);
  odd.transfers[0].amount = {1001};
  Scene with_ref = passed_by().consumer(odd);
  CHECK(with_ref.take<step::Review>().reason == "transfer_mismatch");
}

TEST_CASE("decide: settling: a foreign transaction at our number: a fresh one, once") {
  for (const bool bearer : {true, false}) {
    Scene s = passed_by(bearer).consumer(mined(9));
    CHECK(s.step() == "reserve_fresh");
    s.seen.reserve = ReserveSeen{ReserveSeen::Result::account_full};
    CHECK(s.why() == "account_full");
    s.seen.reserve.reset();
    s.facts.slots_taken = 2;
    if (bearer) s.authorization(Authorized::unused);
    CHECK(s.take<step::Review>().reason == "foreign_use");
    // The fresh one was given back unsigned, and is bound again: that is no third number.
    s.facts.newest_is_released = true;
    CHECK(s.step() == "reserve_fresh");
  }
  // Before anything was signed too.
  Scene unsigned_scene = claimed().slot_in(SlotState::consumed);
  CHECK(unsigned_scene.step() == "fetch_consumer");
  unsigned_scene.consumer(mined(9));
  CHECK(unsigned_scene.step() == "reserve_fresh");
}

TEST_CASE("decide: settling: on a fresh number it signs, once the first is known as consumed") {
  Scene s = claimed().attempt(AttemptOutcome::unknown);
  s.facts.attempts[0].slot = SlotId{6};
  s.facts.slots_taken = 2;
  CHECK(s.step() == "search_attempts");
  Slot first = *s.facts.slot;
  first.id = {6};
  first.sequence = {39};
  first.state = SlotState::reconciliation_required;
  s.facts.earlier_slots = {first};
  CHECK(s.step() == "search_attempts");
  s.facts.earlier_slots[0].state = SlotState::consumed;
  CHECK(s.step() == "sign_and_store");
}

TEST_CASE("decide: settling: a payout with two numbers fails only when both were read") {
  Scene s = claimed().slot_in(SlotState::consumed).attempt().attempt();
  s.facts.attempts[0].slot = SlotId{6};
  s.facts.slots_taken = 2;
  s.facts.intent.cancel_asked = true;
  Slot first = *s.facts.slot;
  first.id = {6};
  first.sequence = {39};
  s.facts.earlier_slots = {first};
  s.searched({Found::not_found, Found::not_found}).consumer(mined(9));
  REQUIRE(s.step() == "fetch_consumer");
  CHECK(s.take<step::FetchConsumer>().slot == SlotId{6});
  MinedTx earlier = mined(8);
  earlier.sequence = {39};
  s.seen.earlier_consumers = {{std::nullopt, {6}}};
  CHECK(s.step() == "nack");
  s.seen.earlier_consumers = {{earlier, {6}}};
  CHECK(s.step() == "fail");
  CHECK(s.take<step::Fail>().reason == "slot_consumed");
  s.facts.earlier_slots.clear();  // the store does not say where it stood: no proof
  CHECK(s.step() == "nack");
}

TEST_CASE("decide: settling: our noop took the number: a payout fails, a bearer payment goes on") {
  Scene payout = passed_by();
  payout.facts.slot->handed_over = true;
  CHECK(payout.step() == "fetch_consumer");
  payout.consumer(mined(9));
  CHECK(payout.step() == "fail");

  Scene replaced = signed_scene().attempt(AttemptOutcome::accepted, AttemptKind::noop);
  replaced.searched({Found::not_found, Found::final_included});
  replaced.seen.search->at(1).tx = mined(2);
  CHECK(replaced.step() == "fail");

  Scene bearer = passed_by(true);
  bearer.facts.slot->handed_over = true;
  bearer.consumer(mined(9));
  CHECK(bearer.step() == "reserve_fresh");
  bearer.past_deadline();
  CHECK(bearer.step() == "read_authorization");
  bearer.authorization(Authorized::unused);
  CHECK(bearer.why() == "authorization_live");
}

TEST_CASE("decide: settling: a foreign use of the number does not fail a payout late by the wall") {
  Scene s = passed_by().consumer(mined(9)).clock_jumped();
  CHECK(s.why() == "late_by_wall_clock");
  s.now.chain_s = deadline_s;
  CHECK(s.step() == "fail");
}

TEST_CASE("decide: settling: cancel asked, past the deadline or refused for good: handed over") {
  Scene canceled = signed_scene().searched({Found::not_found});
  canceled.facts.intent.cancel_asked = true;
  Scene late = signed_scene().searched({Found::not_found}).past_deadline();
  Scene refused =
      signed_scene().posted(PostAnswer::refused_for_good, true).searched({Found::not_found});
  struct Row {
    Scene scene;
    std::string reason;
  };
  for (Row row :
       {Row{canceled, "cancel_asked"}, Row{late, "expired"}, Row{refused, "refused_for_good"}}) {
    CAPTURE(row.reason);
    CHECK(row.scene.step() == "read_final_sequence");
    row.scene.seen.final_sequence = slot_sequence;
    CHECK(row.scene.step() == "hand_over");
    CHECK(row.scene.row() == "settling: cancel asked, past the deadline, or refused for good");
    CHECK(row.scene.take<step::HandOver>().reason == row.reason);
    row.scene.facts.slot->handed_over = true;
    CHECK(row.scene.why() == "waiting_for_proof");
  }
}

TEST_CASE("decide: settling: what is given up and found in a pool is handed over, not confirmed") {
  Scene s = signed_scene().searched({Found::pending}).past_deadline();
  s.seen.final_sequence = slot_sequence;
  CHECK(s.step() == "hand_over");
}

TEST_CASE("decide: settling: refused for good and yet in a pool: the refusal is not believed") {
  const Scene s =
      signed_scene().posted(PostAnswer::refused_for_good, true).searched({Found::pending});
  CHECK(s.step() == "confirm");
}

TEST_CASE("decide: settling: given up without proof for the whole grace it goes to review") {
  Scene s = signed_scene().searched({Found::not_found}).past_deadline();
  s.seen.final_sequence = slot_sequence;
  s.facts.slot->handed_over = true;
  s.now.chain_s = deadline_s + s.policy.grace_s - 1;
  CHECK(s.step() == "nack");
  s.now.chain_s += 1;
  CHECK(s.take<step::Review>().reason == "grace_over");
}

TEST_CASE("decide: settling: a given-up bearer payment ends by proof 3 before anything else") {
  Scene s = signed_scene(true).searched({Found::not_found}).past_deadline();
  CHECK(s.step() == "read_authorization");
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "confirm");
  s.authorization(Authorized::unused);
  CHECK(s.step() == "read_final_sequence");
  s.seen.authorization->unused_at_final_s = validity_end_s;
  CHECK(s.take<step::Fail>().reason == "expired");
}

TEST_CASE("decide: settling: used on other terms with finality: no bytes go out any more") {
  Scene s = signed_scene(true).searched({Found::not_found});
  s.authorization(Authorized::used_otherwise, true, use_of_authorization(9, {"0xX"}));
  CHECK(s.take<step::Fail>().reason == "authorization_used_otherwise");
  s.authorization(Authorized::used_otherwise, true);  // its transaction was not read
  s.seen.final_sequence = slot_sequence;
  CHECK(s.step() == "hand_over");
}

// Found by the simulator (hell, seeds 1069 and 1205): somebody else had paid with it meanwhile.
TEST_CASE("decide: settling: nobody is asked before the authorization was read") {
  Scene s = scene(IntentState::settling, true);
  s.seen.reserve = ReserveSeen{ReserveSeen::Result::released_slot_unusable};
  CHECK(s.step() == "read_authorization");
  s.authorization(Authorized::unused);
  CHECK(s.take<step::Review>().reason == "released_slot_unusable");
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "confirm");
}

// Found by the simulator: it waited for a proof that never comes.
TEST_CASE("decide: settling: used up with no transfer logged is for a person") {
  MinedTx silent = use_of_authorization(9);
  silent.transfers.clear();
  Scene s = signed_scene(true).searched({Found::final_reverted});
  s.authorization(Authorized::used_otherwise, false, silent);
  CHECK(s.step() == "nack");
  s.authorization(Authorized::used_otherwise, true, silent);
  CHECK(s.take<step::Review>().reason == "transfer_mismatch");
  s.authorization(Authorized::used_otherwise, true, use_of_authorization(9, {"0xX"}));
  CHECK(s.step() == "fail");
}

TEST_CASE("decide: settling: a deadline reached between storing and posting posts nothing") {
  Scene s = signed_scene().past_deadline();
  s.seen.stored_now = s.facts.attempts[0].id;
  CHECK(s.step() == "search_attempts");
  s.facts.intent.publish_before_s += 1;
  CHECK(s.step() == "post");
  s.facts.intent.cancel_asked = true;
  CHECK(s.step() != "post");
}

TEST_CASE("decide: settling: pay bytes of a slot that was handed over are never posted again") {
  Scene s = signed_scene().searched({Found::not_found});
  s.facts.slot->handed_over = true;
  s.seen.final_sequence = slot_sequence;
  CHECK(s.step() == "nack");
  s.seen = {};
  s.seen.stored_now = s.facts.attempts[0].id;
  CHECK(s.step() == "search_attempts");
}

TEST_CASE(
    "decide: settling: a fresh number whose payment is given up fails by what took the first") {
  Scene s = claimed().attempt(AttemptOutcome::unknown);
  s.facts.attempts[0].slot = SlotId{6};
  Slot first = *s.facts.slot;
  first.id = {6};
  first.sequence = {39};
  first.state = SlotState::consumed;
  s.facts.earlier_slots = {first};
  s.facts.intent.cancel_asked = true;
  s.searched({Found::not_found});
  CHECK(s.step() == "fetch_consumer");
  MinedTx earlier = mined(8);
  earlier.sequence = {39};
  s.seen.earlier_consumers = {{earlier, {6}}};
  CHECK(s.step() == "fail");
}

}  // namespace holdfast::test
