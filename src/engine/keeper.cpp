// Owns: the keeper's round: reads the open numbers, asks `domain::tend`, does what it says.
#include "engine/keeper.hpp"

#include <algorithm>

#include "base/teeth.hpp"
#include "engine/funds.hpp"
#include "engine/join.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

/// What is above these comes when they are out of the way.
constexpr std::size_t most_open = 512;
constexpr std::size_t most_gaps = 8;
constexpr std::int64_t round_ms = 2'000;

bool is_wanted(const Core& core, const Unit& unit) {
  return unit.usable && unit.halted.empty() && !core.draining && !core.broken;
}

}  // namespace

Awaitable<std::vector<Keeper::Open>> Keeper::read_open() {
  auto rows = co_await core_.parts.store.read(
      [id = unit_.id(), address = account_.address](store::Txn& txn) {
        return store::open_slots(txn, id, address, most_open);
      });
  std::vector<Open> out;
  out.reserve(rows.size());
  for (store::OpenSlot& row : rows) out.push_back({std::move(row), {}, std::nullopt});
  forget_ended(out);
  co_return out;
}

// What is kept from round to round is of numbers that are open, or that this store knows nothing
// of.
void Keeper::forget_ended(const std::vector<Open>& open) {
  std::set<domain::SlotId> slots;
  std::set<domain::Sequence> numbers;
  for (const Open& one : open) {
    slots.insert(one.it.slot.id);
    numbers.insert(one.it.slot.sequence);
  }
  std::erase_if(posts_, [&](const auto& each) { return !slots.contains(each.first); });
  std::erase_if(ceilings_told_, [&](const auto& each) { return !slots.contains(each.first); });
  std::erase_if(foreign_told_, [&](const auto& each) { return !numbers.contains(each.first); });
  std::erase_if(account_.found_empty, [&](const auto& each) {
    const bool unknown = account_.unknown_from && each.first >= *account_.unknown_from;
    return !unknown && !numbers.contains(each.first);
  });
}

// All hashes of all these numbers, asked in one turn of the loop.
Awaitable<void> Keeper::look_for(std::vector<Open*> numbers) {
  std::vector<Awaitable<ports::Outcome<ports::Whereabouts>>> asked;
  std::vector<std::pair<Open*, const domain::Attempt*>> whose;
  for (Open* const open : numbers) {
    open->found = domain::FoundAt::not_found;
    for (const domain::Attempt& attempt : open->it.attempts) {
      if (!attempt.hash) continue;
      if (planted(Tooth::forget_replaced) && &attempt != &open->it.attempts.back()) continue;
      asked.push_back(unit_.chain.find(*attempt.hash));
      whose.emplace_back(open, &attempt);
    }
  }
  auto answers = co_await join_all(std::move(asked));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& [open, attempt] = whose[i];
    ports::Whereabouts* const found = answers[i].ok();
    domain::FoundAt at = domain::FoundAt::unknown;
    if (found != nullptr && found->place == ports::Whereabouts::Place::pending) {
      at = domain::FoundAt::pending;
    } else if (found != nullptr && found->place == ports::Whereabouts::Place::not_found) {
      at = domain::FoundAt::not_found;
    } else if (found != nullptr && found->tx) {
      at = domain::FoundAt::mined;
      const bool pays = attempt->kind == domain::AttemptKind::pay && attempt->intent;
      if (pays) core_.note_mined(unit_, {*attempt->intent, true}, *found->tx);
      open->mined = std::move(found->tx);
    }
    // The enumerators are in the order of what they tell.
    const bool tells_more = open->found == domain::FoundAt::not_found || at > open->found;
    if (at != domain::FoundAt::not_found && tells_more) open->found = at;
  }
}

