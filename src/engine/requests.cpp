// Owns: the requests of the public face that write: create, authorize, cancel, abandon. Those of
// payers who bring a nonce of their own are in submit.cpp.
// Must never: let what a caller does after the write change what happens to the payment.
#include "engine/requests.hpp"
#include <holdfast/domain/refs.hpp>
#include "base/kill_point.hpp"
#include "base/teeth.hpp"
#include "engine/errors.hpp"
#include "engine/new_intent.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {

store::Request request_of(const Caller& caller, std::string_view route) {
  const Digest digest = FieldHash("holdfast/request/1")
                            .add(caller.id.value)
                            .add(route)
                            .add(caller.idempotency_key)
                            .finish();
  store::Request request;
  std::copy_n(digest.begin(), request.key.value.size(), request.key.value.begin());
  request.fingerprint = caller.fingerprint;
  return request;
}

std::optional<store::Request> request_of_key(const Caller& caller, std::string_view route) {
  if (caller.idempotency_key.empty()) return std::nullopt;
  return request_of(caller, route);
}

Result<Answer> answer_of(Result<store::Answered> stored) {
  if (!stored) return at_the_face(stored.error());
  return Answer{std::move(stored->intent), stored->replayed};
}

Error drained() {
  return refuse(EngineError::draining, "the engine is stopping and takes nothing new");
}

ports::Moment moment(const Core& core, const Unit& unit) {
  return {core.wall_ms() / 1000, unit.view.latest_time_s()};
}

store::NewIntent new_intent(const Core& core, const Caller& caller, domain::Intent intent) {
  store::NewIntent out{std::move(intent), request_of(caller, "create"), core.queue_ms(), {}};
  if (!out.intent.authorization) return out;
  if (caller.idempotency_key.empty()) {
    const auto key =
        domain::derive_redemption_key(out.intent.terms, out.intent.authorization->nonce);
    out.request = request_of(caller, "submit/" + key.hex());
  } else {
    out.id_by_key = domain::derive_intent_id(caller.id, caller.idempotency_key);
  }
  return out;
}

Awaitable<Result<Answer>> as_answered_before(Core& core, Caller caller, Error refusal) {
  if (caller.idempotency_key.empty()) co_return refusal;
  auto before = co_await core.parts.store.read(
      [id = domain::derive_intent_id(caller.id, caller.idempotency_key), caller,
       request = request_of(caller, "create")](store::Txn& txn) {
        return store::born_before(txn, id, caller.id, request);
      });
  if (!before || !*before) co_return refusal;
  co_return answer_of(std::move(**before));
}

Awaitable<Result<Answer>> store_new(Core& core, store::NewIntent wanted) {
  const bool has_job = wanted.intent.state == domain::IntentState::authorized;
  auto stored = co_await core.parts.store.write(
      [wanted](store::Txn& txn) { return store::create_intent(txn, wanted); });
  HOLDFAST_KILL_POINT("CREATE4");
  if (stored && has_job) core.wake();
  co_return answer_of(std::move(stored));
}

namespace {

/// A payout that names no account is given one of ours by its id and by how many there are: it
/// keeps the one it was given before, where its lost part of the store sent it from.
Awaitable<void> keep_payer(Core& core, const NewPayment& payment, domain::Intent& intent) {
  Unit& unit = *core.unit(intent.terms.chain);
  const bool was_chosen = !intent.bearer && payment.payer.empty() && unit.accounts.size() > 1;
  if (!was_chosen || !unit.refs_were_found) co_return;
  std::vector<domain::Ref> refs;
  refs.reserve(unit.accounts.size());
  for (const AccountState& account : unit.accounts) {
    domain::Terms terms = intent.terms;
    terms.payer = account.address;
    refs.push_back(domain::derive_ref(intent.id, terms));
  }
  const auto found = co_await core.parts.store.read(
      [chain = unit.id(), refs](store::Txn& txn) { return store::first_found(txn, chain, refs); });
  if (!found) co_return;
  intent.terms.payer = unit.accounts[*found].address;
  intent.ref = refs[*found];
}

Awaitable<Result<Answer>> answer_move(Core& core, store::Move wanted) {
  wanted.now_ms = core.wall_ms();
  wanted.queue_ms = core.queue_ms();
  const domain::IntentId id = wanted.id;
  auto stored = co_await core.parts.store.write(
      [wanted = std::move(wanted)](store::Txn& txn) { return store::answer_move(txn, wanted); });
  if (stored) {
    if (!stored->replayed) core.count_move(stored->intent);
    core.waiters.changed(id);
    core.wake();
  }
  co_return answer_of(std::move(stored));
}

}  // namespace

Awaitable<Result<Answer>> Engine::create(Caller caller, NewPayment payment) {
  const auto core = core_;
  if (core->draining || core->broken) co_return drained();
  auto intent = intent_of_request(*core, caller, payment);
  if (!intent) co_return co_await as_answered_before(*core, caller, intent.error());
  co_await keep_payer(*core, payment, *intent);
  co_return co_await store_new(*core, new_intent(*core, caller, std::move(*intent)));
}

