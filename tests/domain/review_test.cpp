// Resolution × facts × what was read: what an operator may do, and what is missing when not.
#include <holdfast/domain/review.hpp>

#include <doctest/doctest.h>

#include "decide_scene.hpp"

namespace holdfast::test {
namespace {

using Place = NamedTx::Place;
using ruling::Refused;

/// The payment of a decide scene, in review.
Scene in_review(Scene from) {
  from.facts.intent.state = IntentState::needs_review;
  from.facts.intent.reason = "no_receipt";
  return from;
}

MinedTx paying(Byte byte) {
  MinedTx tx = mined(byte);
  tx.trailing_ref = filled<Ref>(0xb2);
  tx.transfers = {{token, our_account, payee, {1000}, 1}};
  return tx;
}

NamedTx named(const MinedTx& tx, Moved moved, Verdict verdict = Verdict::final) {
  const Amount arrived = moved == Moved::exact  ? Amount{1000}
                         : moved == Moved::less ? Amount{990}
                                                : Amount{};
  return {Place::mined, tx.hash, tx, verdict, {moved, arrived}};
}

std::string told(const Ruling& ruling) {
  if (const auto* no = std::get_if<Refused>(&ruling)) {
    switch (no->why) {
      case Refused::Why::state: return "state: " + no->sentence;
      case Refused::Why::proof: return "proof: " + no->sentence;
      case Refused::Why::unreadable: return "unreadable: " + no->sentence;
    }
  }
  if (std::holds_alternative<ruling::Nothing>(ruling)) return "nothing";
  if (const auto* post = std::get_if<ruling::Post>(&ruling)) {
    return "post " + std::to_string(post->attempt.value);
  }
  const auto& move = std::get<ruling::Move>(ruling);
  std::string out = "to " + std::string(to_text(move.to));
  if (move.proof) out += " by proof " + std::to_string(move.proof->index() + 1);
  return out;
}

std::string rule(const Scene& s, Resolution as, const ReviewSeen& seen = {}) {
  return told(rule_on(s.facts, as, seen, s.now));
}

bool says(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

constexpr Resolution all[] = {Resolution::confirming, Resolution::settled, Resolution::failed,
                              Resolution::retry, Resolution::rebroadcast};

}  // namespace

TEST_CASE(
    "review: confirming and settled stand on a transaction that was read, and on nothing less") {
  const Scene s = in_review(signed_scene());
  struct Row {
    NamedTx tx;
    const char* confirming;
    const char* settled;
  };
  MinedTx reverted = paying(9);
  reverted.succeeded = false;
  const Row rows[] = {
      {named(paying(9), Moved::exact), "to confirming", "to settled"},
      {named(paying(9), Moved::exact, Verdict::pending), "to confirming", "proof: transaction 0x"},
      {named(paying(9), Moved::less), "proof: only 990 of 1000 arrived", "to settled"},
      {named(paying(9), Moved::nothing), "did not move this payment", "did not move this payment"},
      {named(paying(9), Moved::other), "moved something else", "moved something else"},
      {named(paying(9), Moved::exact, Verdict::lost), "was taken back", "was taken back"},
      {named(reverted, Moved::nothing, Verdict::failed), "reverted", "reverted"},
      {{Place::pending, hash(9), {}, {}, {}}, "is not mined yet", "is not mined yet"},
      {{Place::not_found, hash(9), {}, {}, {}}, "knows no transaction", "knows no transaction"},
      {{Place::unreadable, hash(9), {}, {}, {}}, "unreadable: ", "unreadable: "},
  };
  for (const Row& row : rows) {
    ReviewSeen seen;
    seen.named = row.tx;
    says(rule(s, Resolution::confirming, seen), row.confirming);
    says(rule(s, Resolution::settled, seen), row.settled);
  }
  says(rule(s, Resolution::settled), "tx_hash: ");
}

TEST_CASE("review: what is settled with less than asked says how much arrived") {
  ReviewSeen seen;
  seen.named = named(paying(9), Moved::less);
  const Scene s = in_review(signed_scene());
  const Ruling ruling = rule_on(s.facts, Resolution::settled, seen, s.now);
  const auto* move = std::get_if<ruling::Move>(&ruling);
  REQUIRE(move != nullptr);
  CHECK(move->arrived == Amount{990});
  REQUIRE(move->final_tx.has_value());
  CHECK(move->tx_hash == hash(9));
}

TEST_CASE("review: a payout fails only by what used each of its numbers, read and final") {
  Scene s = in_review(signed_scene(false, SlotState::reconciliation_required));
  ReviewSeen seen;
  says(rule(s, Resolution::failed, seen), "unreadable: the node does not answer for number 40");
  seen.numbers = {{slot_id, false, {}}};
  says(rule(s, Resolution::failed, seen), "unreadable: ");
  seen.numbers = {{slot_id, true, {}}};
  says(rule(s, Resolution::failed, seen), "may still run; abandon it instead");
  seen.numbers = {{slot_id, true, mined(9)}};
  CHECK(rule(s, Resolution::failed, seen) == "to failed by proof 2");
  seen.numbers = {{slot_id, true, paying(9)}};
  says(rule(s, Resolution::failed, seen), "may have moved this payment");
  // Its own attempt that paid, and one that reverted.
  MinedTx own = mined(1);
  own.hash = *s.facts.attempts[0].hash;
  seen.numbers = {{slot_id, true, own}};
  says(rule(s, Resolution::failed, seen), "may have moved this payment");
  own.succeeded = false;
  seen.numbers = {{slot_id, true, own}};
  CHECK(rule(s, Resolution::failed, seen) == "to failed by proof 2");
  // Handed over, the account runs its transaction already: nothing is left to offer.
  s.facts.slot->handed_over = true;
  seen.numbers = {{slot_id, true, {}}};
  CHECK(rule(s, Resolution::failed, seen).find("abandon") == std::string::npos);
}

TEST_CASE("review: every number an attempt ever stood at must be used up, the earlier ones too") {
  Scene s = in_review(signed_scene());
  Slot earlier = *s.facts.slot;
  earlier.id = {3};
  earlier.sequence = {12};
  s.facts.earlier_slots = {earlier};
  s.attempt();
  s.facts.attempts.back().slot = earlier.id;
  ReviewSeen seen;
  seen.numbers = {{slot_id, true, mined(9)}};
  says(rule(s, Resolution::failed, seen), "number 12 of 0xR");
  MinedTx other = mined(8);
  other.sequence = {12};
  seen.numbers.push_back({earlier.id, true, other});
  CHECK(rule(s, Resolution::failed, seen) == "to failed by proof 2");
  // A transaction at another number than its row says proves nothing.
  other.sequence = {13};
  seen.numbers.back().tx = other;
  says(rule(s, Resolution::failed, seen), "may have moved this payment");
  // Of an attempt at a number the store lost there is no proof.
  s.facts.earlier_slots.clear();
  says(rule(s, Resolution::failed, seen), "a number this store does not know");
}

TEST_CASE("review: a consumer the operator names is read like any other") {
  const Scene s = in_review(signed_scene());
  struct Row {
    NamedTx tx;
    const char* says;
  };
  MinedTx elsewhere = mined(9);
  elsewhere.sequence = {41};
  MinedTx stranger = mined(9);
  stranger.sender = {"0xS"};
  const Row rows[] = {
      {named(mined(9), Moved::nothing), "to failed by proof 2"},
      {named(mined(9), Moved::nothing, Verdict::pending), "is not final"},
      {named(elsewhere, Moved::nothing), "stands at none of this payment's numbers"},
      {named(stranger, Moved::nothing), "stands at none of this payment's numbers"},
      {named(paying(9), Moved::exact), "may have moved this payment"},
      {{Place::pending, hash(9), {}, {}, {}}, "is not mined yet"},
      {{Place::not_found, hash(9), {}, {}, {}}, "knows no transaction"},
      {{Place::unreadable, hash(9), {}, {}, {}}, "unreadable: "},
  };
  for (const Row& row : rows) {
    ReviewSeen seen;
    seen.consumers = {row.tx};
    says(rule(s, Resolution::failed, seen), row.says);
  }
}

TEST_CASE("review: a bearer payment fails only when nobody can run the authorization any more") {
  using Result = AuthorizationSeen::Result;
  const Scene s = in_review(signed_scene(true));
  const auto seen = [](Result result, bool is_final, std::optional<MinedTx> tx = {},
                       std::optional<std::int64_t> unused_at = {}) {
    ReviewSeen out;
    out.authorization = AuthorizationSeen{result, std::move(tx), is_final, unused_at};
    return out;
  };
  says(rule(s, Resolution::failed), "unreadable: ");
  says(rule(s, Resolution::failed, seen(Result::unknown, false)), "unreadable: ");
  says(rule(s, Resolution::failed, seen(Result::unused, false)), "can be run by anyone until");
  says(rule(s, Resolution::failed, seen(Result::unused, false, {}, validity_end_s - 1)),
       "can be run by anyone until");
  CHECK(rule(s, Resolution::failed, seen(Result::unused, false, {}, validity_end_s)) ==
        "to failed by proof 3");
  says(rule(s, Resolution::failed, seen(Result::canceled, false, cancellation(9))),
       "is not final yet");
  CHECK(rule(s, Resolution::failed, seen(Result::canceled, true, cancellation(9))) ==
        "to failed by proof 3");
  says(rule(s, Resolution::failed, seen(Result::used_exactly, true, use_of_authorization(9))),
       "in exactly this transfer");
  const MinedTx otherwise = use_of_authorization(9, {"0xOther"});
  CHECK(rule(s, Resolution::failed, seen(Result::used_otherwise, true, otherwise)) ==
        "to failed by proof 3");
  const MinedTx odd = use_of_authorization(1, {"0xOther"});  // our own attempt's hash
  says(rule(s, Resolution::failed, seen(Result::used_otherwise, true, odd)), "our own transaction");
  // Our own revert at the number is no proof, and nobody is asked for it.
  ReviewSeen reverted;
  reverted.numbers = {{slot_id, true, mined(9)}};
  says(rule(s, Resolution::failed, reverted), "unreadable: ");
}

TEST_CASE("review: where nothing was ever signed it fails by proof 1 or is settled afresh") {
  Scene s = in_review(claimed());
  CHECK(rule(s, Resolution::failed) == "to failed by proof 1");
  CHECK(rule(s, Resolution::retry) == "to settling");
  s.facts.slot.reset();
  CHECK(rule(s, Resolution::failed) == "to failed by proof 1");
  CHECK(rule(s, Resolution::retry) == "to settling");
  Scene canceled = s;
  canceled.facts.intent.cancel_asked = true;
  says(rule(canceled, Resolution::retry), "state: somebody asked to cancel");
  Scene late = s;
  late.past_deadline();
  says(rule(late, Resolution::retry), "has passed");
  CHECK(rule(late, Resolution::failed) == "to failed by proof 1");
  // A bearer's authorization is read first: somebody else may have run it.
  Scene bearer = in_review(claimed(true));
  says(rule(bearer, Resolution::failed), "unreadable: ");
  ReviewSeen used;
  used.authorization =
      AuthorizationSeen{AuthorizationSeen::Result::used_exactly, use_of_authorization(9), true, {}};
  says(rule(bearer, Resolution::failed, used), "in exactly this transfer");
  used.authorization->result = AuthorizationSeen::Result::unused;
  CHECK(rule(bearer, Resolution::failed, used) == "to failed by proof 1");
}

TEST_CASE("review: an attempt of any kind, or a number that tells of one, and nothing is retried") {
  says(rule(in_review(signed_scene()), Resolution::retry), "proof: something was signed");
  Scene outside = in_review(scene(IntentState::settling, false));
  outside.attempt();
  outside.facts.attempts[0].bytes.clear();
  says(rule(outside, Resolution::retry), "proof: something was signed or asked for");
  says(rule(outside, Resolution::failed), "outside sender");
  Scene lost = in_review(claimed().slot_in(SlotState::broadcast));
  says(rule(lost, Resolution::retry), "proof: ");
  says(rule(lost, Resolution::failed), "nothing is stored of it");
}

TEST_CASE("review: stored bytes are posted again only while they may run and are wanted") {
  for (const IntentState state :
       {IntentState::settling, IntentState::confirming, IntentState::needs_review}) {
    Scene s = signed_scene(false, SlotState::reconciliation_required);
    s.facts.intent.state = state;
    CHECK(rule(s, Resolution::rebroadcast) == "post 1");
    s.attempt();
    CHECK(rule(s, Resolution::rebroadcast) == "post 2");
    Scene late = s;
    late.past_deadline();
    says(rule(late, Resolution::rebroadcast), "has passed");
    Scene late_by_wall = s;
    late_by_wall.clock_jumped();
    says(rule(late_by_wall, Resolution::rebroadcast), "has passed");
    Scene canceled = s;
    canceled.facts.intent.cancel_asked = true;
    says(rule(canceled, Resolution::rebroadcast), "asked to cancel");
    Scene handed = s;
    handed.facts.slot->handed_over = true;
    says(rule(handed, Resolution::rebroadcast), "handed to the account");
    Scene used = s;
    used.facts.slot->state = SlotState::consumed;
    says(rule(used, Resolution::rebroadcast), "no bytes are stored");
  }
  for (const IntentState state :
       {IntentState::settled, IntentState::failed, IntentState::canceled}) {
    Scene s = signed_scene();
    s.facts.intent.state = state;
    says(rule(s, Resolution::rebroadcast), "state: the payment has ended");
  }
  says(rule(in_review(claimed()), Resolution::rebroadcast), "no bytes are stored");
}

TEST_CASE("review: only a payment in review is resolved, and one that is there already stays") {
  for (const IntentState state :
       {IntentState::created, IntentState::authorized, IntentState::settling,
        IntentState::confirming, IntentState::settled, IntentState::failed,
        IntentState::canceled}) {
    for (const Resolution as : all) {
      if (as == Resolution::rebroadcast) continue;
      Scene s = signed_scene();
      s.facts.intent.state = state;
      ReviewSeen seen;
      seen.named = named(paying(9), Moved::exact);
      seen.numbers = {{slot_id, true, mined(9)}};
      const std::string ruled = rule(s, as, seen);
      const bool there = (as == Resolution::confirming && state == IntentState::confirming) ||
                         (as == Resolution::settled && state == IntentState::settled) ||
                         (as == Resolution::failed && state == IntentState::failed) ||
                         (as == Resolution::retry && state == IntentState::settling);
      if (there) {
        CHECK(ruled == "nothing");
      } else {
        CHECK(ruled.starts_with("state: "));
      }
    }
  }
}

TEST_CASE("review: each resolution has one name, read back as it is written") {
  for (const Resolution as : all) CHECK(resolution_from(to_text(as)) == as);
  CHECK_FALSE(resolution_from("canceled").has_value());
  CHECK(resolutions_as_text() == "confirming, settled, failed, retry, rebroadcast");
}

}  // namespace holdfast::test
