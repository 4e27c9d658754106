#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <holdfast/domain/transitions.hpp>

#include "domain/decide_choices.hpp"

namespace holdfast::test {
namespace {

const Attempt* attempt_with(const Scene& s, AttemptId id) {
  for (const Attempt& attempt : s.facts.attempts) {
    if (attempt.id == id) return &attempt;
  }
  return nullptr;
}

// Written again here on purpose: what the rows rely on must not be what they are checked by.
bool known_dead(const Scene& s, const Attempt& attempt) {
  if (!attempt.slot) return false;
  std::vector<Slot> slots = s.facts.earlier_slots;
  if (s.facts.slot) slots.push_back(*s.facts.slot);
  return std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) {
    return slot.id == *attempt.slot && slot.state == SlotState::consumed;
  });
}

bool in_window(const Scene& s) {
  return s.now.chain_s < deadline_s && s.now.wall_ms < deadline_s * 1000;
}

bool is_hash_of_evidence(const Scene& s, const TxHash& hash) {
  const bool own =
      std::any_of(s.facts.attempts.begin(), s.facts.attempts.end(), [&](const Attempt& attempt) {
        return attempt.kind == AttemptKind::pay && attempt.hash == hash;
      });
  const bool used = s.seen.authorization && s.seen.authorization->tx &&
                    s.seen.authorization->result == AuthorizationSeen::Result::used_exactly &&
                    s.seen.authorization->tx->hash == hash;
  const bool consumer = s.seen.consumer && s.seen.consumer->tx &&
                        s.seen.consumer->tx->hash == hash && s.seen.consumer->tx->trailing_ref;
  const bool by_ref = !s.facts.ref_found_in.empty() && s.seen.ref_found && s.seen.ref_found->tx &&
                      s.seen.ref_found->tx->hash == hash;
  const bool lost_use = !s.facts.ref_found_in.empty() && s.seen.authorization &&
                        s.seen.authorization->tx && s.seen.authorization->tx->hash == hash &&
                        hash == s.facts.ref_found_in.front().hash;
  return own || used || consumer || by_ref || lost_use;
}

/// What is wrong with this step; empty when nothing is.
struct Judge {
  const Scene& s;

  bool settling() const { return s.facts.intent.state == IntentState::settling; }
  bool authorized_state() const { return s.facts.intent.state == IntentState::authorized; }
  bool may_act() const { return settling() && in_window(s) && !s.facts.intent.cancel_asked; }
  bool nothing_lives() const {
    return std::all_of(s.facts.attempts.begin(), s.facts.attempts.end(),
                       [&](const Attempt& attempt) { return known_dead(s, attempt); });
  }

  bool operator()(const step::TakeSendSlot&) const { return !s.seen.send_slot; }
  bool operator()(const step::Simulate&) const { return !s.seen.simulation; }
  bool operator()(const step::SearchAttempts&) const { return !s.seen.search; }
  bool operator()(const step::ReadFinalSequence&) const { return !s.seen.final_sequence; }
  bool operator()(const step::ReadAuthorization&) const {
    return !s.seen.authorization && s.facts.intent.bearer;
  }
  bool operator()(const step::ReadRefFound&) const {
    return !s.seen.ref_found && !s.facts.ref_found_in.empty() && !s.facts.intent.bearer;
  }
  bool operator()(const step::LookAgain&) const {
    return s.seen.post && !s.seen.post->looked_again;
  }
  bool operator()(const step::FetchConsumer& step) const {
    if (s.facts.slot && s.facts.slot->id == step.slot) return !s.seen.consumer;
    return std::none_of(s.seen.earlier_consumers.begin(), s.seen.earlier_consumers.end(),
                        [&](const ConsumerSeen& seen) { return seen.slot == step.slot; });
  }
  bool operator()(const step::Claim&) const {
    return authorized_state() && in_window(s) && !s.facts.intent.cancel_asked;
  }
  bool operator()(const step::ClaimPaid& step) const {
    return authorized_state() && is_hash_of_evidence(s, step.tx.hash);
  }
  bool operator()(const step::Reserve&) const {
    return may_act() && !s.facts.slot && nothing_lives() && s.policy.ordered;
  }
  bool operator()(const step::ReserveFresh&) const {
    const bool read = (s.seen.consumer && s.seen.consumer->tx) || s.seen.search;
    return may_act() && s.facts.slot && s.facts.slots_taken < 2 && read;
  }
  bool operator()(const step::SignAndStore&) const {
    const bool slot =
        !s.policy.ordered || (s.facts.slot && s.facts.slot->state == SlotState::reserved);
    return may_act() && nothing_lives() && slot && !s.policy.opaque;
  }
  bool operator()(const step::AskSender&) const {
    return may_act() && s.facts.attempts.empty() && s.policy.opaque;
  }
  bool operator()(const step::Post& step) const {
    const Attempt* attempt = attempt_with(s, step.attempt);
    return may_act() && attempt != nullptr && attempt->kind == AttemptKind::pay && attempt->hash &&
           !attempt->bytes.empty() && !(s.facts.slot && s.facts.slot->handed_over) &&
           (s.facts.slot ? attempt->slot == s.facts.slot->id : !attempt->slot);
  }
  bool operator()(const step::Replace&) const {
    return may_act() && s.facts.slot && is_signed_and_unconsumed(s.facts.slot->state);
  }
  bool operator()(const step::HandOver& step) const {
    return settling() && s.facts.slot && !s.facts.slot->handed_over &&
           is_signed_and_unconsumed(s.facts.slot->state) && !step.reason.empty();
  }
  bool operator()(const step::Confirm& step) const {
    return settling() && is_hash_of_evidence(s, step.hash);
  }
  bool operator()(const step::Cancel& step) const {
    return authorized_state() && !step.reason.empty();
  }
  bool operator()(const step::Fail& step) const {
    return settling() && !step.reason.empty() &&
           proves_unredeemable(s.facts.intent, s.facts.attempts, step.proof);
  }
  bool operator()(const step::Review& step) const {
    const auto all = review_reasons();
    return settling() && std::find(all.begin(), all.end(), step.reason) != all.end();
  }
  bool operator()(const step::Ack&) const { return !settling() && !authorized_state(); }
  bool operator()(const step::Nack& step) const {
    return step.delay_ms > 0 && step.delay_ms <= s.policy.retry.cap_ms && !step.why.empty();
  }
};

