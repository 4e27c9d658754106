// Owns: leasing jobs, as many as there is room for, and keeping the leases of what runs.
#include "engine/core.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

#include <algorithm>
#include <utility>

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
  // One draw for all of them, told apart by their last two bytes: most looks find few jobs.
  static_assert(most_in_one_lease <= 0x1'0000);
  domain::Receipt receipt = core.parts.entropy.bytes<domain::Receipt>();
  wanted.receipts.reserve(room);
  for (std::size_t i = 0; i < room; ++i) {
    receipt.value[domain::Receipt::size - 2] = static_cast<Byte>(i >> 8U);
    receipt.value[domain::Receipt::size - 1] = static_cast<Byte>(i & 0xffU);
    wanted.receipts.push_back(receipt);
  }
  for (const auto& unit : core.units) {
    if (!unit->usable) wanted.paused.push_back(unit->id());
  }
  return wanted;
}

// A receipt that is stale is somebody else's job by now: its delivery will find out.
void extend_all(store::Txn& txn, const std::unordered_set<domain::Receipt>& held,
                std::int64_t until_ms) {
  for (const domain::Receipt& receipt : held) (void)store::extend_lease(txn, receipt, until_ms);
}

// After an outage of the store, or when the process slept, the leases of what still runs here may
// have run out. They are extended before anything is leased: else the jobs would be handed out
// again, and an outage would spend their delivery budget.
std::unordered_set<domain::Receipt> overdue(const Core& core) {
  const std::int64_t since_ms = core.parts.clock.mono_ms() - core.leases_kept_ms;
  if (since_ms <= core.config.lease_ms / 2) return {};
  return core.held;
}

Awaitable<Batch> lease(Core& core, std::size_t room) {
  const std::int64_t now_ms = core.parts.clock.mono_ms();
  auto held = overdue(core);
  const bool extends = !held.empty();
  Batch leased = co_await core.parts.store.write(
      [wanted = lease_request(core, room), held = std::move(held)](store::Txn& txn) {
        extend_all(txn, held, wanted.now_ms + wanted.lease_ms);
        Batch batch;
        batch.jobs = store::lease_jobs(txn, wanted);
        // While a chain is down its jobs are visible and stay: nobody hurries for them.
        if (batch.jobs.size() < wanted.receipts.size() && wanted.paused.empty()) {
          batch.next_visible_ms = store::next_visible_ms(txn);
        }
        return batch;
      });
  if (extends) core.leases_kept_ms = now_ms;
  co_return leased;
}

/// Whether jobs can be leased at all: nobody begins what could not be recorded. While the store
/// cannot write, the smallest write there is asks each time whether it can again.
class Writable {
 public:
  explicit Writable(Core& core) : core_(core) {}

  Awaitable<bool> ask() {
    const auto trouble = core_.parts.store.trouble();
    if (!trouble) co_return note(true, "");
    if (trouble->cause == sql::Cause::corrupt) {
      core_.break_off(trouble->what);
      co_return false;
    }
    note(false, trouble->what);
    co_await core_.parts.store.write(
        [now_ms = core_.wall_ms()](store::Txn& txn) { store::probe_write(txn, now_ms); });
    co_return note(true, "");
  }

 private:
  bool note(bool writable, std::string_view why) {
    if (std::exchange(writable_, writable) == writable) return writable;
    if (writable) {
      log::info("store_writable", {});
    } else {
      core_.alarm("store_not_writable", {{"why", why}});
    }
    return writable;
  }

  Core& core_;
  bool writable_ = true;
};

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
  Writable writable(core);
  while (!core.draining && !core.broken) {
    std::uint64_t wakes = core.wakes;
    const std::size_t running = core.held.size();
    const std::size_t room =
        core.config.max_in_flight - std::min<std::size_t>(running, core.config.max_in_flight);
    std::int64_t pause_ms = idle_ms;
    if (room > 0) {
      try {
        if (!co_await writable.ask()) continue;
        Batch batch = co_await lease(core, std::min(room, most_in_one_lease));
        core.stats.leased += batch.jobs.size();
        pause_ms = batch.jobs.size() == most_in_one_lease ? 0 : sleep_for(core, batch);
        for (store::Leased& job : batch.jobs) {
          core.deliveries.spawn(deliver(core, std::make_unique<store::Leased>(std::move(job))));
        }
      } catch (const store::StoreUnavailable& what) {
        log::warn("store_unavailable", {{"why", what.what()}});
        wakes = core.wakes;  // whoever woke us meanwhile has to wait for the store as well
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

namespace {

// A mark that lags is no harm, and no reason to let a lease go.
Awaitable<void> keep_mark(Core& core) {
  try {
    co_await core.parts.store.keep_mark();
  } catch (const store::StoreUnavailable& what) {
    log::warn("mark_not_kept", {{"why", what.what()}});
  } catch (const store::StoreBusy& what) {
    log::debug("mark_not_kept", {{"why", what.what()}});
  }
}

}  // namespace

Awaitable<void> keep_leases(Core& core) {
  while (!core.broken) {
    co_await core.parts.clock.sleep(core.config.lease_ms / 3);
    try {
      co_await keep_mark(core);
      const std::int64_t now_ms = core.parts.clock.mono_ms();
      const std::int64_t until_ms = core.queue_ms() + core.config.lease_ms;
      if (!core.held.empty()) {
        co_await core.parts.store.write(
            [held = core.held, until_ms](store::Txn& txn) { extend_all(txn, held, until_ms); });
      }
      core.leases_kept_ms = now_ms;
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
