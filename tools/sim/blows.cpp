#include "blows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::campaign {

using End = Machine::End;

namespace {

std::int64_t seconds(sim::Chance& chance, std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(1'000 * (from + chance.below(to - from + 1)));
}

domain::Fees any_fees() { return {U256(20'000), U256(500), 100'000}; }

}  // namespace

Blows::Blows(Machine& machine, Clients& clients, Operators& operators, Story& story)
    : machine_(machine), clients_(clients), operators_(operators), story_(story) {}

void Blows::told(Blow blow) { story_.note("*** " + std::string(to_text(blow))); }

void Blows::counted(Blow blow) { ++struck_[static_cast<std::size_t>(blow)]; }

void Blows::struck(Blow blow) {
  told(blow);
  counted(blow);
}

void Blows::last(std::int64_t ms, std::function<void()> end) {
  lasting_.emplace(machine_.world.clock().mono_ms() + ms, std::move(end));
}

void Blows::expire() {
  while (!lasting_.empty() && lasting_.begin()->first <= machine_.world.clock().mono_ms()) {
    const auto end = std::move(lasting_.begin()->second);
    lasting_.erase(lasting_.begin());
    end();
  }
}

void Blows::calm() {
  for (auto& [at_ms, end] : std::exchange(lasting_, {})) end();
  machine_.chain.set_base_fee(U256(1'000));
  machine_.disk.freeze_never();
  machine_.disk.fail_next_sync(false);
  dies_at_step_ = 0;
  again_after_.reset();
  restores_ = false;  // also what one of those ends has just begun
}

void Blows::strike(const Stroke& stroke) {
  sim::Chance chance(stroke.chance);
  switch (stroke.blow) {
    case Blow::process_killed:
    case Blow::power_cut:
    case Blow::killed_in_write:
    case Blow::power_cut_in_write:
    case Blow::drained:
    case Blow::rival_engine:
    case Blow::disk_full:
    case Blow::sync_failed:
    case Blow::process_slept:
    case Blow::wall_clock_set:
    case Blow::signer_down:
    case Blow::killed_again:
    case Blow::backup_restored: return strike_machine(stroke.blow, chance);
    case Blow::node_down:
    case Blow::wrong_chain:
    case Blow::pool_lost:
    case Blow::tx_forgotten:
    case Blow::pool_held:
    case Blow::fee_moved:
    case Blow::reorg_kept:
    case Blow::reorg_dropped:
    case Blow::finality_broken:
    case Blow::token_paused:
    case Blow::fee_spiked:
    case Blow::receipt_invented:
    case Blow::account_poor: return strike_chain(stroke.blow, chance);
    case Blow::foreign_use:
    case Blow::number_used:
    case Blow::used_by_other:
    case Blow::canceled_by_payer:
    case Blow::abandoned:
    case Blow::reconciled: return strike_people(stroke.blow, chance);
  }
}

// ---- the machine

void Blows::die_soon(Blow blow, End end, sim::Chance& chance) {
  // At any item of the executor: each await of everything that is under way then.
  dies_at_step_ = machine_.world.loop().steps() + 1 + chance.below(400);
  dies_by_ = end;
  dies_of_ = blow;
}

void Blows::freeze_in_write(Blow blow, End end, sim::Chance& chance) {
  machine_.set_end_in_write(end);
  in_write_ = blow;
  machine_.disk.freeze_in(1 + chance.below(60));
}

bool Blows::dies_now() const {
  return dies_at_step_ != 0 && machine_.world.loop().steps() >= dies_at_step_;
}

void Blows::die_now() {
  dies_at_step_ = 0;
  if (!machine_.has_process()) return;
  if (dies_of_ != Blow::backup_restored) counted(dies_of_);  // that one counts what is put back
  machine_.die(dies_by_);
}

void Blows::ended() {
  ++ends_;
  dies_at_step_ = 0;
  if (machine_.has_died_in_write()) counted(in_write_);
  machine_.watch.forgive_halt();
  story_.note("the process has ended");
  sim::Chance chance(ends_ * 7'919 + machine_.world.seed());
  const std::int64_t away_ms = chance.below(3) == 0 ? seconds(chance, 0, 40) : 0;
  boot_ms_ = machine_.world.clock().mono_ms() + away_ms;
  if (std::exchange(restores_, false) && machine_.restore_backup()) {
    clients_.begin_again();
    counted(Blow::backup_restored);
    story_.note("the store is one of some time ago");
  }
}

void Blows::booted() {
  if (!again_after_) return;
  dies_at_step_ = machine_.world.loop().steps() + *std::exchange(again_after_, std::nullopt);
  dies_by_ = End::process;
  dies_of_ = Blow::killed_again;
}

bool Blows::may_boot() const { return machine_.world.clock().mono_ms() >= boot_ms_; }
void Blows::boot_later() { boot_ms_ = machine_.world.clock().mono_ms() + 5'000; }

void Blows::strike_machine(Blow blow, sim::Chance& chance) {
  if (!machine_.has_process()) return;
  told(blow);
  switch (blow) {
    case Blow::process_killed: return die_soon(blow, End::process, chance);
    case Blow::power_cut: return die_soon(blow, End::power, chance);
    case Blow::killed_again:
      again_after_ = 1 + chance.below(800);
      return die_soon(blow, End::process, chance);
    case Blow::killed_in_write: return freeze_in_write(blow, End::process, chance);
    case Blow::power_cut_in_write: return freeze_in_write(blow, End::power, chance);
    case Blow::drained:
      if (machine_.drain()) counted(blow);
      return;
    case Blow::rival_engine:
      if (machine_.start_rival()) counted(blow);
      return;
    case Blow::disk_full:
      counted(blow);
      machine_.disk.fill(true);
      return last(seconds(chance, 1, 40), [this] { machine_.disk.fill(false); });
    case Blow::sync_failed: return machine_.disk.fail_next_sync();
    case Blow::process_slept: {
      counted(blow);
      // All that was due meanwhile is due at once.
      const std::int64_t slept_ms = seconds(chance, 5, 90);
      return machine_.world.clock().advance_to(machine_.world.clock().mono_ms() + slept_ms);
    }
    case Blow::wall_clock_set: {
      counted(blow);
      const std::int64_t by_ms = seconds(chance, 1, 600);
      machine_.world.clock().step_wall(chance.below(2) == 0 ? by_ms : -by_ms);
      return;
    }
    case Blow::signer_down:
      counted(blow);
      machine_.set_signer_down(true);
      return last(seconds(chance, 5, 120), [this] { machine_.set_signer_down(false); });
    case Blow::backup_restored:
      machine_.keep_backup();
      ++backups_;
      return last(seconds(chance, 5, 60), [this, chance]() mutable {
        restores_ = true;
        if (machine_.has_process()) die_soon(Blow::backup_restored, End::process, chance);
      });
    default: return;
  }
}

// ---- the chain

void Blows::reorg(Blow blow, sim::Chance& chance) {
  const std::uint64_t height = machine_.chain.height();
  const std::uint64_t open = height - machine_.chain.finalized();
  using Fate = sim::ScriptedChain::Fate;
  if (blow == Blow::finality_broken) {
    if (height < open + 2) return;
    struck(blow);
    const std::uint64_t depth = std::min(open + 1 + chance.below(4), height - 1);
    machine_.watch.finality_was_broken(machine_.chain.newest_txs(depth));
    const std::uint64_t from = height - depth + 1;
    const engine::Engine* const engine = machine_.engine();
    const auto chains = engine != nullptr ? engine->chains() : std::vector<engine::ChainStatus>();
    const bool is_called_final =
        !chains.empty() && chains.front().usable && chains.front().finalized >= from;
    machine_.watch.owe_halt(from, is_called_final);
    story_.note("the blocks from " + std::to_string(from) + " to " + std::to_string(height) +
                " are taken back; " + (machine_.watch.is_halt_owed() ? "a" : "no") +
                " halt is owed");
    return machine_.chain.reorg(depth, chance.below(2) == 0 ? Fate::repooled : Fate::dropped);
  }
  if (open == 0) return;
  struck(blow);
  const std::uint64_t depth = 1 + chance.below(open);
  story_.note("the blocks from " + std::to_string(height - depth + 1) + " to " +
              std::to_string(height) + " are taken back");
  machine_.chain.reorg(depth, blow == Blow::reorg_kept ? Fate::repooled : Fate::dropped);
}

void Blows::strike_chain(Blow blow, sim::Chance& chance) {
  sim::ScriptedChain& chain = machine_.chain;
  switch (blow) {
    case Blow::node_down:
      struck(blow);
      ++nodes_down_;
      chain.script().set_down(true);
      return last(seconds(chance, 1, 60), [this, &chain] {
        if (--nodes_down_ == 0) chain.script().set_down(false);
      });
    case Blow::wrong_chain:
      struck(blow);
      chain.script().set_wrong_chain(true);
      return last(seconds(chance, 1, 30), [&chain] { chain.script().set_wrong_chain(false); });
    case Blow::pool_lost: struck(blow); return chain.forget_pool();
    case Blow::tx_forgotten: {
      const auto pooled = chain.pooled();
      if (pooled.empty()) return;
      struck(blow);
      chain.forget(pooled[chance.below(pooled.size())]);
      return;
    }
    case Blow::pool_held:
      struck(blow);
      chain.hold_pool(true);
      return last(seconds(chance, 5, 120), [&chain] { chain.hold_pool(false); });
    case Blow::fee_moved: struck(blow); return chain.set_base_fee(U256(500 + chance.below(4'000)));
    case Blow::reorg_kept:
    case Blow::reorg_dropped:
    case Blow::finality_broken: return reorg(blow, chance);
    case Blow::token_paused:
      struck(blow);
      ++pauses_;
      chain.set_token({"tkn"}, sim::TokenKind::reverts);
      return last(seconds(chance, 5, 60), [this, &chain] {
        if (--pauses_ == 0) chain.set_token({"tkn"}, sim::TokenKind::honest);
      });
    case Blow::fee_spiked:
      struck(blow);
      ++spikes_;
      chain.set_base_fee(U256(8'000 + chance.below(16'000)));
      return last(seconds(chance, 5, 60), [this, &chain] {
        if (--spikes_ == 0) chain.set_base_fee(U256(1'000));
      });
    case Blow::receipt_invented: {
      const auto pooled = chain.pooled();
      if (pooled.empty() || !chain.invent(pooled[chance.below(pooled.size())])) return;
      struck(blow);
      ++inventions_;
      return last(seconds(chance, 5, 60), [this, &chain] {
        if (--inventions_ == 0) chain.invent_nothing();
      });
    }
    case Blow::account_poor: {
      const domain::Address& account = machine_.accounts[chance.below(machine_.accounts.size())];
      const U256 all = chain.balance(account, domain::native_asset);
      if (all.is_zero() || !chain.take(account, domain::native_asset, all)) return;
      struck(blow);
      return last(seconds(chance, 5, 90),
                  [&chain, account, all] { chain.give(account, domain::native_asset, all); });
    }
    default: return;
  }
}

// ---- other people

// With a number that is free, or in the place of what waits there.
void Blows::use_key(sim::Chance& chance) {
  const domain::Address& account = machine_.accounts[chance.below(machine_.accounts.size())];
  ports::Order order;
  order.sender = account;
  order.sequence = machine_.chain.next_number(account);
  order.fees = any_fees();
  order.call = {thief, U256(1), {}};
  const auto waiting = machine_.chain.next_pending(account);
  if (waiting && chance.below(2) == 0) {
    order.sequence = {machine_.chain.count(account)};
    // What looks most like ours: the same money to the same payee, and no ref.
    auto call = chance.below(2) == 0 ? sim::read_call(*waiting) : std::nullopt;
    if (call) {
      call->ref.reset();
      order.call = sim::to_call(*call);
    }
  }
  if (machine_.chain.try_elsewhere(order)) struck(Blow::foreign_use);
}

// Where a block could still take a transaction of this account back, its numbers would move.
void Blows::use_number(sim::Chance& chance) {
  const domain::Address& account = machine_.accounts[chance.below(machine_.accounts.size())];
  const std::uint64_t count = machine_.chain.count(account);
  if (machine_.chain.final_count(account) != count) return;
  struck(Blow::number_used);
  machine_.chain.use_number(account);
}

void Blows::use_authorization(bool by_payer, sim::Chance& chance) {
  const auto known = clients_.signed_intents();
  if (known.empty()) return;
  const domain::Intent& intent = known[chance.below(known.size())];
  sim::SimCall call;
  call.kind =
      by_payer ? sim::SimCall::Kind::cancel_authorization : sim::SimCall::Kind::authorized_transfer;
  call.asset = intent.terms.asset;
  call.from = intent.terms.payer;
  call.to = intent.terms.payee;
  call.amount = intent.terms.amount;
  call.authorization = intent.authorization ? *intent.authorization : sim::authorize(intent);
  ports::Order order;
  order.sender = by_payer ? payer : thief;
  order.sequence = machine_.chain.next_number(order.sender);
  order.fees = any_fees();
  order.call = sim::to_call(call);
  if (machine_.chain.try_elsewhere(order)) {
    struck(by_payer ? Blow::canceled_by_payer : Blow::used_by_other);
  }
}

void Blows::strike_people(Blow blow, sim::Chance& chance) {
  engine::Engine* const engine = machine_.engine();
  switch (blow) {
    case Blow::foreign_use: return use_key(chance);
    case Blow::number_used: return use_number(chance);
    case Blow::used_by_other: return use_authorization(false, chance);
    case Blow::canceled_by_payer: return use_authorization(true, chance);
    case Blow::abandoned: {
      const auto intent = clients_.some_intent(chance.next());
      if (engine == nullptr || !intent) return;
      struck(blow);
      return operators_.abandon(*engine, intent->id);
    }
    case Blow::reconciled:
      if (engine == nullptr) return;
      struck(blow);
      return operators_.reconcile(*engine, machine_.chain.info().id,
                                  machine_.accounts[chance.below(machine_.accounts.size())]);
    default: return;
  }
}

void Blows::count(Tally& tally) {
  const sim::DiskCounts& disk = machine_.disk.counts();
  struck_[static_cast<std::size_t>(Blow::sync_failed)] = disk.failed_syncs;
  tally.count("machine", "backup kept", backups_);
  for (std::size_t at = 0; at < blow_count; ++at) {
    tally.count("blows", to_text(static_cast<Blow>(at)), struck_[at]);
  }
  for (std::size_t at = 0; at < sim::mishap_count; ++at) {
    const auto mishap = static_cast<sim::Mishap>(at);
    tally.count("mishaps", sim::to_text(mishap), machine_.weather.count(mishap));
  }
  const sim::EndpointCounts& endpoints = machine_.endpoints.counts();
  tally.count("endpoints", "answered by one behind", endpoints.behind);
  tally.count("endpoints", "not heard of what waits", endpoints.unheard);
  tally.count("endpoints", "blocks of the old branch", endpoints.old_branch);
  tally.count("endpoints", "a post taken in vain", endpoints.vain_yes);
  tally.count("disk", "writes", disk.writes);
  tally.count("disk", "syncs", disk.syncs);
  tally.count("disk", "refused: full", disk.full);
  tally.count("disk", "failed syncs", disk.failed_syncs);
  tally.count("disk", "power cuts", disk.power_cuts);
  tally.count("disk", "kept", disk.kept);
  tally.count("disk", "dropped", disk.dropped);
  tally.count("disk", "torn", disk.torn);
  tally.count("disk", "garbled", disk.garbled);
}

}  // namespace holdfast::campaign