bool sound(const Scene& s, const Decision& decision) { return std::visit(Judge{s}, decision.step); }

std::string as_text(const Choice& choice) {
  std::string out;
  for (const std::size_t each : choice) out += std::to_string(each) + ' ';
  return out;
}

void check_sound(const Choice& choice, std::set<std::string_view>& rows) {
  const Scene s = build(choice);
  const Decision decision = s.decide();
  rows.insert(decision.row);
  if (sound(s, decision)) return;
  INFO("choice: ", as_text(choice));
  INFO("row: ", decision.row, ", step: ", name_of(decision.step));
  FAIL_CHECK("an unsound step");
}

/// Counts through the product of some dimensions, the others as they stand.
bool count_up(Choice& choice, const std::vector<Dimension>& counted) {
  for (const Dimension dimension : counted) {
    if (++choice[dimension] < choices[dimension]) return true;
    choice[dimension] = 0;
  }
  return false;
}

}  // namespace

TEST_CASE("decide: over the product of facts and answers, every step is sound") {
  const std::vector<Dimension> counted = {dim_bearer, dim_cancel, dim_time, dim_attempts,
                                          dim_slot,   dim_search, dim_post, dim_final_sequence};
  std::set<std::string_view> rows;
  std::size_t tried = 0;
  Choice choice{};
  choice[dim_state] = static_cast<std::size_t>(IntentState::settling);
  do {
    check_sound(choice, rows);
    ++tried;
  } while (count_up(choice, counted));
  CHECK(tried == 2u * 2 * 5 * 10 * 9 * 10 * 11 * 3);
}

TEST_CASE("decide: for an authorized payment, the whole product of answers") {
  const std::vector<Dimension> counted = {dim_bearer,        dim_cancel,     dim_time,
                                          dim_send_slot,     dim_simulation, dim_authorization,
                                          dim_kind_of_chain, dim_budget,     dim_ref_found};
  std::set<std::string_view> rows;
  Choice choice{};
  choice[dim_state] = static_cast<std::size_t>(IntentState::authorized);
  do {
    check_sound(choice, rows);
  } while (count_up(choice, counted));
  CHECK(rows.size() == authorized_rows().size());
}

TEST_CASE("decide: drawn from everything at once, every step is sound and every row is met") {
  Random random(20'240'607);
  std::set<std::string_view> rows;
  for (int i = 0; i < 300'000; ++i) {
    Choice choice{};
    for (std::size_t d = 0; d < dimensions; ++d) choice[d] = draw(random, choices[d]);
    // Half of the draws where the most rows are.
    if (i % 2 == 0) choice[dim_state] = static_cast<std::size_t>(IntentState::settling);
    check_sound(choice, rows);
  }
  CHECK(rows.size() == 2 + authorized_rows().size() + settling_rows().size());
}

}  // namespace holdfast::test
