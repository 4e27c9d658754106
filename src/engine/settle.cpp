// Owns: the loop of one delivery and the acts that end or move it.
#include "engine/settle.hpp"
#include "base/kill_point.hpp"
#include "base/teeth.hpp"

#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

constexpr std::int64_t store_pause_ms = 1'000;

/// Keeps the receipt in the list that the lease keeper extends, as long as the delivery runs.
struct Holding {
  Core& core;
  domain::Receipt receipt;
  Holding(Core& of, const domain::Receipt& mine) : core(of), receipt(mine) {
    core.held.insert(receipt);
  }
  ~Holding() {
    const bool was_full = core.held.size() >= core.config.max_in_flight;
    core.held.erase(receipt);
    if (was_full) core.wake();
  }
};

}  // namespace

namespace {

// Configured once, not any more: the job waits for the configuration to come back.
Awaitable<void> put_back(Core& core, domain::Receipt receipt) {
  const std::int64_t later_ms = core.queue_ms() + core.config.sweep_ms;
  co_await core.parts.store.write([receipt, later_ms](store::Txn& txn) {
    return store::nack_job(txn, receipt, later_ms, "chain or method not configured");
  });
}

}  // namespace

Awaitable<void> deliver(Core& core, std::unique_ptr<store::Leased> leased) {
  const Holding holding(core, leased->lease.receipt);
  const domain::IntentId id = leased->facts.intent.id;
  const bool waits = core.turns.depth(id) > 0;
  const auto turn = co_await core.turns.turn(id);
  Unit* const unit = core.unit(leased->facts.intent.terms.chain);
  ports::Method* const method = core.method(leased->facts.intent.terms);
  try {
    if (unit == nullptr || method == nullptr) {
      co_await put_back(core, leased->lease.receipt);
      co_return;
    }
    Delivery delivery(core, *unit, *method, std::move(*leased));
    leased.reset();
    co_await delivery.run(waits);
  } catch (const store::StoreInDoubt& what) {
    core.break_off(what.what());
  } catch (const store::StoreUnavailable& what) {
    // Neither acked nor nacked: the lease runs out and the job is delivered again.
    log::warn("store_unavailable", {{"intent", domain::text(id)}, {"why", what.what()}});
  } catch (const store::StoreBusy& what) {
    log::warn("store_busy", {{"intent", domain::text(id)}, {"why", what.what()}});
  }
}

Delivery::Delivery(Core& core, Unit& unit, ports::Method& method, store::Leased&& leased)
    : core_(core),
      unit_(unit),
      method_(method),
      lease_(leased.lease),
      facts_(std::move(leased.facts)) {}

Awaitable<void> Delivery::run(bool facts_are_old) {
  HOLDFAST_KILL_POINT("KP0");
  bool read_first = facts_are_old;
  if (!read_first) core_.changed(facts_);
  for (int steps = 0;;) {
    bool pause = false;
    if (steps >= core_.config.most_steps && !poison_) {
      declare_poison();
      read_first = true;
    }
    try {
      if (read_first && co_await read_again() == Flow::done) co_return;
      read_first = false;
      // Somebody else moves it at every step: not even its ending came through.
      const bool too_many = steps > core_.config.most_steps;
      if (too_many) co_await on(domain::step::Nack{core_.config.policy.retry.cap_ms, "in circles"});
      if (too_many || co_await next_step() == Flow::done) co_return;
      ++steps;
    } catch (const store::StoreUnavailable& what) {
      log::warn("store_unavailable",
                {{"intent", domain::text(facts_.intent.id)}, {"why", what.what()}});
      pause = true;
    } catch (const store::StoreBusy&) {
      pause = true;
    }
    // An outage is no fault of the payment: it spends neither steps (those that led to the write
    // that failed are made again each time) nor the delivery budget.
    if (pause && !poison_) steps = 0;
    if (pause) co_await core_.parts.clock.sleep(store_pause_ms);
    read_first = read_first || pause;
  }
}