Awaitable<Result<Answer>> Engine::authorize(Caller caller, domain::IntentId id, Bytes signature) {
  const auto core = core_;
  if (core->draining || core->broken) co_return drained();
  const auto turn = co_await core->turns.turn(id);
  auto intent = co_await find(caller.id, id);
  if (!intent) co_return intent.error();
  if (!intent->bearer) {
    co_return refuse(EngineError::too_late,
                     "this payment needs no signature: it was authorised "
                     "when it was created");
  }
  domain::Authorization authorization;
  authorization.nonce.value = intent->ref.value;  // the nonce we proposed is the ref
  authorization.validity = intent->validity;
  authorization.signature = std::move(signature);

  Unit* const unit = core->unit(intent->terms.chain);
  ports::Method* const method = core->method(intent->terms);
  if (unit == nullptr || method == nullptr) {
    co_return refuse(EngineError::unknown_chain, "the payment's chain is not configured any more");
  }
  // Anything but the first time is a replay or a refusal, which the store tells apart.
  if (intent->state == domain::IntentState::created) {
    // Used by ourselves, before the store was put back: signed once more, it is followed, and
    // nothing is sent for it. So its signature is judged as of the window it was for.
    const bool used_by_us = co_await core->parts.store.read([id](store::Txn& txn) {
      const auto facts = store::find_facts(txn, id);
      return facts && !facts->ref_found_in.empty();
    });
    const bool is_over = core->wall_ms() / 1000 >= intent->publish_before_s;
    if (is_over && !used_by_us && core->is_restored()) {
      co_return refuse(EngineError::try_again,
                       "the store was put back from a backup: whether this payment was made is "
                       "known once its accounts are adopted");
    }
    if (is_over && !used_by_us) {
      co_return refuse(ports::VerifyError::expired,
                       "the window to publish this payment ended; ask for a new one");
    }
    const ports::Moment at =
        used_by_us ? ports::Moment{intent->validity.after_s + 1, 0} : moment(*core, *unit);
    auto good = co_await method->verify(*intent, authorization, at);
    const bool is_known =
        used_by_us && !good && good.error().code == ports::VerifyError::already_used;
    if (!good && !is_known) co_return good.error();
  }
  store::Move wanted;
  wanted.id = id;
  wanted.to = domain::IntentState::authorized;
  wanted.actor = domain::Actor::api;
  wanted.who = caller.id.value;
  wanted.caller = caller.id;
  wanted.request = request_of(caller, "authorize/" + domain::text(id));
  wanted.authorization = std::move(authorization);
  co_return co_await answer_move(*core, std::move(wanted));
}

Awaitable<Result<Answer>> Engine::cancel(Caller caller, domain::IntentId id, std::string reason) {
  const auto core = core_;
  if (reason.empty()) reason = "canceled by the caller";
  if (reason.size() > longest_reason) {
    co_return refuse(EngineError::bad_terms, "reason: longer than 200 bytes");
  }
  store::Move wanted;
  wanted.id = id;
  wanted.to = domain::IntentState::canceled;
  wanted.actor = domain::Actor::api;
  wanted.who = caller.id.value;
  wanted.reason = std::move(reason);
  if (!planted(Tooth::caller_ignored)) wanted.caller = caller.id;
  wanted.request = request_of(caller, "cancel/" + domain::text(id));
  auto answer = co_await answer_move(*core, std::move(wanted));
  if (answer || answer.error().code != EngineError::too_late) co_return answer;
  // Told as it is, not as the table of moves puts it.
  const auto intent = co_await find(caller.id, id);
  if (!intent || domain::is_terminal(intent->state)) co_return answer;
  if (planted(Tooth::late_cancel)) {
    domain::Intent told = *intent;
    told.state = domain::IntentState::canceled;
    co_return Answer{std::move(told), false};
  }
  co_return refuse(EngineError::too_late,
                   "the payment is " + std::string(domain::to_text(intent->state)) +
                       ": it can be canceled until settling starts, and not any more");
}

Awaitable<Result<Answer>> Engine::abandon(Caller who, domain::IntentId id, std::string reason) {
  const auto core = core_;
  if (reason.empty() || reason.size() > longest_reason) {
    co_return refuse(EngineError::bad_terms, "reason: 1 to 200 bytes are needed");
  }
  const store::Signature by{who.id.value, std::move(reason),
                            request_of_key(who, "abandon/" + domain::text(id)), core->wall_ms(),
                            core->queue_ms()};
  auto done = co_await core->parts.store.write(
      [id, by](store::Txn& txn) { return store::abandon(txn, id, by); });
  if (!done) co_return at_the_face(done.error());
  if (!done->facts) co_return Answer{std::move(done->intent), true};
  if (done->intent.state == domain::IntentState::canceled) core->count_move(done->intent);
  core->changed(*done->facts);
  core->wake();
  co_return Answer{std::move(done->intent), false};
}

}  // namespace holdfast::engine
