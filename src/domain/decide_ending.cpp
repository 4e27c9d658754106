// The rows of a settling payment that cannot simply go on: its transaction reverted, another
// transaction took its slot, or it should not run any more. Nothing here ends without a proof.
#include <algorithm>

#include "domain/decide_view.hpp"

namespace holdfast::domain {
namespace {

// Proof 3 as it stands, or what is missing for it. The authorization is live until then.
Step wait_for_dead_authorization(const View& view, std::string why) {
  if (view.use() == Use::unread) return step::ReadAuthorization{};
  if (auto dead = view.dead_authorization()) return step::Fail{std::move(why), *std::move(dead)};
  if (view.used_up()) return step::Review{"transfer_mismatch"};
  return view.nack("authorization_live");
}

const Slot* slot_with(const View& view, SlotId id) {
  if (view.facts.slot && view.facts.slot->id == id) return &*view.facts.slot;
  const auto& earlier = view.facts.earlier_slots;
  const auto hit =
      std::find_if(earlier.begin(), earlier.end(), [&](const Slot& each) { return each.id == id; });
  return hit == earlier.end() ? nullptr : &*hit;
}

Step no_receipt(const View& view) {
  if (view.unread_for_too_long() && !view.consumer_is_unanswered())
    return step::Review{"no_receipt"};
  return view.nack("consumer_unreadable");
}

// Proof 2, or the question that is missing for it: the consumer of every slot an attempt stood at.
Step fail_by_consumers(const View& view, std::string why) {
  if (view.facts.attempts.empty()) return step::Fail{std::move(why), NeverAsked{}};
  AllSlotsConsumed proof;
  for (const Attempt& attempt : view.facts.attempts) {
    const Slot* slot = attempt.slot ? slot_with(view, *attempt.slot) : nullptr;
    if (slot == nullptr) return no_receipt(view);
    const MinedTx* tx = view.consumer(*slot);
    if (tx != nullptr) {
      proof.consumers.push_back(consumer_of(*slot, *tx));
    } else if (!view.consumer_was_fetched(slot->id)) {
      return step::FetchConsumer{slot->id};
    } else {
      return no_receipt(view);
    }
  }
  if (proves_unredeemable(view.intent(), view.facts.attempts, proof)) {
    return step::Fail{std::move(why), std::move(proof)};
  }
  return step::Review{"transfer_mismatch"};
}

// Another transaction stands at our number: a fresh number, once. The second time it is for a
// person, who has to ask who else holds our key.
Step reserve_fresh(const View& view, const MinedTx& consumer) {
  const bool has_another = view.facts.slots_taken >= 2 && !view.facts.newest_is_released;
  if (has_another) return step::Review{"foreign_use"};
  if (auto refused = slot_refused(view)) return *std::move(refused);
  return step::ReserveFresh{consumer, !view.is_own_attempt(consumer.hash)};
}

Step consumed_by(const View& view, const Slot& slot, const MinedTx& tx) {
  if (view.pay_attempt_with(tx.hash) != nullptr) {
    return view.bearer() ? wait_for_dead_authorization(view, "reverted")
                         : fail_by_consumers(view, "reverted");
  }
  if (!view.bearer() && !rules_out(view.intent(), view.facts.attempts, consumer_of(slot, tx))) {
    // It carries our ref, or pays the payee the very amount: this money may have moved.
    const bool has_ref = tx.trailing_ref == view.intent().ref;
    return step::Review{has_ref ? "transfer_mismatch" : "foreign_use"};
  }
  const bool noop = view.is_own_attempt(tx.hash) || slot.handed_over;
  const bool used = view.bearer() && uses_authorization(view.intent(), tx);
  const bool refused = view.refused() || view.post_refused_for_good() || view.use_is_final();
  if (view.still_wanted() && !used && !refused && (view.bearer() || !noop)) {
    return reserve_fresh(view, tx);
  }
  // Late by the wall clock alone is no reason to end a payment.
  if (!view.given_up() && !used && !noop) return view.nack("late_by_wall_clock");
  return view.bearer() ? wait_for_dead_authorization(view, "slot_consumed")
                       : fail_by_consumers(view, "slot_consumed");
}

Step at_consumed_slot(const View& view, const Slot& slot) {
  if (const MinedTx* tx = view.consumer(slot)) return consumed_by(view, slot, *tx);
  if (!view.consumer_was_fetched(slot.id)) return step::FetchConsumer{slot.id};
  return no_receipt(view);
}

bool is_evidence(const View& view, const MinedTx& tx) {
  const Attempt* own = view.pay_attempt_with(tx.hash);
  if (own != nullptr) return tx.succeeded;
  const Evidence evidence = view.bearer() ? evidence_of_authorization(view.intent(), tx)
                                          : evidence_of_payout(view.intent(), tx, false);
  return evidence.moved == Moved::exact || evidence.moved == Moved::less;
}

}  // namespace

std::optional<Step> slot_refused(const View& view) {
  if (!view.seen.reserve) return std::nullopt;
  switch (view.seen.reserve->result) {
    case ReserveSeen::Result::account_full: return view.nack_for_room("account_full");
    case ReserveSeen::Result::released_slot_unusable: return step::Review{"released_slot_unusable"};
  }
  return std::nullopt;
}

std::optional<Step> consumer_is_evidence(const View& view) {
  const auto confirm = [&](const std::optional<MinedTx>& tx) -> std::optional<Step> {
    if (!tx || !is_evidence(view, *tx)) return std::nullopt;
    return step::Confirm{tx->hash};
  };
  if (view.seen.consumer) {
    if (auto step = confirm(view.seen.consumer->tx)) return step;
  }
  for (const ConsumerSeen& each : view.seen.earlier_consumers) {
    if (auto step = confirm(each.tx)) return step;
  }
  return std::nullopt;
}

// A bearer authorization outlives our revert: its signature is public until it ends.
std::optional<Step> reverted(const View& view) {
  const Attempt* attempt = view.newest_found({HashSeen::Result::final_reverted});
  if (attempt == nullptr) return std::nullopt;
  if (view.bearer()) return wait_for_dead_authorization(view, "reverted");
  if (view.facts.slot && attempt->slot == view.facts.slot->id) {
    return at_consumed_slot(view, *view.facts.slot);
  }
  if (attempt->slot) return std::nullopt;
  // Where there is no sequence there is no proof that nothing else of it can run.
  if (view.outside_age_ms() >= view.policy.review_after_ms) return step::Review{"outcome_unknown"};
  return view.nack("reverted");
}

std::optional<Step> slot_consumed(const View& view) {
  if (!view.slot_is_consumed()) return std::nullopt;
  return at_consumed_slot(view, *view.facts.slot);
}

std::optional<Step> given_up(const View& view) {
  if (!view.given_up()) return std::nullopt;
  if (view.bearer()) {
    if (view.use() == Use::unread) return step::ReadAuthorization{};
    if (auto dead = view.dead_authorization()) {
      return step::Fail{view.give_up_reason(), *std::move(dead)};
    }
    if (view.used_up()) return step::Review{"transfer_mismatch"};
  }
  if (view.facts.slot) {
    const bool unsigned_slot = view.facts.slot->state == SlotState::reserved;
    if (unsigned_slot && !view.any_may_live()) {
      return view.bearer() ? view.nack("authorization_live")
                           : fail_by_consumers(view, view.give_up_reason());
    }
    if (!view.seen.final_sequence) return step::ReadFinalSequence{};
    const bool may_hand_over =
        !view.facts.slot->handed_over && is_signed_and_unconsumed(view.facts.slot->state);
    if (may_hand_over) return step::HandOver{view.give_up_reason()};
  }
  if (view.over_grace()) return step::Review{"grace_over"};
  return view.nack("waiting_for_proof");
}

}  // namespace holdfast::domain