// What is next is decided afresh, from the stored facts, with the budget spent: a cancel, a failure
// by proof 1, or a review.
void Delivery::declare_poison() {
  poison_ = true;
  core_.alarm("delivery_in_circles", {{"intent", domain::text(facts_.intent.id)},
                                      {"state", domain::to_text(facts_.intent.state)}});
}

Awaitable<Delivery::Flow> Delivery::next_step() {
  if (!unit_.halted.empty() && facts_.intent.state == domain::IntentState::settling) {
    co_return co_await on(domain::step::Nack{core_.config.policy.retry.cap_ms, "chain_halted"});
  }
  if (facts_.slot && unit_.is_next(*facts_.slot)) facts_.slot_is_lowest = true;
  domain::Step next = domain::decide(facts_, seen_, core_.policy_for(unit_), now());
  if (log::is_on(log::Level::debug)) {
    log::debug("step", {{"intent", domain::text(facts_.intent.id)},
                        {"ref", facts_.intent.ref.hex()},
                        {"state", domain::to_text(facts_.intent.state)},
                        {"step", domain::name_of(next)}});
  }
  co_return co_await std::visit([this](auto& act) { return on(std::move(act)); }, next);
}

domain::Now Delivery::now() {
  domain::Now now;
  now.wall_ms = core_.wall_ms();
  now.steady_ms = core_.queue_ms();
  now.chain_s = unit_.view.latest_time_s();
  now.tries = lease_.deliveries > 0 ? lease_.deliveries - 1 : 0;
  now.lapsed_leases = lease_.lapsed_leases;
  now.declared_poison = poison_;
  now.is_restored = core_.is_restored();
  now.jitter = core_.parts.entropy.number();
  if (Watched* const watched = unit_.watch.find(facts_.intent.id)) {
    now.unchanged_s = unchanged_s(*watched, domain::last_record_ms(facts_), now.chain_s);
    if (watched->posted_mono_ms) {
      now.since_post_ms = core_.parts.clock.mono_ms() - *watched->posted_mono_ms;
      now.block_since_post = unit_.view.heights().latest > watched->posted_height;
    }
  }
  return now;
}

