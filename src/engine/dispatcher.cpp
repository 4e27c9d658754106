// Owns: leasing jobs, as many as there is room for, and keeping the leases of what runs.
#include "engine/core.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

#include <algorithm>

namespace holdfast::engine {
namespace {

constexpr std::size_t most_in_one_lease = 256;
/// Looks at the queue at least so often: jobs may come back by a lease that ran out elsewhere.
constexpr std::int64_t idle_ms = 1'000;

struct Batch {
  std::vector<store::Leased> jobs;
  std::optional<std::int64_t> next_visible_ms;  ///< read only when the queue gave all it had
};

store::LeaseRequest lease_request(Core& core, std::size_t room) {
  store::LeaseRequest wanted;
  wanted.now_ms = core.queue_ms();
  wanted.lease_ms = core.config.lease_ms;
  wanted.instance = core.instance;
  for (std::size_t i = 0; i < room; ++i) {
    wanted.receipts.push_back(core.parts.entropy.bytes<domain::Receipt>());
  }
  for (const auto& unit : core.units) {
    if (!unit->usable) wanted.paused.push_back(unit->id());
  }
  return wanted;
}

Awaitable<Batch> lease(Core& core, std::size_t room) {
  co_return co_await core.parts.store.write([wanted = lease_request(core, room)](store::Txn& txn) {
    Batch batch;
    batch.jobs = store::lease_jobs(txn, wanted);
    // While a chain is down its jobs are visible and stay: nobody hurries for them.
    if (batch.jobs.size() < wanted.receipts.size() && wanted.paused.empty()) {
      batch.next_visible_ms = store::queue_counts(txn).next_visible_ms;
    }
    return batch;
  });
}

std::int64_t sleep_for(const Core& core, const Batch& batch) {
  if (!batch.next_visible_ms) return idle_ms;
  return std::clamp<std::int64_t>(*batch.next_visible_ms - core.queue_ms(), 1, idle_ms);
}

}  // namespace

Awaitable<void> dispatch(Core& core) {
  core.leasing = true;
  const struct Ended {
    Core& core;
    ~Ended() { core.leasing = false; }
  } ended{core};
  while (!core.draining && !core.broken) {
    const std::uint64_t wakes = core.wakes;
    const std::size_t running = core.held.size();
    const std::size_t room =
        core.config.max_in_flight - std::min<std::size_t>(running, core.config.max_in_flight);
    std::int64_t pause_ms = idle_ms;
    if (room > 0) {
      try {
        Batch batch = co_await lease(core, std::min(room, most_in_one_lease));
        core.stats.leased += batch.jobs.size();
        pause_ms = batch.jobs.size() == most_in_one_lease ? 0 : sleep_for(core, batch);
        for (store::Leased& job : batch.jobs) {
          core.deliveries.spawn(deliver(core, std::move(job)));
        }
      } catch (const store::StoreUnavailable& what) {
        log::warn("store_unavailable", {{"why", what.what()}});
      } catch (const store::StoreBusy& what) {
        // Intake has filled the queue of writes: leasing waits with everybody else.
        log::debug("store_busy", {{"why", what.what()}});
      } catch (const store::StoreInDoubt& what) {
        core.break_off(what.what());
        co_return;
      }
    }
    if (pause_ms > 0 && wakes == core.wakes)
      co_await core.work.wait_for(core.parts.clock, pause_ms);
  }
}

Awaitable<void> keep_leases(Core& core) {
  while (!core.broken) {
    co_await core.parts.clock.sleep(core.config.lease_ms / 3);
    try {
      co_await core.parts.store.keep_mark();
      if (core.held.empty()) continue;
      const std::int64_t until_ms = core.queue_ms() + core.config.lease_ms;
      co_await core.parts.store.write([held = core.held, until_ms](store::Txn& txn) {
        // A receipt that is stale is somebody else's job by now: its delivery will find out.
        for (const domain::Receipt& receipt : held)
          (void)store::extend_lease(txn, receipt, until_ms);
        return held.size();
      });
    } catch (const store::StoreInDoubt& what) {
      core.break_off(what.what());
    } catch (const store::StoreUnavailable& what) {
      log::warn("leases_not_extended", {{"why", what.what()}});
    } catch (const store::StoreBusy& what) {
      log::warn("leases_not_extended", {{"why", what.what()}});
    }
  }
}

}  // namespace holdfast::engine
