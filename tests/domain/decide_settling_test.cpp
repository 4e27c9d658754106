#include <doctest/doctest.h>

#include "domain/decide_scene.hpp"

namespace holdfast::test {
namespace {

using Found = HashSeen::Result;
using Authorized = AuthorizationSeen::Result;
using Simulated = SimulationSeen::Result;

constexpr Found every_mined[] = {Found::included, Found::reverted, Found::final_included};

Scene opaque_asked(AttemptOutcome outcome, bool with_hash) {
  Scene out = scene(IntentState::settling, false);
  out.policy.opaque = true;
  out.policy.ordered = false;
  out.attempt(outcome);
  out.facts.attempts[0].bytes.clear();
  if (!with_hash) out.facts.attempts[0].hash.reset();
  return out;
}

void age(Scene& s, std::int64_t ms) { s.now.wall_ms = s.facts.intent.settling_ms + ms; }

}  // namespace

TEST_CASE("decide: settling: the authorization was used in exactly this transfer: confirming") {
  Scene s = claimed(true);
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "confirm");
  CHECK(s.take<step::Confirm>().hash == hash(9));
  CHECK(s.row() == "settling: the authorization was used in exactly this transfer");
}

TEST_CASE("decide: settling: an opaque sender is asked once, and never again") {
  Scene s = scene(IntentState::settling, false);
  s.policy.opaque = true;
  s.policy.ordered = false;
  CHECK(s.step() == "ask_sender");
  for (const AttemptOutcome outcome : {AttemptOutcome::stored, AttemptOutcome::unknown,
                                       AttemptOutcome::refused, AttemptOutcome::not_sent}) {
    Scene asked = opaque_asked(outcome, false);
    age(asked, 30'000);
    CHECK(asked.step() == "nack");
    CHECK(asked.row() == "settling: an outside sender was asked");
    age(asked, asked.policy.review_after_ms - 1);
    CHECK(asked.step() == "nack");
    age(asked, asked.policy.review_after_ms);
    CHECK(asked.step() == "review");
    CHECK(asked.take<step::Review>().reason == "outcome_unknown");
  }
}

TEST_CASE("decide: settling: the wait for an opaque sender never sleeps past its review") {
  Scene s = opaque_asked(AttemptOutcome::unknown, false);
  s.now.tries = 20;
  age(s, s.policy.review_after_ms - 5);
  CHECK(s.take<step::Nack>().delay_ms == 5);
}

TEST_CASE("decide: settling: a cancel or a deadline does not make an opaque order undone") {
  Scene s = opaque_asked(AttemptOutcome::unknown, false);
  s.facts.intent.cancel_asked = true;
  CHECK(s.step() == "nack");
  CHECK(opaque_asked(AttemptOutcome::unknown, false).past_deadline().step() == "review");
}

TEST_CASE("decide: settling: an opaque sender that said ok with a hash: confirming") {
  Scene s = opaque_asked(AttemptOutcome::accepted, true);
  CHECK(s.step() == "confirm");
  CHECK(s.take<step::Confirm>().hash == hash(1));
  // Taken back later it is looked for, and not believed for ever.
  age(s, s.policy.review_after_ms);
  CHECK(s.step() == "search_attempts");
  s.searched({Found::pending});
  CHECK(s.step() == "confirm");
  s.searched({Found::included});
  CHECK(s.step() == "confirm");
  s.searched({Found::not_found});
  CHECK(s.take<step::Review>().reason == "outcome_unknown");
}

TEST_CASE("decide: settling: an opaque order of a bearer authorization is looked up by its use") {
  Scene s = opaque_asked(AttemptOutcome::unknown, false);
  s.facts.intent = scene(IntentState::settling, true).facts.intent;
  CHECK(s.step() == "read_authorization");
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "confirm");
  s.authorization(Authorized::unused);
  CHECK(s.step() == "nack");
  s.seen.authorization->unused_at_final_s = validity_end_s;
  CHECK(s.step() == "fail");
}

TEST_CASE("decide: settling: nothing signed, and it should not be: failed by proof 1") {
  Scene canceled = claimed();
  canceled.facts.intent.cancel_asked = true;
  Scene late = claimed().past_deadline();
  Scene refused = claimed().simulated(Simulated::refused, "no balance");
  Scene capped = claimed().simulated(Simulated::over_gas_cap);
  struct Row {
    Scene scene;
    std::string reason;
  };
  for (const Row& row : {Row{canceled, "cancel_asked"}, Row{late, "expired"},
                         Row{refused, "no balance"}, Row{capped, "over_gas_cap"}}) {
    CAPTURE(row.reason);
    CHECK(row.scene.row() ==
          "settling: nothing signed; refused, over the cap, late or cancel asked");
    REQUIRE(row.scene.step() == "fail");
    const auto fail = row.scene.take<step::Fail>();
    CHECK(fail.reason == row.reason);
    CHECK(std::holds_alternative<NeverAsked>(fail.proof));
  }
}

