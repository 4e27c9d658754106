#include <algorithm>

#include "engine/core.hpp"

#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

bool is_watched(domain::IntentState state) {
  using enum domain::IntentState;
  return state == settling || state == confirming || state == needs_review;
}

}  // namespace

Engine::Core::Core(boost::asio::any_io_executor on, Config settings, Parts from)
    : executor(on),
      config(std::move(settings)),
      parts(std::move(from)),
      throttle(parts.clock, config.calls_in_flight, config.calls_per_second),
      deliveries(on, [this](std::exception_ptr error) { task_ended_badly(error); }),
      loops(on, [this](std::exception_ptr error) { task_ended_badly(error); }),
      listeners(on, [this](std::exception_ptr error) { task_ended_badly(error); }) {
  ensure(parts.signer.local(),
         "an attempt is stored after signing: a remote signer's row must stand before the call");
  instance = parts.entropy.bytes<domain::InstanceId>();
  queue_start_ms = parts.clock.wall_ms() - parts.clock.mono_ms();
  leases_kept_ms = parts.clock.mono_ms();
  for (ports::Chain* chain : parts.chains) {
    ensure(chain->info().ordered || chain->info().opaque,
           "a chain of signed bytes has sequences, or it takes orders");
    auto unit = std::make_unique<Unit>(*chain, parts.clock);
    for (ports::Method* offered : parts.methods) {
      if (offered->chain() == unit->id()) unit->methods[offered->name().value] = offered;
    }
    for (const Account& account : parts.accounts) {
      if (account.chain != unit->id()) continue;
      AccountState state;
      state.address = account.address;
      state.adopt = account.adopt;
      unit->accounts.push_back(std::move(state));
    }
    units.push_back(std::move(unit));
  }
}

void Engine::Core::prepare(store::Move& wanted) const {
  if (wanted.who.empty()) wanted.who = config.instance_name;
  wanted.now_ms = wall_ms();
}

void Engine::Core::moved(const Result<domain::Facts>& facts, domain::IntentState to,
                         const std::vector<domain::BlockRef>& ended_by) {
  if (facts) {
    Unit* const on = unit(facts->intent.terms.chain);
    if (on != nullptr) {
      for (const domain::BlockRef& block : ended_by) on->note_called_final(block);
    }
    count_move(facts->intent);
    changed(*facts);
  } else if (facts.error().code == domain::TransitionError::illegal_move ||
             facts.error().code == domain::TransitionError::wrong_actor ||
             facts.error().code == domain::TransitionError::missing_need) {
    alarm("illegal_move", {{"to", domain::to_text(to)}, {"detail", facts.error().detail}});
  }
}

Awaitable<Result<domain::Facts>> Engine::Core::move(std::unique_ptr<store::Move> wanted) {
  prepare(*wanted);
  const domain::IntentState to = wanted->to;
  const std::vector<domain::BlockRef> ended_by = store::final_blocks(*wanted);
  auto facts = co_await parts.store.write(
      [wanted = std::move(wanted)](store::Txn& txn) { return store::move_intent(txn, *wanted); });
  moved(facts, to, ended_by);
  co_return facts;
}

Awaitable<std::vector<Result<domain::Facts>>> Engine::Core::move_all(
    std::vector<store::Move> wanted) {
  struct Kept {
    domain::IntentState to;
    std::vector<domain::BlockRef> ended_by;
  };
  std::vector<Kept> kept;
  kept.reserve(wanted.size());
  for (store::Move& one : wanted) {
    prepare(one);
    kept.push_back({one.to, store::final_blocks(one)});
  }
  auto all = co_await parts.store.write(
      [wanted = std::move(wanted)](store::Txn& txn) { return store::move_intents(txn, wanted); });
  for (std::size_t i = 0; i < all.size(); ++i) moved(all[i], kept[i].to, kept[i].ended_by);
  co_return all;
}

