// Creating an intent, and the requests that are answered the same for ever.
#include <algorithm>

#include "base/kill_point.hpp"
#include "base/teeth.hpp"
#include "store/desk.hpp"
#include "store/events.hpp"
#include "store/moves.hpp"
#include "store/reads.hpp"
#include "store/redemptions.hpp"
#include "store/writes.hpp"

namespace holdfast::store {

using domain::IntentState;

std::optional<domain::IntentId> redeemer_of(Txn& txn, const domain::RedemptionKey& key) {
  return first(
      txn,
      "SELECT id FROM intents WHERE redemption_key = $1 AND redemption_key IS NOT NULL"
      " AND redemption_ended = 0",
      [](const Row& row) { return row.fixed<domain::IntentId>(0); }, key);
}

Result<void> check_redeemable(Txn& txn, const domain::IntentId& id, const domain::Terms& terms,
                              const domain::Authorization& authorization) {
  const auto holder = redeemer_of(txn, domain::derive_redemption_key(terms, authorization.nonce));
  if (!holder || *holder == id) return {};
  return refuse(StoreError::redemption_taken, "this authorization belongs to another payment");
}

std::uint64_t ended_redemptions(Txn& txn, const domain::RedemptionKey& key) {
  return static_cast<std::uint64_t>(number_of(
      txn, "SELECT count(*) FROM intents WHERE redemption_key = $1 AND redemption_ended = 1", key));
}

namespace {

Error key_reused() {
  return refuse(StoreError::key_reused, "the idempotency key came with another request before");
}

/// Whoever asks may have left the digest of the request empty, so what was asked for is compared
/// too. A payout's payer may have been chosen by us.
bool asks_the_same(const domain::Intent& was, const domain::Intent& now) {
  domain::Terms terms = now.terms;
  if (!was.bearer) terms.payer = was.terms.payer;
  const bool same_nonce = !now.authorization || (was.authorization && was.authorization->nonce ==
                                                                          now.authorization->nonce);
  return was.terms == terms && same_nonce;
}

const Request& birth_of(const std::vector<Event>& history) {
  ensure(!history.empty() && history.front().request.has_value(),
         "an intent has no birth in its history");
  return *history.front().request;
}

/// The creation's answer again; the first step of a history is the birth.
Result<Answered> created_before(Txn& txn, const IntentRow& row, const NewIntent& wanted) {
  const domain::Intent& intent = row.intent;
  const auto history = events_of(txn, row.row);
  const Request& birth = birth_of(history);
  const bool same_caller = intent.caller == wanted.intent.caller;
  if (same_caller && birth.fingerprint == wanted.request.fingerprint &&
      asks_the_same(intent, wanted.intent)) {
    return Answered{as_shown_after(intent, history, 0), true};
  }
  // The id is the caller's key, or what is redeemed: which of the two tells what was repeated.
  if (same_caller && birth.key == wanted.request.key) return key_reused();
  return intent.bearer
             ? refuse(StoreError::redemption_taken, "this authorization belongs to another payment")
             : refuse(StoreError::key_reused, "the payment's id is taken by another request");
}

std::optional<IntentRow> submitted_by(Txn& txn, const RequestKey& key) {
  const auto row = first(
      txn, "SELECT intent FROM submissions WHERE request_key = $1",
      [](const Row& found) { return found.number(0); }, key);
  if (!row) return std::nullopt;
  return load_intent_at(txn, *row);
}

/// Canceled, or failed by proof 1: what it would have redeemed is free again.
bool ended_unsent(Txn& txn, std::int64_t row) {
  return number_of(txn, "SELECT redemption_ended FROM intents WHERE row = $1", row) == 1;
}

void write_birth(Txn& txn, const IntentRow& row, const Request& request) {
  Event event;
  event.at_ms = row.intent.created_ms;
  event.kind = "move";
  event.to = row.intent.state;
  event.actor = domain::Actor::api;
  event.who = row.intent.caller.value;
  event.version = row.intent.version;
  event.request = request;
  add_event(txn, row.row, event);
}

}  // namespace

Result<std::optional<Answered>> submitted_before(Txn& txn, const NewIntent& wanted) {
  if (wanted.id_by_key && *wanted.id_by_key != wanted.intent.id &&
      load_intent(txn, *wanted.id_by_key)) {
    return key_reused();
  }
  const auto row = submitted_by(txn, wanted.request.key);
  if (!row) return std::optional<Answered>{};
  auto before = created_before(txn, *row, wanted);
  if (before.has_error()) return before.error();
  if (wanted.begins_anew && ended_unsent(txn, row->row)) return std::optional<Answered>{};
  return std::optional(std::move(*before));
}

Result<std::optional<Answered>> born_before(Txn& txn, const domain::IntentId& id_by_key,
                                            const domain::CallerId& caller,
                                            const Request& request) {
  auto row = load_intent(txn, id_by_key);
  if (!row) row = submitted_by(txn, request.key);
  if (!row || row->intent.caller != caller) return std::optional<Answered>{};
  const auto history = events_of(txn, row->row);
  if (birth_of(history).fingerprint != request.fingerprint) return key_reused();
  return std::optional(Answered{as_shown_after(row->intent, history, 0), true});
}

Result<Answered> create_intent(Txn& txn, const NewIntent& wanted) {
  IntentRow row;
  row.intent = wanted.intent;
  domain::Intent& intent = row.intent;
  const bool authorized = intent.state == IntentState::authorized;
  ensure(authorized || intent.state == IntentState::created, "an intent is born in another state");
  ensure(intent.authorization.has_value() == (authorized && intent.bearer),
         "an intent is born authorized exactly when a bearer's signature came with it");
  intent.updated_ms = intent.created_ms;
  if (intent.authorization) {
    // Two indexes could refuse the row; which request comes first is found out before.
    auto before = submitted_before(txn, wanted);
    if (before.has_error()) return before.error();
    if (*before) return std::move(**before);
    const auto there = load_intent(txn, intent.id);
    if (there) return created_before(txn, *there, wanted);
    const auto redeemable = check_redeemable(txn, intent.id, intent.terms, *intent.authorization);
    if (redeemable.has_error()) return redeemable.error();
  }
  if (!intent.authorization && submitted_by(txn, wanted.request.key)) return key_reused();
  if (!insert_intent(txn, row)) {
    const auto there = load_intent(txn, intent.id);
    ensure(there.has_value(), "an id is taken by no intent");
    return created_before(txn, *there, wanted);
  }
  if (intent.authorization) {
    execute(txn,
            "INSERT INTO submissions (request_key, intent) VALUES ($1, $2)"
            " ON CONFLICT (request_key) DO UPDATE SET intent = excluded.intent",
            wanted.request.key, row.row);
  }
  HOLDFAST_KILL_POINT("CREATE1");
  write_birth(txn, row, wanted.request);
  HOLDFAST_KILL_POINT("CREATE2");
  if (authorized) {
    enqueue_for_change(txn, row, wanted.queue_ms != 0 ? wanted.queue_ms : intent.created_ms);
  }
  HOLDFAST_KILL_POINT("CREATE3");
  return Answered{std::move(intent), false};
}

namespace {

/// The answer of the move that led to this state, whoever asked for it.
Answered answer_of_step(const domain::Intent& now, const std::vector<Event>& history,
                        std::size_t at) {
  return {as_shown_after(now, history, at), true};
}

}  // namespace

Result<Answered> answer_move(Txn& txn, const Move& move) {
  if (move.request) {
    const auto row = load_intent(txn, move.id);
    const bool theirs = row && (!move.caller || row->intent.caller == *move.caller);
    if (!theirs) return refuse(StoreError::not_found, "there is no payment " + text(move.id));
    const auto history = events_of(txn, row->row);
    const auto before = answered_before(history, *move.request);
    if (before.has_error()) return before.error();
    if (*before && planted(Tooth::answer_is_now)) return Answered{row->intent, true};
    if (*before) return answer_of_step(row->intent, history, **before);
  }
  Mover mover(txn, move);
  const auto moved = mover.run();
  if (moved.has_error()) return moved.error();
  const domain::Intent& intent = mover.payment().intent();
  if (*moved) return Answered{intent, false};
  // Another key asked for what was done already. Its answer must stay the same too, so it is that
  // of the step, not of the moment.
  const auto history = events_of(txn, mover.payment().row.row);
  const auto step = std::find_if(history.begin(), history.end(),
                                 [&](const Event& each) { return each.to == move.to; });
  ensure(step != history.end(), "a payment stands where no step led");
  return answer_of_step(intent, history, static_cast<std::size_t>(step - history.begin()));
}

Result<domain::Facts> ask_cancel(Txn& txn, const domain::IntentId& id,
                                 const std::optional<domain::CallerId>& caller, domain::Actor actor,
                                 const Signature& by) {
  auto payment = load_payment(txn, id);
  const bool theirs = payment && (!caller || payment->intent().caller == *caller);
  if (!theirs) return refuse(StoreError::not_found, "there is no payment " + text(id));
  domain::Intent& intent = payment->intent();
  if (domain::is_terminal(intent.state)) {
    return refuse(domain::TransitionError::terminal,
                  "the payment has ended as " + std::string(domain::to_text(intent.state)));
  }
  // Asked already: only the request is new, so that its repetition gets its answer.
  if (intent.cancel_asked && !by.request) return std::move(*payment).facts();
  if (!intent.cancel_asked) {
    intent.cancel_asked = !planted(Tooth::stop_forgotten);
    save_standing(txn, payment->row, by.now_ms);
  }
  Event event;
  event.at_ms = by.now_ms;
  event.kind = "cancel";
  event.actor = actor;
  event.who = by.who;
  event.reason = by.why;
  event.version = intent.version;
  event.request = by.request;
  add_event(txn, payment->row.row, event);
  return std::move(*payment).facts();
}

namespace {

bool is_settling_unsigned(Txn& txn, const domain::IntentId& id) {
  const auto payment = load_payment(txn, id);
  return payment && payment->intent().state == IntentState::settling && payment->attempts.empty();
}

}  // namespace

Result<Abandoned> abandon(Txn& txn, const domain::IntentId& id, const Signature& by,
                          domain::Actor actor, const std::optional<domain::CallerId>& caller) {
  if (by.request) {
    auto before = earlier_answer(txn, id, *by.request);
    if (before.has_error()) return before.error();
    if (*before) return Abandoned{std::move((*before)->intent), std::nullopt};
  }
  Move cancel;
  cancel.id = id;
  cancel.to = domain::IntentState::canceled;
  cancel.actor = actor;
  cancel.caller = caller;
  cancel.who = by.who;
  cancel.reason = by.why;
  cancel.request = by.request;
  cancel.now_ms = by.now_ms;
  auto facts = move_intent(txn, cancel);
  // What nobody signed is driven by nobody: it would be asked in vain.
  const auto intent = load_intent(txn, id);
  const bool is_driven = intent && intent->intent.state != IntentState::created;
  if (facts.has_error() && is_driven &&
      (facts.error().code == domain::TransitionError::illegal_move ||
       facts.error().code == domain::TransitionError::wrong_actor ||
       facts.error().code == StoreError::unproven)) {
    // Who only stops waiting takes nothing back that may be mined.
    if (actor == domain::Actor::api && !is_settling_unsigned(txn, id)) {
      return Abandoned{intent->intent, std::nullopt};
    }
    facts = ask_cancel(txn, id, caller, actor, by);
    // It may wait long for a node, and who stops waiting hears what becomes of it.
    if (facts && is_settling_unsigned(txn, id)) {
      hasten_for_change(txn, *intent, by.queue_ms != 0 ? by.queue_ms : by.now_ms);
    }
  }
  if (facts.has_error()) return facts.error();
  return Abandoned{facts->intent, std::move(*facts)};
}

}  // namespace holdfast::store