TEST_CASE("decide: settling: an unsigned bearer payment is read once more before it fails") {
  for (Scene s : {claimed(true).past_deadline(),
                  claimed(true).simulated(Simulated::refused, "used or expired")}) {
    CHECK(s.step() == "read_authorization");
    s.authorization(Authorized::unknown);
    CHECK(s.step() == "nack");
    s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
    CHECK(s.step() == "confirm");
    s.authorization(Authorized::unused);
    CHECK(s.step() == "fail");
  }
  Scene s = claimed(true).simulated(Simulated::refused, "no");
  s.authorization(Authorized::canceled, false);
  CHECK(s.step() == "nack");
  s.authorization(Authorized::canceled, true);
  CHECK(s.take<step::Fail>().reason == "authorization_canceled");
  s.authorization(Authorized::unused);
  s.facts.intent.authorization->validity.after_s = noon_s;
  CHECK(s.why() == "not_yet_valid");
}

TEST_CASE("decide: settling: a wall clock that jumped fails nothing, it only signs nothing") {
  CHECK(claimed().clock_jumped().why() == "late_by_wall_clock");
  Scene s = signed_scene().clock_jumped();
  CHECK(s.step() == "search_attempts");
  s.searched({Found::not_found});
  CHECK(s.why() == "late_by_wall_clock");
  s.searched({Found::pending});
  CHECK(s.step() == "confirm");
}

TEST_CASE("decide: settling: no slot and still wanted: reserve") {
  Scene s = scene(IntentState::settling, true);
  CHECK(s.step() == "reserve");
  CHECK(s.row() == "settling: no slot, still wanted");
  s.seen.reserve = ReserveSeen{ReserveSeen::Result::account_full};
  CHECK(s.why() == "account_full");
  s.seen.reserve = ReserveSeen{ReserveSeen::Result::released_slot_unusable};
  CHECK(s.step() == "read_authorization");
  s.authorization(AuthorizationSeen::Result::unused);
  CHECK(s.take<step::Review>().reason == "released_slot_unusable");
  s.facts.intent.cancel_asked = true;
  CHECK(s.step() == "fail");
}

TEST_CASE("decide: settling: nothing signed: sign and store, then post without a search") {
  for (const bool bearer : {true, false}) {
    Scene s = claimed(bearer);
    CHECK(s.step() == "sign_and_store");
    CHECK(s.row() == "settling: nothing signed");
    s = signed_scene(bearer);
    s.seen.stored_now = s.facts.attempts[0].id;
    CHECK(s.step() == "post");
    CHECK(s.take<step::Post>().attempt == s.facts.attempts[0].id);
    s.posted(PostAnswer::accepted);
    CHECK(s.step() == "confirm");
    CHECK(s.take<step::Confirm>().hash == hash(1));
  }
}

TEST_CASE("decide: settling: a chain without sequences signs without a slot") {
  Scene s = scene(IntentState::settling, false);
  s.policy.ordered = false;
  CHECK(s.step() == "sign_and_store");
  s.attempt();
  CHECK(s.step() == "search_attempts");
  s.searched({Found::not_found});
  CHECK(s.step() == "post");
}

TEST_CASE("decide: settling: signing that met an obstacle waits and writes nothing") {
  Scene s = claimed();
  s.seen.sign = SignSeen{SignSeen::Result::signer_unavailable};
  CHECK(s.why() == "signer_unavailable");
  s.seen.sign = SignSeen{SignSeen::Result::wrong_bytes};
  CHECK(s.why() == "wrong_bytes");
  CHECK(claimed().simulated(Simulated::unknown).why() == "simulation_unreadable");
}

TEST_CASE("decide: settling: a stored attempt that nobody posted counts as maybe sent") {
  Scene s = signed_scene();
  REQUIRE(s.facts.attempts[0].posted_ms == 0);
  CHECK(s.step() == "search_attempts");
  CHECK(s.row() == "settling: search first");
}

