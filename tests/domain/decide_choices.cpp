#include "domain/decide_choices.hpp"

namespace holdfast::test {
namespace {

using Found = HashSeen::Result;
using Authorized = AuthorizationSeen::Result;
using Simulated = SimulationSeen::Result;

void set_time(Scene& s, std::size_t choice) {
  switch (choice) {
    case 0: break;
    case 1: s.past_deadline(); break;
    case 2: s.clock_jumped(); break;
    case 3:
      s.now.chain_s = deadline_s + s.policy.grace_s;
      s.now.unchanged_s = s.policy.review_after_ms / 1000;
      break;
    case 4:
      s.now.chain_s = 0;
      s.clock_jumped();
      break;
    default: break;
  }
}

void set_slot(Scene& s, std::size_t choice) {
  const SlotState states[] = {SlotState::reserved,
                              SlotState::signed_,
                              SlotState::broadcast,
                              SlotState::consumed,
                              SlotState::reconciliation_required,
                              SlotState::signed_,
                              SlotState::broadcast,
                              SlotState::reconciliation_required};
  if (choice == 0) return;
  s.slot_in(states[choice - 1]);
  s.facts.slot->handed_over = choice > 5;
}

// The attempt of an earlier slot, known to be consumed or not.
void earlier_attempt(Scene& s, SlotState state) {
  s.attempt(AttemptOutcome::unknown).facts.attempts.back().slot = SlotId{6};
  s.facts.earlier_slots = {
      {{6}, {"eip155:1"}, our_account, {39}, state, s.facts.intent.id, false, {}}};
}

void set_attempts(Scene& s, std::size_t choice) {
  switch (choice) {
    case 0: break;
    case 1: s.attempt(AttemptOutcome::stored); break;
    case 2: s.attempt(AttemptOutcome::unknown); break;
    case 3: s.attempt(AttemptOutcome::accepted).attempt(AttemptOutcome::refused); break;
    case 4: s.attempt(AttemptOutcome::accepted, AttemptKind::noop); break;
    case 5:
    case 6: {
      Attempt& asked = s.attempt(AttemptOutcome::accepted).facts.attempts.back();
      asked.bytes.clear();
      asked.slot.reset();
      if (choice == 6) asked.hash.reset();
      break;
    }
    case 7: {
      Attempt& asked = s.attempt(AttemptOutcome::stored).facts.attempts.back();
      asked.bytes.clear();
      asked.hash.reset();
      break;
    }
    case 8: earlier_attempt(s, SlotState::consumed); break;
    case 9: earlier_attempt(s, SlotState::reconciliation_required); break;
    default: break;
  }
}

void set_post(Scene& s, std::size_t choice) {
  const PostAnswer answers[] = {PostAnswer::accepted,          PostAnswer::nonce_too_low,
                                PostAnswer::refused_transient, PostAnswer::refused_curable,
                                PostAnswer::refused_for_good,  PostAnswer::not_sent,
                                PostAnswer::unknown,           PostAnswer::refused_curable,
                                PostAnswer::refused_for_good,  PostAnswer::not_its_turn};
  if (choice == 0 || s.facts.attempts.empty()) return;
  s.posted(answers[choice - 1], choice > 7 && choice < 10);
}

}  // namespace

void answer_simulation(Scene& s, std::size_t choice) {
  switch (choice) {
    case 1: s.simulated(Simulated::passes); break;
    case 2: s.simulated(Simulated::refused, "no"); break;
    case 3: s.simulated(Simulated::over_gas_cap); break;
    case 4: s.simulated(Simulated::unknown); break;
    default: break;
  }
}

void answer_authorization(Scene& s, std::size_t choice) {
  switch (choice) {
    case 1: s.authorization(Authorized::unknown); break;
    case 2: s.authorization(Authorized::unused); break;
    case 3:
      s.authorization(Authorized::unused);
      s.seen.authorization->unused_at_final_s = validity_end_s;
      break;
    case 4: s.authorization(Authorized::used_exactly, false, use_of_authorization(9)); break;
    case 5: s.authorization(Authorized::used_exactly); break;
    case 6: s.authorization(Authorized::used_otherwise, false); break;
    case 7:
      s.authorization(Authorized::used_otherwise, true, use_of_authorization(9, {"0xX"}));
      break;
    case 8: s.authorization(Authorized::canceled, true, cancellation(9)); break;
    case 9: s.authorization(Authorized::canceled, true); break;
    default: break;
  }
}

// 1 to 7: the same for every attempt; 8 and 9: different for each.
void answer_search(Scene& s, std::size_t choice) {
  if (choice == 0) return;
  s.seen.search.emplace();
  std::size_t turn = choice;
  for (const Attempt& attempt : s.facts.attempts) {
    if (!attempt.hash) continue;
    HashSeen seen;
    seen.attempt = attempt.id;
    seen.result = static_cast<Found>((choice < 8 ? choice - 1 : turn++) % 7);
    if (seen.result >= Found::included) {
      seen.tx = mined(static_cast<Byte>(attempt.id.value));
      seen.tx->succeeded = seen.result == Found::included || seen.result == Found::final_included;
    }
    s.seen.search->push_back(seen);
  }
}

void answer_final_sequence(Scene& s, std::size_t choice) {
  if (choice == 1) s.seen.final_sequence = slot_sequence;
  if (choice == 2) s.seen.final_sequence = slot_sequence.next();
}

std::optional<MinedTx> consumer_choice(const Scene& s, std::size_t choice) {
  MinedTx tx = mined(choice == 3 ? 1 : 9);
  switch (choice) {
    case 2: return tx;
    case 3: tx.succeeded = s.facts.intent.cancel_asked; return tx;
    case 4: tx.transfers = {{token, our_account, payee, {1000}, 0}}; return tx;
    case 5:
      tx.transfers = {{token, our_account, payee, {1000}, 0}};
      tx.trailing_ref = s.facts.intent.ref;
      return tx;
    default: return std::nullopt;
  }
}

Scene build(const Choice& choice) {
  Scene s = scene(static_cast<IntentState>(choice[dim_state]), choice[dim_bearer] == 1);
  s.facts.intent.cancel_asked = choice[dim_cancel] == 1;
  set_time(s, choice[dim_time]);
  set_slot(s, choice[dim_slot]);
  set_attempts(s, choice[dim_attempts]);
  if (choice[dim_send_slot] > 0) s.seen.send_slot = SendSlotSeen{};
  if (choice[dim_send_slot] == 2) s.seen.send_slot->blocked = Blocked::node_down;
  answer_simulation(s, choice[dim_simulation]);
  answer_authorization(s, choice[dim_authorization]);
  answer_search(s, choice[dim_search]);
  answer_final_sequence(s, choice[dim_final_sequence]);
  if (choice[dim_consumer] > 0) s.consumer(consumer_choice(s, choice[dim_consumer]));
  set_post(s, choice[dim_post]);
  if (choice[dim_stored_now] == 1 && !s.facts.attempts.empty()) {
    s.seen.stored_now = s.facts.attempts.back().id;
  }
  if (choice[dim_reserve] > 0) {
    s.seen.reserve = ReserveSeen{static_cast<ReserveSeen::Result>(choice[dim_reserve] - 1)};
  }
  if (choice[dim_sign] > 0) {
    s.seen.sign = SignSeen{static_cast<SignSeen::Result>(choice[dim_sign] - 1)};
  }
  s.policy.ordered = choice[dim_kind_of_chain] == 0;
  s.policy.opaque = choice[dim_kind_of_chain] == 2;
  s.now.lapsed_leases = choice[dim_budget] == 1 ? s.policy.max_lapsed_leases + 1 : 0;
  s.facts.slots_taken = 1 + static_cast<std::uint32_t>(choice[dim_slots_taken]);
  if (choice[dim_stuck] > 0) s.now.since_post_ms = s.policy.stuck_after_ms;
  s.now.block_since_post = choice[dim_stuck] != 2;
  if (choice[dim_ref_found] > 0) s.facts.ref_found_in = {{hash(0x77), our_account, {0}}};
  if (choice[dim_ref_found] > 1) s.seen.ref_found = RefSeen{};
  if (choice[dim_ref_found] > 2) {
    s.seen.ref_found->tx = mined(0x77);
    s.seen.ref_found->is_final = true;
    s.seen.ref_found->tx->trailing_ref = s.facts.intent.ref;
    s.seen.ref_found->tx->transfers = {{token, our_account, payee, {1000}, 0}};
  }
  return s;
}

}  // namespace holdfast::test
