#include <doctest/doctest.h>

#include "domain/decide_scene.hpp"

namespace holdfast::test {
namespace {

using Simulated = SimulationSeen::Result;
using Authorized = AuthorizationSeen::Result;

Scene with_send_slot(bool bearer = true) {
  Scene out = authorized(bearer);
  out.seen.send_slot = SendSlotSeen{};
  return out;
}

}  // namespace

TEST_CASE("decide: created: the job came before the signature, it waits") {
  Scene s = scene(IntentState::created, true);
  CHECK(s.step() == "nack");
  CHECK(s.row() == "created: the job came before the signature");
  CHECK(s.take<step::Nack>().delay_ms > 0);
  s.now.lapsed_leases = s.policy.max_lapsed_leases + 1;
  CHECK(s.step() == "ack");
}

TEST_CASE("decide: authorized: asks for a send slot, simulates, claims, in this order") {
  for (const bool bearer : {true, false}) {
    Scene s = authorized(bearer);
    CHECK(s.step() == "take_send_slot");
    s.seen.send_slot = SendSlotSeen{};
    CHECK(s.step() == "simulate");
    s.simulated(Simulated::passes);
    CHECK(s.step() == "claim");
    CHECK(s.row() == "authorized: otherwise");
  }
}

TEST_CASE("decide: authorized: an opaque sender has nothing to simulate") {
  Scene s = with_send_slot(false);
  s.policy.opaque = true;
  s.policy.ordered = false;
  CHECK(s.step() == "claim");
}

TEST_CASE("decide: authorized: no send slot: nack, and nothing else is asked") {
  const Blocked all[] = {Blocked::throttled, Blocked::node_down, Blocked::paused,
                         Blocked::account_full, Blocked::unfunded};
  for (const Blocked why : all) {
    Scene s = authorized();
    s.seen.send_slot = SendSlotSeen{why};
    CHECK(s.step() == "nack");
    CHECK(s.row() == "authorized: no send slot");
    CHECK(s.why() == to_text(why));
  }
}

TEST_CASE("decide: authorized: who waits for room is not sent ever further back") {
  Scene s = authorized();
  s.now.tries = 30;
  for (const Blocked why : {Blocked::account_full, Blocked::throttled}) {
    s.seen.send_slot = SendSlotSeen{why};
    CHECK(s.take<step::Nack>().delay_ms <= 2'000);
  }
  s.seen.send_slot = SendSlotSeen{Blocked::node_down};
  CHECK(s.take<step::Nack>().delay_ms > 2'000);
}

TEST_CASE("decide: authorized: past its publish deadline it is canceled, after one last look") {
  Scene s = authorized().past_deadline();
  CHECK(s.step() == "read_authorization");
  s.authorization(Authorized::unknown);
  CHECK(s.step() == "nack");
  s.authorization(Authorized::unused);
  CHECK(s.step() == "cancel");
  CHECK(s.take<step::Cancel>().reason == "expired");
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "claim_paid");
  CHECK(s.take<step::ClaimPaid>().tx.hash == hash(9));

  Scene payout = authorized(false).past_deadline();
  CHECK(payout.step() == "cancel");
  CHECK(payout.row() == "authorized: past its publish deadline");
}

TEST_CASE("decide: authorized: the deadline is the chain's; a wall clock that jumped only waits") {
  Scene s = authorized(false).clock_jumped();
  CHECK(s.step() == "nack");
  CHECK(s.why() == "late_by_wall_clock");
  s.now.chain_s = 0;  // no block was ever read: the wall clock is all there is, and nothing is sent
  CHECK(s.step() == "cancel");
  Scene behind = authorized(false);
  behind.now.chain_s = deadline_s;
  CHECK(behind.step() == "cancel");
}

TEST_CASE("decide: authorized: one second before the deadline it is still claimed") {
  Scene s = with_send_slot(false).simulated(Simulated::passes);
  s.now.chain_s = deadline_s - 1;
  s.now.wall_ms = deadline_s * 1000 - 1;
  CHECK(s.step() == "claim");
  s.now.wall_ms += 1;
  CHECK(s.step() == "nack");
}

TEST_CASE("decide: authorized: a refused simulation makes it read the authorization") {
  Scene s = with_send_slot().simulated(Simulated::refused, "FiatTokenV2: invalid");
  CHECK(s.step() == "read_authorization");
  s.authorization(Authorized::unknown);
  CHECK(s.step() == "nack");

  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "claim_paid");
  CHECK(s.row() == "authorized: the authorization was used in exactly this transfer");

  s.authorization(Authorized::used_exactly);  // without its transaction it is no evidence
  CHECK(s.step() == "nack");
}

TEST_CASE(
    "decide: authorized: used on other terms or canceled, finally: canceled with the reason") {
  for (const Authorized how : {Authorized::used_otherwise, Authorized::canceled}) {
    Scene s = with_send_slot().simulated(Simulated::refused, "no");
    s.authorization(how, false);
    CHECK(s.step() == "nack");
    CHECK(s.why() == "authorization_not_final");
    s.authorization(how, true);
    CHECK(s.step() == "cancel");
    CHECK(s.row() == "authorized: refused, used on other terms or canceled");
    CHECK(
        s.take<step::Cancel>().reason ==
        (how == Authorized::canceled ? "authorization_canceled" : "authorization_used_otherwise"));
  }
}

TEST_CASE("decide: authorized: refused by the contract for good: canceled with its reason") {
  Scene s = with_send_slot().simulated(Simulated::refused, "insufficient balance");
  s.authorization(Authorized::unused);
  CHECK(s.step() == "cancel");
  CHECK(s.row() == "authorized: refused by the contract for good");
  CHECK(s.take<step::Cancel>().reason == "insufficient balance");
  Scene payout = with_send_slot(false).simulated(Simulated::refused, "");
  CHECK(payout.take<step::Cancel>().reason == "refused");
}

TEST_CASE("decide: authorized: a refusal before the authorization is valid is not for good") {
  Scene s = with_send_slot().simulated(Simulated::refused, "not yet valid");
  s.authorization(Authorized::unused);
  s.facts.intent.authorization->validity.after_s = noon_s;
  CHECK(s.step() == "nack");
  CHECK(s.why() == "not_yet_valid");
  s.now.chain_s += 1;
  CHECK(s.step() == "cancel");
}

TEST_CASE("decide: authorized: over the gas cap it is canceled before a number is reserved") {
  Scene s = with_send_slot().simulated(Simulated::over_gas_cap);
  CHECK(s.step() == "cancel");
  CHECK(s.take<step::Cancel>().reason == "over_gas_cap");
}

TEST_CASE("decide: authorized: a simulation that gave no answer says nothing about the payment") {
  Scene s = with_send_slot().simulated(Simulated::unknown);
  CHECK(s.step() == "nack");
  CHECK(s.why() == "simulation_unreadable");
}

TEST_CASE("decide: authorized: a spent budget or a cancel ends it, since nobody was asked to act") {
  Scene s = authorized(false);
  s.now.lapsed_leases = s.policy.max_lapsed_leases;
  CHECK(s.step() == "take_send_slot");
  s.now.lapsed_leases += 1;
  CHECK(s.take<step::Cancel>().reason == "budget_spent");
  Scene asked = authorized(false);
  asked.facts.intent.cancel_asked = true;
  CHECK(asked.take<step::Cancel>().reason == "cancel_asked");
}

TEST_CASE("decide: confirming and later: nothing to do, ack") {
  for (const IntentState state :
       {IntentState::confirming, IntentState::settled, IntentState::failed, IntentState::canceled,
        IntentState::needs_review}) {
    Scene s = scene(state, false);
    s.now.lapsed_leases = 100;
    CHECK(s.step() == "ack");
    CHECK(s.row() == "confirming and later: nothing to do");
  }
}

TEST_CASE("decide: a nack waits as the retry policy says") {
  Scene s = authorized();
  s.seen.send_slot = SendSlotSeen{Blocked::node_down};
  for (std::uint32_t tries = 0; tries < 12; ++tries) {
    s.now.tries = tries;
    s.now.jitter = std::uint64_t{17} * tries;
    CHECK(s.take<step::Nack>().delay_ms == backoff_ms(s.policy.retry, tries, s.now.jitter));
  }
}

TEST_CASE("decide: steps, blocks and answers have texts of their own") {
  CHECK(name_of(Step{step::TakeSendSlot{}}) == "take_send_slot");
  CHECK(name_of(Step{step::LookAgain{}}) == "look_again");
  CHECK(name_of(Step{step::SignAndStore{}}) == "sign_and_store");
  CHECK(name_of(Step{step::Confirm{}}) == "confirm");
  CHECK(name_of(Step{step::Nack{}}) == "nack");
  CHECK(to_text(Blocked::account_full) == "account_full");
  CHECK(to_text(PostAnswer::nonce_too_low) == "nonce_too_low");
}

TEST_CASE("decide: authorized: a payout whose ref is on the chain already is not paid again") {
  Scene s = authorized(false);
  s.seen.send_slot = SendSlotSeen{};
  s.seen.simulation = SimulationSeen{SimulationSeen::Result::passes, ""};
  CHECK(s.step() == "claim");
  s.facts.ref_found_in = {{hash(9), our_account, {0}}};
  CHECK(s.step() == "read_ref_found");
  s.seen.ref_found = RefSeen{{}, true, false};
  CHECK(s.why() == "ref_unreadable");
  MinedTx paid = mined(9);
  paid.trailing_ref = s.facts.intent.ref;
  paid.transfers = {{token, our_account, payee, {1000}, 0}};
  s.seen.ref_found->tx = paid;
  CHECK(s.take<step::ClaimPaid>().tx.hash == hash(9));
  s.seen.ref_found->tx->transfers[0].amount = {990};
  CHECK(s.step() == "claim_paid");
  s.seen.ref_found->tx->transfers.clear();
  CHECK(s.step() == "claim_paid");  // a token may log nothing: to be judged at finality
  // A transaction that failed moved nothing: the payment is still to be made, once that is final.
  // Taken back, the same bytes may pay in another block.
  s.seen.ref_found->tx->succeeded = false;
  CHECK(s.why() == "ref_not_final");
  s.seen.ref_found->is_final = true;
  CHECK(s.step() == "claim");
}

// Found by the simulator (rough, seed 1659): abandoned after the store was put back, and its lost
// bytes paid.
TEST_CASE("decide: a store that was put back ends nothing for having nothing on record") {
  Scene s = authorized(false);
  s.facts.intent.cancel_asked = true;
  CHECK(s.step() == "cancel");
  s.now.is_restored = true;
  CHECK(s.why() == "store_restored");
  Scene settling_one = authorized(false);
  settling_one.facts.intent.state = IntentState::settling;
  settling_one.facts.intent.cancel_asked = true;
  CHECK(settling_one.step() == "fail");
  settling_one.now.is_restored = true;
  CHECK(settling_one.why() == "store_restored");
}

}  // namespace holdfast::test