TEST_CASE("decide: settling: nothing is signed while an attempt of it may live") {
  // The slot looks unsigned, yet there is an attempt: at it, at none, or at one unknown to us.
  for (const std::optional<SlotId> where :
       {std::optional<SlotId>{slot_id}, std::optional<SlotId>{}, std::optional<SlotId>{{99}}}) {
    Scene s = claimed().attempt(AttemptOutcome::unknown);
    s.facts.attempts[0].slot = where;
    CHECK(s.step() == "search_attempts");
    s.searched({Found::not_found});
    CHECK(s.step() != "sign_and_store");
  }
}

TEST_CASE("decide: settling: a pay attempt that is mined and not reverted finally: confirming") {
  for (const Found found : every_mined) {
    Scene s = signed_scene().searched({found});
    CHECK(s.step() == "confirm");
    CHECK(s.row() == "settling: a pay attempt is mined and not reverted with finality");
    // A replacement does not erase what it replaced.
    s = signed_scene().attempt().searched({found, Found::not_found});
    CHECK(s.take<step::Confirm>().hash == hash(1));
    // What was asked meanwhile does not undo what was mined.
    s.facts.intent.cancel_asked = true;
    CHECK(s.past_deadline().step() == "confirm");
  }
}

TEST_CASE("decide: settling: a noop of ours that was mined confirms nothing") {
  Scene s = signed_scene();
  s.attempt(AttemptOutcome::accepted, AttemptKind::noop);
  s.searched({Found::not_found, Found::included});
  CHECK(s.step() != "confirm");
}

TEST_CASE("decide: settling: after a post, what is not a yes leaves the record where it is") {
  for (const PostAnswer answer : {PostAnswer::unknown, PostAnswer::not_sent,
                                  PostAnswer::refused_transient, PostAnswer::not_its_turn}) {
    Scene s = signed_scene().posted(answer);
    CHECK(s.step() == "nack");
    CHECK(s.row() == "settling: the post was answered");
    CHECK(s.why() == "post_" + std::string(to_text(answer)));
  }
}

TEST_CASE("decide: settling: the delivery after an unknown post searches, then posts the same") {
  Scene s = signed_scene();
  s.facts.attempts[0].outcome = AttemptOutcome::unknown;
  CHECK(s.step() == "search_attempts");
  s.searched({Found::not_found});
  CHECK(s.step() == "read_final_sequence");
  s.seen.final_sequence = slot_sequence;  // the chain's count stands at our number: not taken
  CHECK(s.step() == "post");
  CHECK(s.row() == "settling: not found");
  s.posted(PostAnswer::accepted);
  CHECK(s.step() == "confirm");
}

TEST_CASE("decide: settling: a bearer authorization is read where an outcome is in doubt") {
  Scene s = signed_scene(true).searched({Found::not_found});
  s.facts.attempts[0].outcome = AttemptOutcome::unknown;
  s.seen.final_sequence = slot_sequence;
  CHECK(s.step() == "read_authorization");
  s.authorization(Authorized::used_exactly, false, use_of_authorization(9));
  CHECK(s.step() == "confirm");
  s.authorization(Authorized::used_otherwise, false, use_of_authorization(9, {"0xX"}));
  CHECK(s.why() == "authorization_not_final");
  for (const Authorized result : {Authorized::unused, Authorized::unknown}) {
    s.authorization(result);
    CHECK(s.step() == "post");
  }
  s.seen.authorization.reset();
  s.facts.attempts[0].outcome = AttemptOutcome::accepted;
  CHECK(s.step() == "post");
}

TEST_CASE("decide: settling: a search without an answer is not a not-found") {
  Scene s = signed_scene().attempt().searched({Found::not_found, Found::unknown});
  CHECK(s.step() == "nack");
  CHECK(s.why() == "search_unreadable");
  s.seen.search->pop_back();  // one attempt was not asked for at all
  CHECK(s.why() == "search_unreadable");
}

TEST_CASE("decide: settling: pending in the pool and not stuck: confirming") {
  Scene s = signed_scene().searched({Found::pending});
  CHECK(s.step() == "confirm");
  CHECK(s.row() == "settling: pending in the pool");
  s.now.since_post_ms = s.policy.stuck_after_ms - 1;
  CHECK(s.step() == "confirm");
}

TEST_CASE("decide: settling: stuck and lowest in line: dearer, or the same while no block comes") {
  Scene s = signed_scene().searched({Found::pending});
  s.now.since_post_ms = s.policy.stuck_after_ms;
  CHECK(s.step() == "replace");
  CHECK(s.take<step::Replace>().dearer);
  // Without a block since the post a higher fee buys nothing.
  Scene waiting = signed_scene().searched({Found::pending});
  waiting.now.since_post_ms = waiting.policy.stuck_after_ms;
  waiting.now.block_since_post = false;
  CHECK(waiting.step() == "post");
  // Those behind the lowest neither age nor bump.
  Scene behind = signed_scene().searched({Found::pending});
  behind.now.since_post_ms = 10 * behind.policy.stuck_after_ms;
  behind.facts.slot_is_lowest = false;
  CHECK(behind.step() == "confirm");
}