const domain::Attempt* Delivery::attempt(domain::AttemptId id) const {
  for (const domain::Attempt& one : facts_.attempts) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

std::unique_ptr<store::Move> Delivery::move_to(domain::IntentState to, std::string reason) const {
  auto move = std::make_unique<store::Move>();
  move->id = facts_.intent.id;
  move->to = to;
  move->actor = domain::Actor::relayer;
  move->reason = std::move(reason);
  move->version = facts_.intent.version;
  move->receipt = lease_.receipt;
  return move;
}

// After a write: its facts, and nothing seen before holds any more. A lost receipt ends the
// delivery; any other race is settled by reading again.
Awaitable<Delivery::Flow> Delivery::take(Result<domain::Facts> facts) {
  if (facts) {
    facts_ = std::move(*facts);
    seen_ = {};
    co_return Flow::again;
  }
  const auto code = facts.error().code;
  if (code == store::StoreError::stale_receipt) co_return Flow::done;
  if (code == store::StoreError::stale_epoch) {
    core_.refused(facts.error());
    co_return Flow::done;
  }
  log::info("write_refused",
            {{"intent", domain::text(facts_.intent.id)}, {"why", facts.error().detail}});
  co_return co_await read_again();
}

Awaitable<Delivery::Flow> Delivery::read_again() {
  auto facts = co_await core_.parts.store.read(
      [id = facts_.intent.id](store::Txn& txn) { return store::find_facts(txn, id); });
  if (!facts) co_return Flow::done;
  facts_ = std::move(*facts);
  seen_ = {};
  core_.changed(facts_);
  co_return Flow::again;
}

// A move that ends the delivery: the job is acked in the same write, or parked where the budget is
// what ended it.
Awaitable<Delivery::Flow> Delivery::finish(std::unique_ptr<store::Move> wanted) {
  wanted->ack = true;
  if (planted(Tooth::ack_first)) {
    co_await on(domain::step::Ack{});
    wanted->receipt.reset();
    wanted->ack = false;
  }
  if (wanted->ack && wanted->reason == "budget_spent")
    wanted->park = poison_ ? "declared_poison" : "budget_spent";
  const std::string verdict = wanted->park;
  auto facts = co_await core_.move(std::move(wanted));
  const bool moved = facts.has_value();
  if (moved && !verdict.empty()) {
    core_.alarm("job_parked", {{"intent", domain::text(facts->intent.id)},
                               {"state", domain::to_text(facts->intent.state)},
                               {"verdict", verdict}});
  }
  const Flow flow = co_await take(std::move(facts));
  if (!moved) co_return flow;
  ++core_.stats.acked;
  co_return Flow::done;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Claim) {
  auto move = move_to(domain::IntentState::settling, "");
  move->candidates = unit_.candidates(facts_.intent);
  if (!unit_.halted.empty() || (move->candidates.empty() && unit_.chain.info().ordered)) {
    // The chain was halted, or its account blocked, since the send slot was taken.
    seen_.send_slot = domain::SendSlotSeen{domain::Blocked::paused};
    co_return Flow::again;
  }
  move->max_unconsumed = unit_.chain.info().max_unconsumed;
  auto claimed = co_await core_.move(std::move(move));
  if (!claimed && claimed.error().code == store::StoreError::account_full) {
    seen_.send_slot = domain::SendSlotSeen{domain::Blocked::account_full};
    co_return Flow::again;
  }
  HOLDFAST_KILL_POINT_IF(claimed.has_value(), "KP1");
  co_return co_await take(std::move(claimed));
}

// Paid by somebody else: no slot is taken, the next move cites their transaction.
Awaitable<Delivery::Flow> Delivery::on(domain::step::ClaimPaid step) {
  auto claimed = co_await core_.move(
      move_to(domain::IntentState::settling, std::string(store::claimed_as_paid)));
  if (!claimed) co_return co_await take(std::move(claimed));
  facts_ = std::move(*claimed);
  auto move = move_to(domain::IntentState::confirming, std::string(store::claimed_as_paid));
  move->tx_hash = step.tx.hash;
  const domain::MinedTx tx = std::move(step.tx);
  const Flow flow = co_await finish(std::move(move));
  if (Watched* watched = unit_.watch.find(facts_.intent.id)) {
    unit_.watch.include(*watched, tx, false);
  }
  co_return flow;
}

Awaitable<Delivery::Flow> Delivery::reserve() {
  const auto from = unit_.candidates(facts_.intent);
  if (from.empty()) {
    co_return co_await on(domain::step::Nack{store_pause_ms, "its account takes no claims"});
  }
  auto facts = co_await core_.parts.store.write(
      [id = facts_.intent.id, version = facts_.intent.version, receipt = lease_.receipt, from,
       most = unit_.chain.info().max_unconsumed, now_ms = core_.wall_ms()](store::Txn& txn) {
        return store::reserve_slot(txn, id, version, receipt, from, most, now_ms);
      });
  using Result = domain::ReserveSeen::Result;
  if (facts) {
    core_.changed(*facts);
  } else if (facts.error().code == store::StoreError::account_full) {
    seen_.reserve = domain::ReserveSeen{Result::account_full};
    co_return Flow::again;
  } else if (facts.error().code == store::StoreError::released_slot_unusable) {
    seen_.reserve = domain::ReserveSeen{Result::released_slot_unusable};
    co_return Flow::again;
  }
  co_return co_await take(std::move(facts));
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Reserve) { return reserve(); }

// The old number is consumed first, or asking for a fresh one would return it again.
Awaitable<Delivery::Flow> Delivery::on(domain::step::ReserveFresh step) {
  ensure(facts_.slot.has_value(), "a fresh number follows another");
  if (step.foreign) {
    core_.alarm("foreign_transaction", {{"intent", domain::text(facts_.intent.id)},
                                        {"account", facts_.slot->account.value},
                                        {"tx", step.consumer.hash.hex()}});
    // Bytes that a restored store has forgotten, say: whose they are is remembered.
    co_await note_refs_found(core_, unit_, step.consumer);
  }
  if (facts_.slot->state != domain::SlotState::consumed) {
    const bool consumed =
        co_await core_.consume_slot(*facts_.slot, step.consumer, "consumed by another transaction");
    if (co_await read_again() == Flow::done) co_return Flow::done;
    if (!consumed) co_return co_await on(domain::step::Nack{store_pause_ms, "slot_not_ended"});
  }
  co_return co_await reserve();
}

// By one of its own attempts, or by a transaction of somebody else that was read and paid it.
Awaitable<Delivery::Flow> Delivery::on(domain::step::Confirm step) {
  // Of several that were read the one it is to stand on: what used its number may be another.
  std::optional<domain::MinedTx> theirs;
  const auto stands_on = [&](const auto& read) {
    if (read && read->tx && read->tx->hash == step.hash) theirs = read->tx;
  };
  stands_on(seen_.authorization);
  stands_on(seen_.consumer);
  stands_on(seen_.ref_found);
  auto move = move_to(domain::IntentState::confirming, "");
  move->tx_hash = step.hash;
  for (const domain::Attempt& one : facts_.attempts) {
    if (one.hash == step.hash) move->accepted = one.id;
  }
  const bool own_hash = move->accepted.has_value();
  // What it stands on is on record before it stands there: bytes that a restored store has lost.
  const bool is_lost = !own_hash && theirs && theirs->trailing_ref;
  if (is_lost) co_await note_refs_found(core_, unit_, *theirs);
  HOLDFAST_KILL_POINT("KP6");
  const Flow flow = co_await finish(std::move(move));
  HOLDFAST_KILL_POINT_IF(flow == Flow::done, "KP7");
  Watched* const watched = unit_.watch.find(facts_.intent.id);
  if (!own_hash && theirs && watched != nullptr) {
    unit_.watch.include(*watched, *theirs, false);
  }
  co_return flow;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Cancel step) {
  auto move = move_to(domain::IntentState::canceled, std::move(step.reason));
  move->actor = domain::Actor::system;
  return finish(std::move(move));
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Fail step) {
  auto move = move_to(domain::IntentState::failed, std::move(step.reason));
  move->tx_hash = facts_.intent.tx_hash;
  move->proof = std::move(step.proof);
  return finish(std::move(move));
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Review step) {
  core_.alarm("needs_review", {{"intent", domain::text(facts_.intent.id)},
                               {"ref", facts_.intent.ref.hex()},
                               {"reason", step.reason}});
  return finish(move_to(domain::IntentState::needs_review, std::move(step.reason)));
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::HandOver step) {
  ensure(facts_.slot.has_value(), "only a slot is handed over");
  const AccountState* const account = unit_.account(facts_.slot->account);
  if (account == nullptr) {
    co_return co_await on(domain::step::Nack{store_pause_ms, "its account is not configured"});
  }
  const store::HandOver wanted{facts_.intent.id,      facts_.slot->id, account->epoch,
                               facts_.intent.version, lease_.receipt,  std::move(step.reason),
                               core_.wall_ms()};
  auto facts = co_await core_.parts.store.write(
      [wanted](store::Txn& txn) { return store::hand_over(txn, wanted); });
  if (facts) {
    core_.changed(*facts);
    unit_.handed_over.notify_all();
  }
  co_return co_await take(std::move(facts));
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Ack) {
  const auto acked = co_await core_.parts.store.write(
      [receipt = lease_.receipt](store::Txn& txn) { return store::ack_job(txn, receipt); });
  if (acked) ++core_.stats.acked;
  co_return Flow::done;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Nack step) {
  const std::int64_t visible_ms = core_.queue_ms() + step.delay_ms;
  const auto nacked = co_await core_.parts.store.write(
      [receipt = lease_.receipt, visible_ms, why = step.why](store::Txn& txn) {
        return store::nack_job(txn, receipt, visible_ms, why);
      });
  if (nacked) {
    ++core_.stats.nacked;
    core_.wake();  // the dispatcher counts its sleep again
  }
  log::debug(
      "nack",
      {{"intent", domain::text(facts_.intent.id)}, {"delay_ms", step.delay_ms}, {"why", step.why}});
  co_return Flow::done;
}

}  // namespace holdfast::engine