Awaitable<bool> Engine::Core::consume_slot(domain::Slot slot, domain::MinedTx tx, std::string why) {
  Unit* const on = unit(slot.chain);
  const AccountState* const account = on == nullptr ? nullptr : on->account(slot.account);
  if (account == nullptr) co_return false;
  store::SlotMove wanted;
  wanted.slot = slot.id;
  wanted.epoch = account->epoch;
  wanted.to = domain::SlotState::consumed;
  wanted.consumer = std::move(tx);
  wanted.why = std::move(why);
  wanted.now_ms = wall_ms();
  const auto ended = co_await parts.store.write(
      [wanted](store::Txn& txn) { return store::move_slot(txn, wanted); });
  if (ended) {
    on->note_called_final(wanted.consumer->block);
    co_return true;
  }
  refused(ended.error());
  alarm("slot_not_ended", {{"account", slot.account.value},
                           {"sequence", slot.sequence.value},
                           {"why", ended.error().detail}});
  co_return false;
}

void Engine::Core::changed(const domain::Facts& facts) {
  Unit* const on = unit(facts.intent.terms.chain);
  if (on != nullptr) {
    on->broadcaster.note(facts);
    if (is_watched(facts.intent.state)) {
      on->watch.put(facts, parts.clock.mono_ms());
    } else {
      on->watch.erase(facts.intent.id);
      // Nobody of ours was asked to run it, and anybody else still may.
      const bool ended_unrun = (facts.intent.state == domain::IntentState::canceled ||
                                facts.intent.state == domain::IntentState::failed) &&
                               facts.attempts.empty();
      if (ended_unrun) on->watch.put_ended(facts.intent);
    }
  }
  waiters.changed(facts.intent.id);
}

bool Engine::Core::note_mined(Unit& on, const Watch::Match& match, const domain::MinedTx& tx) {
  Watched* const watched = on.watch.find(match.id);
  if (watched == nullptr) return false;
  if (!match.own_hash) {
    ports::Method* const by = method(watched->intent.terms);
    if (by == nullptr) return false;
    const domain::Moved moved = by->evidence(watched->intent, tx, false).moved;
    if (moved != domain::Moved::exact && moved != domain::Moved::less) {
      log::warn("authorization_used_otherwise",
                {{"intent", domain::text(match.id)}, {"tx", tx.hash.hex()}});
      return false;
    }
  }
  on.watch.include(*watched, tx, match.own_hash);
  return true;
}

void Engine::Core::wake() {
  ++wakes;
  work.notify_all();
}

void Engine::Core::count_move(const domain::Intent& intent) {
  switch (intent.state) {
    case domain::IntentState::settled: ++stats.settled; break;
    case domain::IntentState::failed: ++stats.failed; break;
    case domain::IntentState::canceled: ++stats.canceled; break;
    case domain::IntentState::needs_review: ++stats.reviews; break;
    default: return;
  }
  if (intent.state == domain::IntentState::settled) return;
  log::info(
      "payment_" + std::string(domain::to_text(intent.state)),
      {{"intent", domain::text(intent.id)}, {"ref", intent.ref.hex()}, {"reason", intent.reason}});
}

void Engine::Core::alarm(std::string_view event, log::Fields fields) {
  ++stats.alarms;
  log::alarm(event, fields);
}

void Engine::Core::refused(const Error& error) {
  if (error.code == store::StoreError::stale_epoch) break_off(error.detail);
}

void Engine::Core::break_off(std::string_view why) {
  if (broken) return;
  broken = true;
  alarm("engine_stopped", {{"why", why}});
  waiters.changed_all();
  wake();
}

void Engine::Core::task_ended_badly(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& what) {
    break_off(what.what());
  }
}

Unit* Engine::Core::unit(const domain::ChainId& id) {
  for (const auto& unit : units) {
    if (unit->id() == id) return unit.get();
  }
  return nullptr;
}

ports::Method* Engine::Core::method(const domain::Terms& terms) {
  Unit* const on = unit(terms.chain);
  if (on == nullptr) return nullptr;
  const auto found = on->methods.find(terms.method.value);
  return found == on->methods.end() ? nullptr : found->second;
}

domain::Policy Engine::Core::policy_for(const Unit& unit) const {
  domain::Policy policy = config.policy;
  policy.ordered = unit.chain.info().ordered;
  policy.opaque = unit.chain.info().opaque;
  return policy;
}

}  // namespace holdfast::engine