TEST_CASE("decide: settling: at the fee ceiling the newest accepted bytes are posted again") {
  Scene s = signed_scene().attempt(AttemptOutcome::refused);
  s.facts.attempts[0].outcome = AttemptOutcome::accepted;
  s.searched({Found::pending, Found::not_found});
  s.now.since_post_ms = s.policy.stuck_after_ms;
  CHECK(s.step() == "replace");
  s.seen.sign = SignSeen{SignSeen::Result::at_ceiling};
  CHECK(s.take<step::Post>().attempt == AttemptId{1});
  s.posted(PostAnswer::accepted);
  CHECK(s.step() == "confirm");
}

TEST_CASE("decide: settling: a definite refusal is looked up once more before it is believed") {
  for (const PostAnswer answer : {PostAnswer::refused_curable, PostAnswer::refused_for_good}) {
    Scene s = signed_scene().posted(answer);
    CHECK(s.step() == "look_again");
    s.posted(answer, true).searched({Found::included});
    CHECK(s.step() == "confirm");
  }
  Scene s = signed_scene().posted(PostAnswer::refused_curable, true).searched({Found::pending});
  CHECK(s.step() == "confirm");
}

TEST_CASE("decide: settling: curable by other bytes: a new attempt at the same sequence") {
  Scene s = signed_scene().posted(PostAnswer::refused_curable, true).searched({Found::not_found});
  CHECK(s.step() == "replace");
  CHECK_FALSE(s.take<step::Replace>().dearer);
  s.seen.sign = SignSeen{SignSeen::Result::signer_unavailable};
  CHECK(s.why() == "post_refused_curable");
}

TEST_CASE("decide: settling: the newest bytes at the current slot are posted, never those before") {
  Scene s = signed_scene().attempt().searched({Found::not_found, Found::not_found});
  s.seen.final_sequence = slot_sequence;
  CHECK(s.take<step::Post>().attempt == AttemptId{2});
  s.facts.attempts[1].kind = AttemptKind::noop;
  CHECK(s.take<step::Post>().attempt == AttemptId{1});
}

TEST_CASE(
    "decide: settling: an outside signer that left no bytes is replaced at its own sequence") {
  Scene s = signed_scene();
  s.facts.attempts[0].bytes.clear();
  s.facts.attempts[0].hash.reset();
  CHECK(s.step() == "read_final_sequence");
  s.seen.final_sequence = slot_sequence;
  CHECK(s.step() == "replace");
  s.seen.sign = SignSeen{SignSeen::Result::signer_unavailable};
  CHECK(s.why() == "no_bytes_to_post");
}

TEST_CASE(
    "decide: settling: a slot that was signed without an attempt in the record is for a person") {
  Scene s = claimed().slot_in(SlotState::broadcast);
  CHECK(s.why() == "attempt_lost");
  s.facts.intent.cancel_asked = true;
  CHECK(s.step() == "nack");  // proof 1 does not hold: something was signed
  s.now.unchanged_s = s.policy.review_after_ms / 1000;
  CHECK(s.take<step::Review>().reason == "outcome_unknown");
  // As much where the number is gone, too; but not where a chain has none.
  Scene gone = claimed();
  gone.facts.slot.reset();
  gone.facts.number_gone = true;
  CHECK(gone.why() == "attempt_lost");
  gone.policy.ordered = false;
  CHECK(gone.why() != "attempt_lost");
}

TEST_CASE("decide: settling: a spent budget fails only with proof, and is reviewed otherwise") {
  Scene s = claimed();
  s.now.lapsed_leases = s.policy.max_lapsed_leases;
  CHECK(s.step() == "sign_and_store");
  s.now.lapsed_leases += 1;
  CHECK(s.take<step::Fail>().reason == "budget_spent");
  for (Scene tried : {signed_scene(), opaque_asked(AttemptOutcome::stored, false),
                      claimed().slot_in(SlotState::signed_)}) {
    tried.now.lapsed_leases = tried.policy.max_lapsed_leases + 1;
    CHECK(tried.take<step::Review>().reason == "budget_spent");
  }
}

}  // namespace holdfast::test