std::vector<domain::Tend> Keeper::plan(const std::vector<Open*>& numbers) {
  const std::int64_t now_ms = core_.parts.clock.mono_ms();
  std::vector<domain::OpenNumber> out;
  for (const Open* const open : numbers) {
    const domain::Slot& slot = open->it.slot;
    domain::OpenNumber number;
    number.state = slot.state;
    number.handed_over = slot.handed_over;
    number.is_left = open->it.is_left;
    LastPost last = posts_[slot.id];
    if (open->it.item) {
      number.item = open->it.item->state;
      number.is_unwanted = open->it.item->cancel_asked ||
                           unit_.view.latest_time_s() >= open->it.item->publish_before_s;
      if (const Watched* const watched = unit_.watch.find(open->it.item->id)) {
        last.mono_ms = std::max(last.mono_ms, watched->quiet_since_ms);
        last.height = std::max(last.height, watched->posted_height);
      }
    }
    for (const domain::Attempt& attempt : open->it.attempts) {
      if (attempt.kind != domain::AttemptKind::noop) continue;
      number.has_noop = true;
      number.noop_is_refused = attempt.outcome == domain::AttemptOutcome::refused;
      number.noop_is_out = attempt.outcome != domain::AttemptOutcome::stored &&
                           attempt.outcome != domain::AttemptOutcome::not_sent;
    }
    number.found = open->found;
    number.is_quiet = now_ms - last.mono_ms >= core_.config.policy.stuck_after_ms;
    number.block_since_post = unit_.view.heights().latest > last.height;
    out.push_back(number);
  }
  return domain::tend(out, now_ms - moved_ms_ >= core_.config.policy.stuck_after_ms);
}

Awaitable<void> Keeper::tend(std::vector<Open>& open) {
  if (account_.counts->latest != last_count_) {
    last_count_ = account_.counts->latest;
    moved_ms_ = core_.parts.clock.mono_ms();
  }
  std::vector<Open*> ahead;
  for (Open& one : open) {
    // The count may be of a moment ago: what was read in a block has used its number.
    const domain::Sequence number = one.it.slot.sequence;
    if (number >= account_.counts->latest && !account_.mined.contains(number))
      ahead.push_back(&one);
  }
  std::vector<domain::Tend> acts = plan(ahead);
  std::vector<Open*> unknown;
  for (std::size_t i = 0; i < acts.size(); ++i) {
    if (acts[i] == domain::Tend::look) unknown.push_back(ahead[i]);
  }
  if (!unknown.empty()) {
    co_await look_for(std::move(unknown));
    acts = plan(ahead);
  }
  bool in_order = true;
  for (std::size_t i = 0; i < acts.size() && is_wanted(core_, unit_); ++i) {
    // What is above was planned for when this one is out of its way: with a later round, then.
    if (in_order || !domain::posts(acts[i])) in_order &= co_await act(*ahead[i], acts[i]);
  }
}

Awaitable<bool> Keeper::act(Open& open, domain::Tend what) {
  using domain::Tend;
  if (what == Tend::leave || what == Tend::look) co_return true;
  log::info("tend", {{"account", account_.address.value},
                     {"sequence", open.it.slot.sequence.value},
                     {"what", domain::to_text(what)}});
  switch (what) {
    case Tend::hand_over: co_await hand_over(open); break;
    case Tend::dearer_noop: co_await sign_noop(open, true); break;
    case Tend::sign_noop: co_return co_await sign_noop(open, false);
    case Tend::post_noop: co_return co_await post_noop(open);
    case Tend::post_pay: co_return co_await post_pay(open);
    case Tend::release: co_return co_await release(open);
    case Tend::leave:
    case Tend::look: break;
  }
  co_return true;
}

// A delivery that signs there first is not disturbed: the store refuses then.
Awaitable<bool> Keeper::release(const Open& open) {
  const store::SlotMove move{open.it.slot.id,
                             account_.epoch,
                             open.it.slot.state,
                             domain::SlotState::released,
                             {},
                             "nothing was signed, and its payment does not need it",
                             core_.wall_ms()};
  const auto moved = co_await core_.parts.store.write(
      [move](store::Txn& txn) { return store::move_slot(txn, move); });
  if (!moved) core_.refused(moved.error());
  co_await tell(open.it.slot.item);
  co_return moved.has_value();
}

Awaitable<void> Keeper::hand_over(const Open& open) {
  if (!open.it.item) co_return;
  const char* const why = open.it.is_left ? "its payment has another number"
                          : domain::is_terminal(open.it.item->state)
                              ? "its payment ended, and it was taken back"
                          : open.it.item->cancel_asked ? "cancel asked"
                                                       : "past its publish deadline";
  const store::HandOver wanted{open.it.item->id, open.it.slot.id, account_.epoch, {}, {}, why,
                               core_.wall_ms()};
  const auto facts = co_await core_.parts.store.write(
      [wanted](store::Txn& txn) { return store::hand_over(txn, wanted); });
  if (facts) {
    core_.changed(*facts);
  } else {
    core_.refused(facts.error());
  }
}

