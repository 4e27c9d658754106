// The rows of a settling payment, in order. Those for a slot that was consumed and for a payment
// that is given up are in decide_ending.cpp.
#include <algorithm>

#include "base/teeth.hpp"
#include "domain/decide_view.hpp"

namespace holdfast::domain {
namespace {

using Found = HashSeen::Result;

std::optional<Step> used_exactly(const View& view) {
  if (!view.bearer() || view.use() != Use::exactly) return std::nullopt;
  return step::Confirm{view.seen.authorization->tx->hash};
}

std::optional<Step> pay_attempt_mined(const View& view) {
  const Attempt* mined = view.newest_found({Found::included, Found::final_included});
  if (mined == nullptr) mined = view.newest_found({Found::reverted});
  if (mined == nullptr) return std::nullopt;
  return step::Confirm{*mined->hash};
}

std::optional<Step> node_accepted(const View& view) {
  if (!view.seen.post || view.seen.post->answer != PostAnswer::accepted) return std::nullopt;
  const Attempt* attempt = view.attempt(view.seen.post->attempt);
  if (attempt == nullptr || attempt->kind != AttemptKind::pay || !attempt->hash) {
    return std::nullopt;
  }
  return step::Confirm{*attempt->hash};
}

std::optional<Step> budget_spent(const View& view) {
  if (!view.budget_is_spent()) return std::nullopt;
  if (view.nothing_signed()) return step::Fail{"budget_spent", NeverAsked{}};
  return step::Review{"budget_spent"};
}

// It is never called again, and nothing but time or its own hash can say what it did.
std::optional<Step> outside_sender_asked(const View& view) {
  const Attempt* asked = view.outside_attempt();
  if (asked == nullptr) return std::nullopt;
  const std::int64_t left_ms = view.policy.review_after_ms - view.outside_age_ms();
  if (asked->hash) {
    if (asked->outcome == AttemptOutcome::accepted && left_ms > 0) {
      return step::Confirm{*asked->hash};
    }
    if (!view.seen.search) return step::SearchAttempts{};
    if (view.found(*asked) == Found::pending) return step::Confirm{*asked->hash};
  }
  if (view.bearer()) {
    if (view.use() == Use::unread) return step::ReadAuthorization{};
    if (auto dead = view.dead_authorization()) {
      return step::Fail{view.give_up_reason(), *std::move(dead)};
    }
  }
  if (left_ms <= 0) return step::Review{"outcome_unknown"};
  step::Nack nack = view.nack("outcome_unknown");
  nack.delay_ms = std::min(nack.delay_ms, left_ms);
  return nack;
}

// The slot remembers an attempt that the record does not, or the claim a number: a store that lost
// a part of itself.
std::optional<Step> attempt_lost(const View& view) {
  if (!view.facts.attempts.empty() || view.nothing_signed()) return std::nullopt;
  if (view.unread_for_too_long()) return step::Review{"outcome_unknown"};
  return view.nack("attempt_lost");
}

// Proof 1 holds here. A bearer authorization is read all the same where somebody may have used it.
std::optional<Step> never_asked_and_over(const View& view) {
  if (!view.facts.attempts.empty()) return std::nullopt;
  const bool late = view.past_deadline_unsigned();
  if (view.intent().cancel_asked) return step::Fail{"cancel_asked", NeverAsked{}};
  if (!late && !view.refused()) return std::nullopt;
  if (view.bearer()) {
    if (auto step = view.read_use_first()) return step;
  }
  if (late) return step::Fail{"expired", NeverAsked{}};
  if (view.use_is_final()) return step::Fail{view.give_up_reason(), NeverAsked{}};
  if (view.use() == Use::otherwise || view.use() == Use::canceled) {
    return view.nack("authorization_not_final");
  }
  if (view.not_yet_valid()) return view.nack("not_yet_valid");
  return step::Fail{view.refusal(), NeverAsked{}};
}

// As for an authorized payment: what the store lost may have paid it. Where all nodes answer and
// none has it, nobody can tell what becomes of its bytes; silence is waited out.
std::optional<Step> paid_before(const View& view) {
  if (view.facts.ref_found_in.empty()) return std::nullopt;
  if (view.bearer()) {
    if (auto step = view.read_use_first()) return step;
    const MinedTx* const tx = view.lost_use();
    return tx == nullptr ? std::nullopt : std::optional<Step>(step::Confirm{tx->hash});
  }
  if (!view.seen.ref_found) return step::ReadRefFound{};
  if (view.seen.ref_found->is_replaced) return std::nullopt;
  if (!view.seen.ref_found->tx) {
    const bool is_gone = !view.seen.ref_found->is_unanswered;
    if (is_gone && view.unread_for_too_long()) return step::Review{"outcome_unknown"};
    return view.nack(view.why_no_ref());
  }
  const MinedTx& tx = *view.seen.ref_found->tx;
  if (!tx.succeeded) return view.failed_ref_may_yet_pay();
  return step::Confirm{tx.hash};
}

std::optional<Step> no_slot(const View& view) {
  if (!view.policy.ordered || view.facts.slot || view.any_may_live()) return std::nullopt;
  if (!view.still_wanted()) return std::nullopt;
  if (auto refused = slot_refused(view)) return refused;
  return step::Reserve{};
}

std::optional<Step> nothing_signed(const View& view) {
  const bool may_sign =
      !view.policy.ordered || (view.facts.slot && view.facts.slot->state == SlotState::reserved);
  if (!may_sign || view.any_may_live() || view.refused() || !view.still_wanted()) {
    return std::nullopt;
  }
  // What an outside sender does with an order leaves no trace we could read: one order, ever.
  if (view.policy.opaque && !view.facts.attempts.empty()) return std::nullopt;
  if (view.seen.simulation && view.seen.simulation->result == SimulationSeen::Result::unknown) {
    return view.nack("simulation_unreadable");
  }
  if (view.seen.sign) {
    switch (view.seen.sign->result) {
      case SignSeen::Result::signer_unavailable: return view.nack("signer_unavailable");
      case SignSeen::Result::wrong_bytes: return view.nack("wrong_bytes");
      case SignSeen::Result::at_ceiling: return view.nack("at_fee_ceiling");
    }
  }
  if (view.policy.opaque) return step::AskSender{};
  return step::SignAndStore{};
}

std::optional<Step> stored_a_moment_ago(const View& view) {
  if (!view.seen.stored_now || view.seen.post || !view.still_wanted()) return std::nullopt;
  const Attempt* attempt = view.postable();
  if (attempt == nullptr || attempt->id != *view.seen.stored_now) return std::nullopt;
  return step::Post{attempt->id};
}

std::optional<Step> post_answered(const View& view) {
  if (!view.seen.post) return std::nullopt;
  switch (view.seen.post->answer) {
    case PostAnswer::refused_transient:
    case PostAnswer::not_sent:
    case PostAnswer::unknown:
      if (planted(Tooth::timeout_failed)) return step::Fail{"timed_out", NeverAsked{}};
      return view.nack("post_" + std::string(to_text(view.seen.post->answer)));
    case PostAnswer::not_its_turn: return view.nack_for_room("post_not_its_turn");
    case PostAnswer::refused_curable:
    case PostAnswer::refused_for_good:
      if (!view.seen.post->looked_again) return step::LookAgain{};
      return std::nullopt;
    case PostAnswer::accepted:
    case PostAnswer::nonce_too_low: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Step> search_first(const View& view) {
  const auto& attempts = view.facts.attempts;
  const bool any_hash = std::any_of(attempts.begin(), attempts.end(),
                                    [](const Attempt& each) { return each.hash.has_value(); });
  if (!any_hash) return std::nullopt;
  if (!view.seen.search) return step::SearchAttempts{};
  for (const Attempt& each : attempts) {
    if (!each.hash || !view.may_live(each)) continue;
    if (view.found(each).value_or(Found::unknown) == Found::unknown) {
      return view.nack("search_unreadable");
    }
  }
  return std::nullopt;
}

// Past its deadline by the wall clock alone it is neither given up nor posted.
std::optional<Step> late_by_wall_clock(const View& view) {
  if (view.still_wanted() || view.newest_found({Found::pending}) != nullptr) return std::nullopt;
  return view.nack("late_by_wall_clock");
}

std::optional<Step> curable(const View& view) {
  const bool curable = view.seen.post && view.seen.post->answer == PostAnswer::refused_curable;
  if (!curable || view.newest_found({Found::pending}) != nullptr) return std::nullopt;
  // One correction a delivery: a node that refuses that too is asked again after a wait.
  const bool corrected = view.seen.stored_now && view.facts.attempts.size() > 1;
  if (view.may_replace() && !corrected) return step::Replace{};
  return view.nack("post_refused_curable");
}

std::optional<Step> pending(const View& view) {
  const Attempt* found = view.newest_found({Found::pending});
  if (found == nullptr) return std::nullopt;
  const bool may_push = view.is_stuck() && view.still_wanted() && !view.seen.post;
  const bool at_ceiling = view.seen.sign && view.seen.sign->result == SignSeen::Result::at_ceiling;
  if (!may_push || (view.seen.sign && !at_ceiling)) return step::Confirm{*found->hash};
  if (view.may_replace() && view.now.block_since_post) return step::Replace{true};
  const Attempt* attempt = view.newest_accepted();
  if (attempt == nullptr) return step::Confirm{*found->hash};
  return step::Post{attempt->id};
}

// Before the bytes go out again: did another transaction take the slot, or somebody else the
// authorization? Both are read only here, where an earlier outcome is in doubt.
std::optional<Step> not_found(const View& view) {
  if (planted(Tooth::null_receipt)) return step::Fail{"not_found", NeverAsked{}};
  if (view.facts.slot && !view.seen.final_sequence) return step::ReadFinalSequence{};
  if (view.seen.post) return view.nack("post_" + std::string(to_text(view.seen.post->answer)));
  const Attempt* attempt = view.postable();
  const bool in_doubt = attempt == nullptr || (attempt->outcome != AttemptOutcome::accepted &&
                                               attempt->outcome != AttemptOutcome::not_sent);
  if (view.bearer() && in_doubt && view.use() == Use::unread) return step::ReadAuthorization{};
  if (view.use() == Use::otherwise || view.use() == Use::canceled) {
    return view.nack("authorization_not_final");
  }
  if (attempt != nullptr) return step::Post{attempt->id};
  if (view.may_replace() && !view.seen.stored_now) return step::Replace{};
  return view.nack("no_bytes_to_post");
}

constexpr Row rows[] = {
    {"settling: the authorization was used in exactly this transfer", used_exactly},
    {"settling: a pay attempt is mined and not reverted with finality", pay_attempt_mined},
    {"settling: evidence was fetched at the slot", consumer_is_evidence},
    {"settling: a node accepted the post", node_accepted},
    {"settling: paid before, by what this store lost", paid_before},
    {"settling: delivery budget spent", budget_spent},
    {"settling: an outside sender was asked", outside_sender_asked},
    {"settling: signed, and the attempt is lost", attempt_lost},
    {"settling: nothing signed; refused, over the cap, late or cancel asked", never_asked_and_over},
    {"settling: no slot, still wanted", no_slot},
    {"settling: nothing signed", nothing_signed},
    {"settling: stored a moment ago", stored_a_moment_ago},
    {"settling: the post was answered", post_answered},
    {"settling: search first", search_first},
    {"settling: our transaction reverted with finality", reverted},
    {"settling: slot consumed with finality", slot_consumed},
    {"settling: cancel asked, past the deadline, or refused for good", given_up},
    {"settling: past the deadline by the wall clock alone", late_by_wall_clock},
    {"settling: refused, and other bytes at the same sequence would do", curable},
    {"settling: pending in the pool", pending},
    {"settling: not found", not_found},
};

}  // namespace

std::span<const Row> settling_rows() { return rows; }

}  // namespace holdfast::domain
