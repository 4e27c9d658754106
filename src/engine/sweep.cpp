// Owns: the sweep: payments nobody drives, what another engine over this store has moved, and what
// nobody signed in time.
// Must never: end a payment by the wall clock alone.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/teeth.hpp"
#include "engine/core.hpp"
#include "engine/join.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

// Nobody signed it in time. As for what is not signed elsewhere, the chain's clock must say so too:
// a wall clock that jumped ends no payment.
Awaitable<void> expire_unsigned(Core& core, std::int64_t& cursor) {
  constexpr std::size_t most_looked_at = 1'000;
  if (core.is_restored()) co_return;  // what was lost may have been signed since
  const store::Unsigned found = co_await core.parts.store.read(
      [now_s = core.wall_ms() / 1000, after = cursor](store::Txn& txn) {
        return store::expired_unsigned(txn, now_s, after, most_looked_at);
      });
  for (const domain::Intent& intent : found.expired) {
    Unit* const unit = core.unit(intent.terms.chain);
    const bool is_over = unit != nullptr && (planted(Tooth::expired_by_wall) ||
                                             unit->view.latest_time_s() >= intent.publish_before_s);
    if (!is_over) continue;
    store::Move cancel;
    cancel.id = intent.id;
    cancel.to = domain::IntentState::canceled;
    cancel.from = domain::IntentState::created;
    cancel.actor = domain::Actor::system;
    cancel.reason = "expired";
    // Signed at the last moment, or canceled: then it is not ours to end.
    std::ignore = co_await core.move(std::move(cancel));
  }
  cursor = found.next;
}

// Another engine over this store may have moved a payment, and ended since: the watch of this one
// would never follow it.
Awaitable<void> follow_others(Core& core, Unit& unit) {
  constexpr std::size_t page = 1'000;
  std::vector<domain::IntentId> moved;
  std::set<domain::IntentId> seen;
  std::optional<store::WatchedPlace> after = store::WatchedPlace{};
  while (after) {
    const auto rows =
        co_await core.parts.store.read([id = unit.id(), from = *after](store::Txn& txn) {
          return store::watched_versions(txn, id, from, page);
        });
    for (const auto& [id, version] : rows.items) {
      seen.insert(id);
      const Watched* const watched = unit.watch.find(id);
      if (watched == nullptr || watched->intent.version < version) moved.push_back(id);
    }
    after = rows.next;
  }
  for (const domain::IntentId& id : unit.watch.all()) {
    if (!seen.contains(id)) moved.push_back(id);  // ended there, it seems
  }
  for (const domain::IntentId& id : moved) {
    const auto facts = co_await core.parts.store.read(
        [id](store::Txn& txn) { return store::find_facts(txn, id); });
    if (facts) core.changed(*facts);
  }
  if (unit.usable && !moved.empty()) std::ignore = co_await look_for(core, unit, std::move(moved));
}

/// True when somebody has run it.
Awaitable<bool> look_at_review(Core& core, Unit& unit, domain::Intent intent) {
  ports::Method* const method = core.method(intent.terms);
  if (method == nullptr || !unit.usable) co_return false;
  const auto used = co_await method->read_authorization(intent);
  co_return used.tx&& core.note_mined(unit, {intent.id, false}, *used.tx);
}

// Somebody may have run a payer's authorization in a block that nobody here has read: a payment in
// review is driven by no delivery, so it is asked for here. That our own bytes reverted says only
// that they came second, or too late.
Awaitable<void> look_at_reviews(Core& core, Unit& unit) {
  constexpr std::size_t most_asked = 100;
  std::vector<domain::Intent> bearers;
  for (const domain::IntentId& id : unit.watch.all()) {
    const Watched* const watched = unit.watch.find(id);
    const bool waits =
        watched->intent.state == domain::IntentState::needs_review && watched->intent.bearer;
    const bool is_run = watched->inclusion && watched->inclusion->tx.succeeded;
    if (waits && !is_run) bearers.push_back(watched->intent);
  }
  if (bearers.empty()) co_return;
  const std::size_t first = unit.reviews_asked % bearers.size();
  std::rotate(bearers.begin(), bearers.begin() + static_cast<std::ptrdiff_t>(first), bearers.end());
  bearers.resize(std::min(bearers.size(), most_asked));
  unit.reviews_asked = first + bearers.size();
  std::vector<Awaitable<bool>> asked;
  asked.reserve(bearers.size());
  for (domain::Intent& intent : bearers) asked.push_back(look_at_review(core, unit, intent));
  co_await join_all(std::move(asked));
}

}  // namespace

Awaitable<void> sweep(Core& core) {
  constexpr std::size_t most_looked_at = 1'000;
  std::int64_t cursor = 0;
  while (!core.draining && !core.broken) {
    try {
      const std::int64_t queue_ms = core.queue_ms();
      const auto found = co_await core.parts.store.write([queue_ms](store::Txn& txn) {
        return store::sweep_undriven(txn, queue_ms, most_looked_at);
      });
      for (const domain::IntentId& id : found) {
        core.alarm("undriven_intent", {{"intent", domain::text(id)}});
      }
      if (!found.empty()) core.wake();
      for (const auto& unit : core.units) {
        co_await follow_others(core, *unit);
        co_await look_at_reviews(core, *unit);
      }
      co_await expire_unsigned(core, cursor);
    } catch (const store::StoreInDoubt& what) {
      core.break_off(what.what());
    } catch (const store::StoreUnavailable& what) {
      log::warn("sweep_failed", {{"why", what.what()}});
    } catch (const store::StoreBusy& what) {
      log::warn("sweep_failed", {{"why", what.what()}});
    }
    co_await core.parts.clock.sleep(core.config.sweep_ms);
  }
}

}  // namespace holdfast::engine
