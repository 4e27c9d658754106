// Owns: how a payment stands for somebody who waits for it, what becomes of it when they stop, and
// who may be told that it succeeded.
// Must never: end a payment because somebody does not wait any more.
#include <holdfast/domain/finality.hpp>
#include <holdfast/domain/refs.hpp>
#include "base/teeth.hpp"
#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/new_intent.hpp"
#include "engine/requests.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

/// The transaction that moved its money, `answer_at` deep; it may be somebody else's.
std::optional<domain::TxHash> included_in(Core& core, const domain::Intent& intent) {
  Unit* const unit = core.unit(intent.terms.chain);
  const Watched* const watched = unit == nullptr ? nullptr : unit->watch.find(intent.id);
  if (watched == nullptr || !watched->inclusion) return std::nullopt;
  const domain::MinedTx& tx = watched->inclusion->tx;
  ports::Method* const method = core.method(intent.terms);
  if (method == nullptr) return std::nullopt;
  const auto evidence = method->evidence(intent, tx, watched->inclusion->own_hash);
  const bool is_deep = unit->verdict(tx, unit->chain.info().answer_at) == domain::Verdict::final;
  if (evidence.moved != domain::Moved::exact || !is_deep) return std::nullopt;
  return tx.hash;
}

bool is_reached(Core& core, const domain::Intent& intent, WaitFor level) {
  using enum domain::IntentState;
  if (domain::is_terminal(intent.state) || intent.state == needs_review) return true;
  if (intent.state != confirming) return false;
  if (level == WaitFor::confirming) return true;
  return level == WaitFor::included && included_in(core, intent).has_value();
}

/// Whether the record is worth reading again for somebody who waits: a payment that is watched is
/// known here as it was committed last, and one that is not has not begun, or has ended.
bool may_be_reached(Core& core, const domain::ChainId& chain, const domain::IntentId& id,
                    WaitFor level) {
  if (core.draining || core.broken) return true;
  Unit* const unit = core.unit(chain);
  const Watched* const watched = unit == nullptr ? nullptr : unit->watch.find(id);
  return watched == nullptr || is_reached(core, watched->intent, level);
}

/// The evidence it stands on, else the newest of its own that may be mined.
std::optional<domain::TxHash> newest_hash(const domain::Facts& facts) {
  if (facts.intent.tx_hash) return facts.intent.tx_hash;
  for (auto it = facts.attempts.rbegin(); it != facts.attempts.rend(); ++it) {
    if (it->kind == domain::AttemptKind::pay && it->hash) return it->hash;
  }
  return std::nullopt;
}

// Before it is settled the record names the newest of our own, which may be a revert.
Standing standing_of(Core& core, const domain::Facts& facts) {
  if (facts.intent.state == domain::IntentState::confirming) {
    if (const auto hash = included_in(core, facts.intent)) return {facts.intent, hash, true};
  }
  const bool moved =
      facts.intent.state == domain::IntentState::settled ||
      (planted(Tooth::told_too_early) && facts.intent.state == domain::IntentState::confirming);
  return {facts.intent, newest_hash(facts), moved};
}

/// The same caller with the same key is the same asker; without a key nobody is.
std::optional<domain::AskerKey> asker_key(const Caller& caller) {
  if (caller.idempotency_key.empty()) return std::nullopt;
  return domain::AskerKey{
      FieldHash("holdfast/asker/1").add(caller.id.value).add(caller.idempotency_key).finish()};
}

}  // namespace

Awaitable<Result<domain::Intent>> Engine::wait(std::optional<domain::CallerId> caller,
                                               domain::IntentId id, WaitFor level,
                                               std::int64_t deadline_ms) {
  const auto core = core_;
  const std::int64_t until_ms = core->parts.clock.mono_ms() + deadline_ms;
  for (;;) {
    auto intent = co_await find(caller, id);
    if (!intent || is_reached(*core, *intent, level)) co_return intent;
    const std::int64_t left_ms = until_ms - core->parts.clock.mono_ms();
    if (left_ms <= 0 || core->draining || core->broken) co_return intent;
    co_await core->waiters.wait(id, core->parts.clock, left_ms,
                                [core, chain = intent->terms.chain, id, level] {
                                  return may_be_reached(*core, chain, id, level);
                                });
  }
}

Awaitable<Result<Standing>> Engine::standing(std::optional<domain::CallerId> caller,
                                             domain::IntentId id) {
  const auto core = core_;
  const auto facts =
      co_await core->parts.store.read([id](store::Txn& txn) { return store::find_facts(txn, id); });
  if (!facts || (caller && facts->intent.caller != *caller)) {
    co_return refuse(EngineError::not_found, "no such payment");
  }
  co_return standing_of(*core, *facts);
}