Awaitable<void> Keeper::fill_gaps() {
  const std::optional<domain::Sequence> lost_end =
      account_.answered_for ? std::optional<domain::Sequence>{} : account_.lost_end;
  // What a restored store has forgotten is let through where the pool has it, unless nobody mines
  // it: bytes that offer too little are replaced, or nothing behind them would ever be read.
  const bool stands_still =
      lost_end && core_.parts.clock.mono_ms() - moved_ms_ >= core_.config.gap_after_ms;
  const domain::Sequence latest = account_.counts->latest;
  const domain::Sequence from = stands_still ? latest : std::max(latest, account_.counts->pending);
  const auto gaps = co_await core_.parts.store.read(
      [id = unit_.id(), address = account_.address, from, lost_end](store::Txn& txn) {
        return store::gaps(txn, id, address, from, most_gaps, lost_end);
      });
  const std::int64_t now_ms = core_.parts.clock.mono_ms();
  std::erase_if(gaps_since_, [&](const auto& known) {
    return std::find(gaps.begin(), gaps.end(), known.first) == gaps.end();
  });
  for (const domain::Sequence gap : gaps) {
    if (planted(Tooth::gap_left)) break;
    const std::int64_t since_ms = gaps_since_.emplace(gap, now_ms).first->second;
    const bool may_be_lost = lost_end && gap < *lost_end;
    const bool is_due = may_be_lost || now_ms - since_ms >= core_.config.gap_after_ms;
    if (!is_due || !is_wanted(core_, unit_)) continue;
    const NoopFees offer = co_await noop_fees({}, {});
    if (!offer.fees) co_return;
    const auto noop = co_await seal_noop(gap, *offer.fees);
    if (!noop) co_return;
    const store::GapToFill wanted{
        unit_.id(), account_.address,           account_.epoch,  gap,     from,
        *noop,      core_.config.instance_name, core_.wall_ms(), lost_end};
    const auto filled = co_await core_.parts.store.write(
        [wanted](store::Txn& txn) { return store::fill_gap(txn, wanted); });
    if (!filled) {
      core_.refused(filled.error());
      log::info("gap_not_filled", {{"account", account_.address.value},
                                   {"sequence", gap.value},
                                   {"why", filled.error().detail}});
      continue;
    }
    core_.alarm("gap_filled", {{"account", account_.address.value}, {"sequence", gap.value}});
    if (filled->reviewed) {
      core_.count_move(filled->reviewed->intent);
      core_.changed(*filled->reviewed);
    }
  }
}

Awaitable<void> Keeper::run_round() {
  if (!is_wanted(core_, unit_) || !account_.counts) co_return;
  co_await look_at_funds(core_, unit_, account_);
  if (!is_wanted(core_, unit_) || !account_.counts) co_return;
  const auto held = co_await unit_.account_turns.turn(account_.address);
  std::vector<Open> open = co_await read_open();
  noop_trouble_.clear();
  tell_foreign(open);
  co_await end_used(open);
  co_await search_unknown();
  co_await tend(open);
  co_await fill_gaps();
  account_.noop_trouble = noop_trouble_;
}

Awaitable<void> keep_accounts(Core& core, Unit& unit) {
  std::vector<Keeper> keepers;
  keepers.reserve(unit.accounts.size());
  for (AccountState& account : unit.accounts) keepers.emplace_back(core, unit, account);
  while (!core.draining && !core.broken) {
    for (Keeper& keeper : keepers) {
      // One account's trouble is no other's.
      try {
        if (!core.broken) co_await keeper.run_round();
      } catch (const store::StoreInDoubt& what) {
        core.break_off(what.what());
      } catch (const store::StoreUnavailable& what) {
        log::warn("store_unavailable", {{"chain", unit.id().value}, {"why", what.what()}});
      } catch (const store::StoreBusy& what) {
        log::debug("store_busy", {{"chain", unit.id().value}, {"why", what.what()}});
      }
    }
    co_await unit.handed_over.wait_for(core.parts.clock, round_ms);
  }
}

}  // namespace holdfast::engine
