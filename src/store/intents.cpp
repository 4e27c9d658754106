// Creating an intent, and the requests that are answered the same for ever.
#include <algorithm>

#include "base/kill_point.hpp"
#include "store/desk.hpp"
#include "store/events.hpp"
#include "store/moves.hpp"
#include "store/reads.hpp"
#include "store/redemptions.hpp"
#include "store/writes.hpp"

namespace holdfast::store {

using domain::IntentState;

Result<void> check_redeemable(Txn& txn, const domain::IntentId& id, const domain::Terms& terms,
                              const domain::Authorization& authorization) {
  const auto holder = first(
      txn,
      "SELECT id FROM intents WHERE redemption_key = $1 AND redemption_key IS NOT NULL"
      " AND redemption_ended = 0",
      [](const Row& row) { return row.fixed<domain::IntentId>(0); },
      domain::derive_redemption_key(terms, authorization.nonce));
  if (!holder || *holder == id) return {};
  return refuse(StoreError::redemption_taken, "this authorization belongs to another payment");
}

std::uint64_t ended_redemptions(Txn& txn, const domain::RedemptionKey& key) {
  return static_cast<std::uint64_t>(number_of(
      txn, "SELECT count(*) FROM intents WHERE redemption_key = $1 AND redemption_ended = 1", key));
}

namespace {

/// The creation's answer again; the first step of a history is the birth.
Result<Answered> created_before(Txn& txn, const IntentRow& row, const NewIntent& wanted) {
  const domain::Intent& intent = row.intent;
  const auto history = events_of(txn, row.row);
  ensure(!history.empty() && history.front().request.has_value(),
         "an intent has no birth in its history");
  const Request& birth = *history.front().request;
  const bool same_caller = intent.caller == wanted.intent.caller;
  if (same_caller && birth.fingerprint == wanted.request.fingerprint) {
    return Answered{as_shown_after(intent, history, 0), true};
  }
  // The id is the caller's key, or what is redeemed: which of the two tells what was repeated.
  if (same_caller && birth.key == wanted.request.key) {
    return refuse(StoreError::key_reused, "the idempotency key came with another request before");
  }
  return intent.bearer
             ? refuse(StoreError::redemption_taken, "this authorization belongs to another payment")
             : refuse(StoreError::key_reused, "the payment's id is taken by another request");
}

/// The same request made an intent before that ended without being paid: what it redeems may be
/// redeemed anew, but under another key.
Result<std::optional<Answered>> answered_by_ended(Txn& txn, const domain::RedemptionKey& key,
                                                  const NewIntent& wanted) {
  std::vector<std::int64_t> ended;
  each(
      txn, "SELECT row FROM intents WHERE redemption_key = $1 AND redemption_ended = 1",
      [&](const Row& row) { ended.push_back(row.number(0)); }, key);
  for (const std::int64_t at : ended) {
    const IntentRow row = load_intent_at(txn, at);
    const auto history = events_of(txn, at);
    const bool theirs = row.intent.caller == wanted.intent.caller;
    if (!theirs || history.empty() || !history.front().request) continue;
    if (history.front().request->key != wanted.request.key) continue;
    auto before = created_before(txn, row, wanted);
    if (before.has_error()) return before.error();
    return std::optional(std::move(*before));
  }
  return std::optional<Answered>{};
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
  const domain::Intent& intent = wanted.intent;
  ensure(intent.authorization.has_value(), "what is submitted brings its authorization");
  const auto key = domain::derive_redemption_key(intent.terms, intent.authorization->nonce);
  return answered_by_ended(txn, key, wanted);
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
    const auto there = load_intent(txn, intent.id);
    if (there) return created_before(txn, *there, wanted);
    auto before = submitted_before(txn, wanted);
    if (before.has_error()) return before.error();
    if (*before) return std::move(**before);
    const auto redeemable = check_redeemable(txn, intent.id, intent.terms, *intent.authorization);
    if (redeemable.has_error()) return redeemable.error();
  }
  if (!insert_intent(txn, row)) {
    const auto there = load_intent(txn, intent.id);
    ensure(there.has_value(), "an id is taken by no intent");
    return created_before(txn, *there, wanted);
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
  if (intent.cancel_asked && !by.request) return payment->facts();
  if (!intent.cancel_asked) {
    intent.cancel_asked = true;
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
  return payment->facts();
}

Result<Abandoned> abandon(Txn& txn, const domain::IntentId& id, const Signature& by) {
  if (by.request) {
    auto before = earlier_answer(txn, id, *by.request);
    if (before.has_error()) return before.error();
    if (*before) return Abandoned{std::move((*before)->intent), std::nullopt};
  }
  Move cancel;
  cancel.id = id;
  cancel.to = domain::IntentState::canceled;
  cancel.actor = domain::Actor::operator_;
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
    facts = ask_cancel(txn, id, std::nullopt, domain::Actor::operator_, by);
  }
  if (facts.has_error()) return facts.error();
  return Abandoned{facts->intent, std::move(*facts)};
}

}  // namespace holdfast::store
