// One payment held against section 7: what its rows say must fit together.
#include <algorithm>

#include "store/events.hpp"
#include "store/findings.hpp"
#include "store/rows.hpp"

namespace holdfast::store {
namespace {

using domain::AttemptKind;
using domain::IntentState;
using domain::SlotState;

/// The payment under audit, and the findings about it.
struct Case {
  AuditReport& report;
  Payment payment;
  std::vector<Event> history;

  void say(int invariant, std::string sentence) const {
    add_finding(report, invariant, text(payment.intent().id), std::move(sentence));
  }
  /// Bytes at this number may run again, or for the first time.
  void say_could_run(std::string sentence, const domain::Slot* slot) const {
    const bool taken_back =
        slot != nullptr && slot->consumed_by && slot->state != SlotState::consumed;
    if (taken_back) sentence += ": the chain took back the transaction that had used its number";
    add_finding(report, 7, text(payment.intent().id), std::move(sentence), taken_back);
  }
};

std::string number_text(const domain::Slot& slot) {
  return "number " + std::to_string(slot.sequence.value);
}

void check_driven(const Case& c) {
  const IntentState state = c.payment.intent().state;
  const bool needs_job = state == IntentState::authorized || state == IntentState::settling;
  if (needs_job && !c.payment.row.has_job) {
    c.say(3, "it is " + std::string(domain::to_text(state)) + " and has no job");
  }
}

struct EntryCounts {
  int holds = 0;
  int posts = 0;
  int voids = 0;
};

EntryCounts count_entries(Txn& txn, std::int64_t intent_row) {
  EntryCounts out;
  each(
      txn, "SELECT kind FROM entries WHERE intent = $1",
      [&](const Row& row) {
        out.holds += row.text(0) == "hold" ? 1 : 0;
        out.posts += row.text(0) == "post" ? 1 : 0;
        out.voids += row.text(0) == "void" ? 1 : 0;
      },
      intent_row);
  return out;
}

void check_hold(const Case& c, const EntryCounts& entries) {
  int holds = 1;
  int posts = 0;
  int voids = 0;
  switch (c.payment.intent().state) {
    case IntentState::created:
    case IntentState::authorized:
    case IntentState::canceled: holds = 0; break;
    case IntentState::settling:
    case IntentState::confirming:
    case IntentState::needs_review: break;
    case IntentState::settled: posts = 1; break;
    case IntentState::failed: voids = 1; break;
  }
  if (entries.holds == holds && entries.posts == posts && entries.voids == voids) return;
  c.say(4, "it is " + std::string(domain::to_text(c.payment.intent().state)) + " with " +
               std::to_string(entries.holds) + " holds, " + std::to_string(entries.posts) +
               " posts and " + std::to_string(entries.voids) + " voids in the journal");
}

void check_slots(const Case& c) {
  for (const SlotRow& row : c.payment.slots) {
    const domain::Slot& slot = row.slot;
    const bool has_attempt = c.payment.has_attempt_at(slot.id);
    if (slot.state == SlotState::released && has_attempt) {
      c.say(5, number_text(slot) + " was released, and an attempt is stored for it");
    }
    const bool is_signed = slot.state == SlotState::signed_ || slot.state == SlotState::broadcast;
    if (is_signed && !has_attempt) {
      c.say(6, number_text(slot) + " is " + std::string(domain::to_text(slot.state)) +
                   ", and no attempt is stored for it");
    }
    const auto complete = [&](const domain::Attempt& attempt) {
      return attempt.slot == slot.id && !attempt.bytes.empty() && attempt.hash.has_value();
    };
    const bool bytes_known =
        std::any_of(c.payment.attempts.begin(), c.payment.attempts.end(), complete);
    if (slot.state == SlotState::broadcast && has_attempt && !bytes_known) {
      c.say(6, number_text(slot) + " was broadcast, and no bytes are stored for it");
    }
  }
}

const SlotRow* slot_row(const Case& c, const domain::Attempt& attempt) {
  for (const SlotRow& row : c.payment.slots) {
    if (attempt.slot == row.slot.id) return &row;
  }
  return nullptr;
}

void check_attempts(const Case& c) {
  const SlotRow* earlier = nullptr;
  for (const domain::Attempt& attempt : c.payment.attempts) {
    if (!attempt.slot || attempt.kind != AttemptKind::pay) continue;
    const SlotRow* row = slot_row(c, attempt);
    if (row == nullptr) {
      c.say(6, "an attempt is stored for a slot that is not the payment's");
      continue;
    }
    if (earlier != nullptr && earlier != row && earlier->slot.state != SlotState::consumed) {
      c.say_could_run("it was signed at " + number_text(row->slot) + " while its bytes at " +
                          number_text(earlier->slot) + " could run",
                      &earlier->slot);
    }
    earlier = row;
  }
  const domain::Intent& intent = c.payment.intent();
  if (intent.state != IntentState::failed || intent.bearer) return;
  for (const domain::Attempt& attempt : c.payment.attempts) {
    const SlotRow* row = attempt.slot ? slot_row(c, attempt) : nullptr;
    if (row != nullptr && row->slot.state == SlotState::consumed) continue;
    c.say_could_run("it failed, and an attempt of it could run", row ? &row->slot : nullptr);
    return;
  }
}

bool is_legal(const Event& step) {
  const auto table = domain::transitions();
  return std::any_of(table.begin(), table.end(), [&](const domain::Transition& row) {
    return row.from == step.from && row.to == step.to &&
           std::find(row.actors.begin(), row.actors.end(), step.actor) != row.actors.end();
  });
}

bool is_birth(const Event& step) {
  return !step.from && (step.to == IntentState::created || step.to == IntentState::authorized);
}

void check_history(const Case& c) {
  std::optional<IntentState> at;
  std::uint64_t version = 0;
  for (const Event& step : c.history) {
    const std::string place = "step " + std::to_string(step.seq) + " of its history ";
    if (step.version < version + (step.kind == "move" ? 1 : 0)) {
      c.say(8, place + "does not raise its version");
    }
    version = std::max(version, step.version);
    if (step.kind != "move") continue;
    const bool fits = at ? step.from == at && is_legal(step) : is_birth(step);
    if (!fits) {
      c.say(8, place + "goes from " +
                   std::string(step.from ? domain::to_text(*step.from) : "nothing") + " to " +
                   std::string(step.to ? domain::to_text(*step.to) : "nothing") +
                   ", which no row of the table allows there");
    }
    at = step.to;
  }
  const domain::Intent& intent = c.payment.intent();
  if (at != intent.state) {
    c.say(8, "it is " + std::string(domain::to_text(intent.state)) +
                 ", and its history does not lead there");
  }
  if (version > intent.version) c.say(8, "its history is ahead of its version");
}

void check_settled(const Case& c, const EntryCounts& entries) {
  const domain::Intent& intent = c.payment.intent();
  if (intent.state != IntentState::settled) return;
  if (!intent.tx_hash) c.say(9, "it is settled and names no transaction");
  if (entries.posts != 1) c.say(9, "it is settled and nothing was posted");
}

// A payout that stands on a transaction: one of its own, one that stood at one of its numbers or
// was found to carry its ref, or one that a person named. Authorizations may be run by anyone.
void check_cited(const Case& c) {
  const domain::Intent& intent = c.payment.intent();
  const bool stands =
      intent.state == IntentState::confirming || intent.state == IntentState::settled;
  if (!stands || !intent.tx_hash) return;
  const domain::TxHash& cited = *intent.tx_hash;
  bool own = false;
  bool has_numbers = false;
  for (const domain::Attempt& attempt : c.payment.attempts) {
    has_numbers = has_numbers || attempt.slot.has_value();
    if (attempt.hash != cited) continue;
    if (attempt.kind == AttemptKind::noop) {
      c.say(9, "it stands on " + cited.hex() + ", which is a noop of its number and moves nothing");
      return;
    }
    own = true;
  }
  if (own || intent.bearer || !has_numbers) return;
  const bool at_its_number =
      std::any_of(c.payment.slots.begin(), c.payment.slots.end(),
                  [&](const SlotRow& row) { return row.slot.consumed_by == cited; });
  const bool named = std::any_of(c.history.begin(), c.history.end(), [&](const Event& step) {
    return step.actor == domain::Actor::operator_ && step.tx_hash == cited;
  });
  const bool carries_ref = domain::is_lost_part(c.payment.ref_found_in, cited);
  if (at_its_number || named || carries_ref) return;
  c.say(9, "it stands on " + cited.hex() + ", which is none of the transactions signed for it");
}

void check_terms(const Case& c) {
  const domain::Intent& intent = c.payment.intent();
  if (domain::derive_ref(intent.id, intent.terms) != intent.ref) {
    c.say(9, "its ref does not match its terms");
  }
}

}  // namespace

void audit_payment(Txn& txn, AuditReport& report, std::int64_t intent_row) {
  Case c{report, {}, {}};
  c.payment.row = load_intent_at(txn, intent_row);
  load_rest(txn, c.payment);
  c.history = events_of(txn, intent_row);
  ++report.intents;
  report.attempts += c.payment.attempts.size();
  report.slots += c.payment.slots.size();
  const EntryCounts entries = count_entries(txn, intent_row);
  check_terms(c);
  check_driven(c);
  check_hold(c, entries);
  check_slots(c);
  check_attempts(c);
  check_history(c);
  check_settled(c, entries);
  check_cited(c);
}

}  // namespace holdfast::store
