// Owns: following one chain: new blocks, who was mined in them, what was called final and taken
// back.
// Must never: call final what the chain has not said of a block that is followed or asked for.
#include "engine/listener.hpp"

#include <algorithm>

#include <holdfast/store/store.hpp>

namespace holdfast::engine {
namespace {

/// Further behind than this, blocks are skipped and everybody is looked for by hash.
constexpr std::uint64_t most_blocks_behind = 128;
constexpr int failures_until_down = 3;
constexpr std::int64_t accounts_every_ms = 3'000;

}  // namespace

Awaitable<void> Listener::run() {
  while (!core_.broken) {
    try {
      if (!unit_.usable) {
        const std::string before = unit_.why;
        if (co_await bring_up(core_, unit_)) {
          touched_ = unit_.watch.all();
          ended_ = unit_.watch.ended();
          ended_since_s_ = unit_.view.latest_time_s();
        } else if (unit_.why != before) {
          log::warn("chain_not_usable", {{"chain", unit_.id().value}, {"why", unit_.why}});
        }
      } else if (!co_await poll()) {
        if (++failures_ >= failures_until_down) down(unit_.why);
      } else {
        failures_ = 0;
      }
      if (unit_.lost_final) {
        co_await halt(
            core_, unit_,
            "block " + std::to_string(*unit_.lost_final) + " was final and was taken back");
        unit_.lost_final.reset();  // only once it is on record
      }
      if (unit_.usable) co_await ask_ended();
      co_await tell_used_late();
      co_await note_refs();
      if (unit_.usable && unit_.halted.empty()) co_await act();
    } catch (const store::StoreInDoubt& what) {
      core_.break_off(what.what());
      co_return;
    } catch (const store::StoreUnavailable& what) {
      log::warn("store_unavailable", {{"chain", unit_.id().value}, {"why", what.what()}});
    } catch (const store::StoreBusy& what) {
      // Looked at again with the next head.
      log::debug("store_busy", {{"chain", unit_.id().value}, {"why", what.what()}});
    }
    const bool all_well = unit_.usable && failures_ == 0;
    co_await core_.parts.clock.sleep(rhythm_.pause_ms(core_.parts.clock.mono_ms(), all_well));
  }
}

void Listener::down(std::string why) {
  unit_.usable = false;
  unit_.why = std::move(why);
  failures_ = 0;
  core_.alarm("chain_down", {{"chain", unit_.id().value}, {"why", unit_.why}});
}

void Listener::follow_final() {
  const auto tip = unit_.view.tip();
  const std::uint64_t to = std::min(unit_.view.heights().finalized, tip ? tip->height : 0);
  unit_.final_followed = std::max(unit_.final_followed, to);
}

Awaitable<bool> Listener::poll() {
  const std::int64_t asked_ms = core_.parts.clock.mono_ms();
  const auto head = co_await unit_.chain.head();
  if (head.ok() == nullptr) {
    unit_.why = head.text();
    co_return false;
  }
  if (!co_await final_stands(*head.ok())) co_return false;
  see_head(core_, unit_, *head.ok());
  rhythm_.saw(head.ok()->latest, head.ok()->latest_time_s, asked_ms);
  const std::int64_t now_ms = core_.parts.clock.mono_ms();
  if (now_ms - accounts_read_ms_ >= accounts_every_ms) {
    if (!co_await read_accounts(core_, unit_)) co_return false;
    accounts_read_ms_ = now_ms;
  }
  if (const auto final = unit_.view.strays()) {
    if (!co_await take_back(*final)) co_return false;
  }
  if (!co_await catch_up(*head.ok())) co_return false;
  if (noted_in_doubt_ && !co_await final_stands(*head.ok())) co_return false;
  co_await note_finality(core_, unit_);
  co_return true;
}

// A final block below all that is followed, as for some time after a start, is compared with no
// block of ours: the one called final before it is asked for again. So is one that a proof called
// final, when blocks at or below its height were taken back. False: a node did not answer.
Awaitable<bool> Listener::final_stands(const ports::Head& head) {
  const domain::BlockRef noted = unit_.final_noted;
  const domain::BlockRef seen = unit_.view.final_block();
  const bool asks_noted = noted_in_doubt_ || noted.height > seen.height;
  const domain::BlockRef called = asks_noted ? noted : seen;
  const bool is_followed = unit_.view.hash_at(head.finalized.height).has_value();
  const bool is_compared = head.finalized.height <= called.height || is_followed;
  if (called.height == 0 || (is_compared && !noted_in_doubt_)) co_return true;
  const auto answer = co_await unit_.chain.block_hash(called.height);
  if (answer.ok() == nullptr || !*answer.ok()) {
    unit_.why = answer.ok() == nullptr ? answer.text() : "the node lacks a block it called final";
    co_return false;
  }
  noted_in_doubt_ = false;
  if (**answer.ok() != called.hash) unit_.lost_final = called.height;
  co_return true;
}

// Reads blocks up to the head; takes back those that do not link to it. False: a node did not
// answer, the rest is read with the next poll.
Awaitable<bool> Listener::catch_up(const ports::Head& head) {
  const std::uint64_t tip = unit_.view.tip()->height;
  if (head.latest.height > tip + most_blocks_behind) {
    log::info("blocks_skipped", {{"chain", unit_.id().value}, {"from", tip}});
    unit_.usable = false;  // as after a start: everybody is looked for by hash
    unit_.why = "catching up";
    co_return true;
  }
  const auto known = unit_.view.hash_at(head.latest.height);
  if (known && *known != head.latest.hash) {
    domain::BlockRef canonical = head.latest;
    // Against what is final stands only what is asked for now: the head may be of a moment ago.
    if (canonical.height <= unit_.view.heights().finalized) {
      const auto answer = co_await unit_.chain.block_hash(canonical.height);
      if (answer.ok() == nullptr) {
        unit_.why = answer.text();
        co_return false;
      }
      if (!*answer.ok() || **answer.ok() == *known) co_return true;
      canonical.hash = **answer.ok();
    }
    if (!co_await take_back(canonical)) co_return false;
  }
  while (unit_.view.tip()->height < head.latest.height) {
    const auto answer = co_await unit_.chain.block(unit_.view.tip()->height + 1);
    if (answer.ok() == nullptr) {
      unit_.why = answer.text();
      co_return false;
    }
    const auto& block = *answer.ok();
    if (!block) co_return true;  // a node behind the one that told us the head
    if (unit_.view.push(*block)) {
      read_block(*block);
    } else if (!co_await take_back({block->ref.height - 1, block->parent})) {
      co_return false;
    }
  }
  co_return true;
}

// `canonical` is known to be canonical at its height: whatever we followed there or above is not.
Awaitable<bool> Listener::take_back(domain::BlockRef canonical) {
  ++core_.stats.reorgs;
  log::warn("reorg", {{"chain", unit_.id().value}, {"height", canonical.height}});
  follow_final();  // before any is taken back: one read in this very poll may be called final
  const auto drop_tip = [this] {
    const std::uint64_t height = unit_.view.tip()->height;
    if (height <= unit_.final_followed) unit_.lost_final = height;
    // What a proof called final was read ahead of the blocks followed, which may have been of a
    // branch that never led there: whether it went with them is asked.
    if (height <= unit_.final_noted.height) noted_in_doubt_ = true;
    const domain::BlockRef gone = unit_.view.pop();
    for (const domain::IntentId& id : unit_.watch.take_back(gone)) touched_.push_back(id);
    for (AccountState& account : unit_.accounts) account.forget(gone);
  };
  while (unit_.view.tip() && unit_.view.tip()->height >= canonical.height &&
         *unit_.view.tip() != canonical) {
    drop_tip();
  }
  while (unit_.view.tip()) {
    const domain::BlockRef tip = *unit_.view.tip();
    const auto answer = co_await unit_.chain.block_hash(tip.height);
    if (answer.ok() == nullptr) {
      unit_.why = answer.text();
      co_return false;
    }
    // Of a node behind the one that told of a higher block: nothing else stands there.
    if (!*answer.ok()) {
      unit_.why = "a node lacks a block below the head";
      co_return false;
    }
    if (*answer.ok() == tip.hash) co_return true;
    drop_tip();
  }
  // Nothing we followed is left: start over from the head, and look for everybody by hash.
  unit_.usable = false;
  unit_.why = "a reorganisation deeper than what was followed";
  co_return false;
}

void Listener::read_block(const ports::Block& block) {
  for (const domain::MinedTx& tx : block.txs) {
    if (AccountState* const ours = unit_.account(tx.sender)) {
      ours->note(tx);
      const bool may_be_lost = tx.trailing_ref || !tx.authorizations.empty();
      if (may_be_lost && !unit_.watch.knows(tx.hash)) refs_seen_.push_back(tx);
    }
    for (const Watch::Match& match : unit_.watch.match(tx)) {
      if (core_.note_mined(unit_, match, tx)) touched_.push_back(match.id);
    }
    for (const domain::IntentId& id : unit_.watch.match_ended(tx))
      used_late_.emplace_back(id, tx.hash);
  }
}

Awaitable<void> listen(Core& core, Unit& unit) {
  Listener listener(core, unit);
  co_await listener.run();
}

}  // namespace holdfast::engine