Awaitable<Result<Standing>> Engine::give_up(Caller caller, domain::IntentId id, std::string reason,
                                            std::int64_t deadline_ms) {
  const auto core = core_;
  const std::int64_t until_ms = core->parts.clock.mono_ms() + deadline_ms;
  // Never a repetition: each time it is asked, the payment may stand elsewhere.
  const store::Signature by{
      caller.id.value, std::move(reason), {}, core->wall_ms(), core->queue_ms()};
  auto done = co_await core->parts.store.write([id, by, who = caller.id](store::Txn& txn) {
    return store::abandon(txn, id, by, domain::Actor::api, who);
  });
  if (done && done->facts) {
    if (done->intent.state == domain::IntentState::canceled) core->count_move(done->intent);
    core->changed(*done->facts);
    core->wake();
  } else if (!done && done.error().code != domain::TransitionError::terminal) {
    co_return at_the_face(done.error());
  }
  for (;;) {
    auto now = co_await standing(caller.id, id);
    if (!now || now->hash || domain::is_terminal(now->intent.state)) co_return now;
    const std::int64_t left_ms = until_ms - core->parts.clock.mono_ms();
    const bool is_in_review = now->intent.state == domain::IntentState::needs_review;
    if (left_ms <= 0 || is_in_review || core->draining || core->broken) co_return now;
    co_await core->waiters.wait(id, core->parts.clock, left_ms, [] { return true; });
  }
}

Awaitable<Result<SuccessOffer>> Engine::offer_success(Caller caller, domain::IntentId id) {
  const auto core = core_;
  const domain::SuccessAsker asker{core->instance, asker_key(caller), caller.fingerprint};
  auto offer = co_await core->parts.store.write(
      [id, asker, who = caller.id, now = core->wall_ms()](store::Txn& txn) {
        return store::offer_success(txn, id, who, asker, now);
      });
  if (!offer) co_return at_the_face(offer.error());
  switch (*offer) {
    case domain::SuccessOffer::key_reused:
      co_return refuse(EngineError::key_reused,
                       "the idempotency key came with another request before");
    case domain::SuccessOffer::taken: co_return SuccessOffer::taken;
    case domain::SuccessOffer::first: ++core->told[id]; co_return SuccessOffer::first;
    case domain::SuccessOffer::again: ++core->told[id]; co_return SuccessOffer::again;
  }
  co_return SuccessOffer::taken;
}

Awaitable<Result<bool>> Engine::may_be_told(Caller caller, domain::IntentId id) {
  const auto core = core_;
  const domain::SuccessAsker asker{core->instance, asker_key(caller), caller.fingerprint};
  const auto offer = co_await core->parts.store.read(
      [id, asker](store::Txn& txn) { return store::peek_success(txn, id, asker); });
  if (!offer) co_return at_the_face(offer.error());
  co_return *offer == domain::SuccessOffer::first || *offer == domain::SuccessOffer::again;
}

// One that was not written opens the offer again only when no twin of it is on its way.
Awaitable<void> Engine::delivered(domain::IntentId id, bool written) {
  const auto core = core_;
  const auto on_way = core->told.find(id);
  if (on_way == core->told.end()) co_return;
  const bool is_last = --on_way->second == 0;
  if (is_last) core->told.erase(on_way);
  if (!written && !is_last) co_return;
  co_await core->parts.store.write([id, written, now = core->wall_ms()](store::Txn& txn) {
    store::note_delivered(txn, id, written, now);
    return true;
  });
}

Awaitable<Result<domain::Intent>> Engine::find_submitted(NewPayment payment,
                                                         domain::Authorization authorization) {
  const auto core = core_;
  auto wanted = intent_of_authorization(*core, domain::CallerId{}, payment, authorization, 0);
  if (!wanted) co_return wanted.error();
  auto found = co_await core->parts.store.read(
      [terms = wanted->terms, nonce = authorization.nonce](store::Txn& txn) {
        const auto key = domain::derive_redemption_key(terms, nonce);
        const std::uint64_t ended = store::ended_redemptions(txn, key);
        return store::find_intent(txn, domain::derive_intent_id(terms, nonce, ended));
      });
  if (!found || found->terms != wanted->terms || found->authorization != authorization) {
    co_return refuse(EngineError::not_found, "no payment has this authorization");
  }
  co_return std::move(*found);
}

Awaitable<std::optional<domain::TxHash>> Engine::redeemed_in(NewPayment payment,
                                                             domain::Nonce nonce) {
  const auto core = core_;
  domain::Authorization unsigned_one;
  unsigned_one.nonce = nonce;
  auto wanted = intent_of_authorization(*core, domain::CallerId{}, payment, unsigned_one, 0);
  if (!wanted) co_return std::nullopt;
  const auto facts = co_await core->parts.store.read(
      [key = domain::derive_redemption_key(wanted->terms, nonce)](store::Txn& txn) {
        const auto id = store::redeemer_of(txn, key);
        return id ? store::find_facts(txn, *id) : std::nullopt;
      });
  if (!facts || facts->intent.terms != wanted->terms) co_return std::nullopt;
  co_return standing_of(*core, *facts).hash;
}

}  // namespace holdfast::engine
