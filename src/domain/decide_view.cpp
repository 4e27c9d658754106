#include "domain/decide_view.hpp"

#include <algorithm>
#include <utility>

#include "base/teeth.hpp"

namespace holdfast::domain {
namespace {

template <class Range, class Match>
auto newest(const Range& range, Match match) -> decltype(&*range.begin()) {
  for (auto it = range.rbegin(); it != range.rend(); ++it) {
    if (match(*it)) return &*it;
  }
  return nullptr;
}

// Room comes with the next blocks: waiting longer each time would let later payments pass.
constexpr std::int64_t longest_wait_for_room_ms = 2'000;

bool is_pay(const Attempt& attempt) {
  return attempt.kind == AttemptKind::pay || planted(Tooth::noop_pays);
}

}  // namespace

std::int64_t last_record_ms(const Facts& facts) {
  std::int64_t out = facts.intent.settling_ms;
  for (const Attempt& each : facts.attempts) out = std::max({out, each.stored_ms, each.posted_ms});
  return out;
}

// ---- time

bool View::past_deadline_by_chain() const {
  if (planted(Tooth::window_ignored)) return false;
  return now.chain_s > 0 && now.chain_s >= intent().publish_before_s;
}

bool View::past_deadline_unsigned() const {
  return now.chain_s > 0 ? past_deadline_by_chain()
                         : now.wall_ms / 1000 >= intent().publish_before_s;
}

bool View::still_wanted() const {
  const bool past_by_wall =
      now.wall_ms / 1000 >= intent().publish_before_s && !planted(Tooth::window_ignored);
  return !intent().cancel_asked && !past_by_wall && !past_deadline_by_chain();
}

// EIP-3009: the block's time must be after validAfter.
bool View::not_yet_valid() const {
  return intent().authorization && now.chain_s > 0 &&
         now.chain_s <= intent().authorization->validity.after_s;
}

bool View::over_grace() const {
  return now.chain_s > 0 && now.chain_s - policy.grace_s >= intent().publish_before_s;
}

// An outside sender has no chain time of its own that we could read. What was recorded before the
// wall clock jumped is judged by steady time, what was recorded after it by the wall clock: the
// smaller of the ages that can be.
std::int64_t View::outside_age_ms() const {
  const std::int64_t by_wall = now.wall_ms - intent().settling_ms;
  if (now.steady_ms == 0) return by_wall;
  const std::int64_t by_steady = now.steady_ms - intent().settling_ms;
  const std::int64_t smaller = std::min(by_wall, by_steady);
  return smaller >= 0 ? smaller : std::max(by_wall, by_steady);
}

bool View::unread_for_too_long() const {
  return now.unchanged_s && *now.unchanged_s >= policy.review_after_ms / 1000;
}

bool View::budget_is_spent() const {
  return now.declared_poison || now.lapsed_leases > policy.max_lapsed_leases;
}

// ---- attempts and slots

const Attempt* View::attempt(AttemptId id) const {
  return newest(facts.attempts, [&](const Attempt& each) { return each.id == id; });
}

bool View::at_current_slot(const Attempt& each) const {
  return facts.slot ? each.slot == facts.slot->id : !each.slot;
}

// A slot nothing is known of counts as open: better to wait than to sign at another sequence.
bool View::may_live(const Attempt& each) const {
  if (!each.slot) return true;
  const auto consumed = [&](const Slot& slot) {
    return slot.id == *each.slot && slot.state == SlotState::consumed;
  };
  return !(facts.slot && consumed(*facts.slot)) &&
         std::none_of(facts.earlier_slots.begin(), facts.earlier_slots.end(), consumed);
}

bool View::any_may_live() const {
  return std::any_of(facts.attempts.begin(), facts.attempts.end(),
                     [&](const Attempt& each) { return may_live(each); });
}

bool View::nothing_signed() const {
  const bool slot_says_signed = facts.slot && (facts.slot->state == SlotState::signed_ ||
                                               facts.slot->state == SlotState::broadcast);
  const bool gone = facts.number_gone && policy.ordered;
  return facts.attempts.empty() && !slot_says_signed && !gone;
}

const Attempt* View::outside_attempt() const {
  return newest(facts.attempts,
                [](const Attempt& each) { return !each.slot && each.bytes.empty(); });
}

bool View::may_post(const Attempt& each) const {
  return is_pay(each) && at_current_slot(each) && may_live(each) && each.hash &&
         !each.bytes.empty();
}

const Attempt* View::postable() const {
  if (facts.slot && facts.slot->handed_over) return nullptr;
  return newest(facts.attempts, [&](const Attempt& each) { return may_post(each); });
}

const Attempt* View::newest_accepted() const {
  if (facts.slot && facts.slot->handed_over) return nullptr;
  const Attempt* accepted = newest(facts.attempts, [&](const Attempt& each) {
    return may_post(each) && each.outcome == AttemptOutcome::accepted;
  });
  return accepted != nullptr ? accepted : postable();
}

bool View::is_own_attempt(const TxHash& hash) const {
  return newest(facts.attempts, [&](const Attempt& each) { return each.hash == hash; }) != nullptr;
}

const Attempt* View::pay_attempt_with(const TxHash& hash) const {
  return newest(facts.attempts,
                [&](const Attempt& each) { return is_pay(each) && each.hash == hash; });
}

// ---- what was seen

Use View::use() const {
  if (!seen.authorization) return Use::unread;
  switch (seen.authorization->result) {
    case AuthorizationSeen::Result::unknown: return Use::unknown;
    case AuthorizationSeen::Result::unused: return Use::unused;
    case AuthorizationSeen::Result::used_exactly:
      return seen.authorization->tx ? Use::exactly : Use::unknown;
    case AuthorizationSeen::Result::used_otherwise: return Use::otherwise;
    case AuthorizationSeen::Result::canceled: return Use::canceled;
  }
  return Use::unknown;
}

std::optional<Step> View::read_use_first() const {
  if (use() == Use::unread) return step::ReadAuthorization{};
  if (use() == Use::unknown) return nack("authorization_unreadable");
  return std::nullopt;
}

const MinedTx* View::lost_use() const {
  if (use() != Use::otherwise || !seen.authorization->tx) return nullptr;
  const MinedTx& tx = *seen.authorization->tx;
  return is_lost_part(facts.ref_found_in, tx.hash) ? &tx : nullptr;
}

bool View::use_is_final() const {
  const bool is_final = seen.authorization && seen.authorization->is_final;
  return (use() == Use::otherwise || use() == Use::canceled) &&
         (is_final || planted(Tooth::use_not_final));
}

// Used by a final transaction that was read, and what that moved is no proof either way: nothing
// more will come.
bool View::used_up() const {
  return use() == Use::otherwise && seen.authorization->is_final && seen.authorization->tx;
}

std::optional<AuthorizationDead> View::dead_authorization() const {
  if (!bearer() || !seen.authorization) return std::nullopt;
  AuthorizationDead proof;
  if (use() == Use::unused && seen.authorization->unused_at_final_s) {
    proof.how = AuthorizationDead::How::expired_unused;
    proof.final_block_time_s = *seen.authorization->unused_at_final_s;
  } else if (use_is_final()) {
    proof.how = use() == Use::canceled ? AuthorizationDead::How::canceled
                                       : AuthorizationDead::How::used_otherwise;
    proof.use = seen.authorization->tx;
  } else {
    return std::nullopt;
  }
  if (!proves_unredeemable(intent(), facts.attempts, proof)) return std::nullopt;
  return proof;
}

std::optional<HashSeen::Result> View::found(const Attempt& each) const {
  if (!seen.search) return std::nullopt;
  const HashSeen* hit =
      newest(*seen.search, [&](const HashSeen& hash) { return hash.attempt == each.id; });
  if (hit == nullptr) return std::nullopt;
  return hit->result;
}

const Attempt* View::newest_found(std::initializer_list<HashSeen::Result> results) const {
  return newest(facts.attempts, [&](const Attempt& each) {
    const auto result = found(each);
    return is_pay(each) && each.hash && result &&
           std::find(results.begin(), results.end(), *result) != results.end();
  });
}

bool View::refused() const {
  return seen.simulation && (seen.simulation->result == SimulationSeen::Result::refused ||
                             seen.simulation->result == SimulationSeen::Result::over_gas_cap);
}

std::string View::refusal() const {
  if (seen.simulation->result == SimulationSeen::Result::over_gas_cap) return "over_gas_cap";
  return seen.simulation->reason.empty() ? "refused" : seen.simulation->reason;
}

// Not believed of bytes that a node has all the same.
bool View::post_refused_for_good() const {
  return seen.post && seen.post->answer == PostAnswer::refused_for_good &&
         seen.post->looked_again && newest_found({HashSeen::Result::pending}) == nullptr;
}

const MinedTx* View::consumer(const Slot& slot) const {
  for (const Attempt& each : facts.attempts) {
    if (each.slot != slot.id || !seen.search) continue;
    const HashSeen* hit = newest(*seen.search, [&](const HashSeen& hash) {
      return hash.attempt == each.id &&
             (hash.result == HashSeen::Result::final_reverted ||
              (hash.result == HashSeen::Result::final_included && each.kind == AttemptKind::noop));
    });
    if (hit != nullptr && hit->tx) return &*hit->tx;
  }
  if (facts.slot && facts.slot->id == slot.id) {
    return seen.consumer && seen.consumer->tx ? &*seen.consumer->tx : nullptr;
  }
  const ConsumerSeen* hit = newest(seen.earlier_consumers,
                                   [&](const ConsumerSeen& each) { return each.slot == slot.id; });
  return hit != nullptr && hit->tx ? &*hit->tx : nullptr;
}

bool View::consumer_was_fetched(SlotId slot) const {
  if (facts.slot && facts.slot->id == slot) return seen.consumer.has_value();
  return std::any_of(seen.earlier_consumers.begin(), seen.earlier_consumers.end(),
                     [&](const ConsumerSeen& each) { return each.slot == slot; });
}

RefSeen nearest_to_paid(std::span<const RefSeen> all) {
  // What is not known may yet pay; what failed may be run again while it is not final.
  const auto distance = [](const RefSeen& one) {
    if (one.is_replaced) return 5;
    if (!one.tx) return one.is_unanswered ? 1 : 2;
    if (one.tx->succeeded) return 0;
    return one.is_final ? 4 : 3;
  };
  return *std::min_element(all.begin(), all.end(), [&](const RefSeen& a, const RefSeen& b) {
    return distance(a) < distance(b);
  });
}

std::string View::why_no_ref() const {
  return seen.ref_found->is_unanswered ? "ref_unreadable" : "ref_not_found";
}

std::optional<Step> View::failed_ref_may_yet_pay() const {
  if (seen.ref_found->is_final) return std::nullopt;
  return nack("ref_not_final");
}

bool View::consumer_is_unanswered() const {
  return (seen.consumer && seen.consumer->is_unanswered) ||
         std::any_of(seen.earlier_consumers.begin(), seen.earlier_consumers.end(),
                     [](const ConsumerSeen& each) { return each.is_unanswered; });
}

bool View::slot_is_consumed() const {
  if (!facts.slot) return false;
  const bool chain_passed_it = seen.final_sequence && *seen.final_sequence > facts.slot->sequence;
  return facts.slot->state == SlotState::consumed || chain_passed_it ||
         consumer(*facts.slot) != nullptr;
}

// Only the lowest slot of an account can be stuck: what stands behind it waits for it.
bool View::is_stuck() const {
  return facts.slot && facts.slot_is_lowest && now.since_post_ms &&
         *now.since_post_ms >= policy.stuck_after_ms;
}

bool View::may_replace() const {
  return !seen.sign && facts.slot && is_signed_and_unconsumed(facts.slot->state);
}

// ---- endings

bool View::given_up() const {
  return intent().cancel_asked || past_deadline_by_chain() || post_refused_for_good() ||
         (!facts.attempts.empty() && refused()) || use_is_final() ||
         (facts.slot && facts.slot->handed_over);
}

std::string View::give_up_reason() const {
  if (use_is_final()) {
    return use() == Use::canceled ? "authorization_canceled" : "authorization_used_otherwise";
  }
  if (intent().cancel_asked) return "cancel_asked";
  if (past_deadline_by_chain()) return "expired";
  if (refused()) return refusal();
  if (post_refused_for_good()) return "refused_for_good";
  return "handed_over";
}

step::Nack View::nack(std::string why) const {
  return {backoff_ms(policy.retry, now.tries, now.jitter), std::move(why)};
}

step::Nack View::nack_for_room(std::string why) const {
  step::Nack out = nack(std::move(why));
  out.delay_ms = std::min(out.delay_ms, longest_wait_for_room_ms);
  return out;
}

}  // namespace holdfast::domain
