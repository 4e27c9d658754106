// Owns: following one chain: new blocks, who was mined in them, what became final, what was taken
// back; and the moves that follow (`domain::follow`).
// Must never: settle on anything but a transaction it read in a canonical block.
#include <algorithm>

#include <holdfast/domain/follow.hpp>
#include "base/kill_point.hpp"
#include "base/teeth.hpp"
#include "engine/core.hpp"
#include "engine/join.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

/// Further behind than this, blocks are skipped and everybody is looked for by hash.
constexpr std::uint64_t most_blocks_behind = 128;
constexpr int failures_until_down = 3;
constexpr std::int64_t accounts_every_ms = 3'000;
constexpr std::size_t page = 500;  // payments looked at side by side

class Listener {
 public:
  Listener(Core& core, Unit& unit) : core_(core), unit_(unit) {}

  Awaitable<void> run();

 private:
  Awaitable<bool> poll();
  void follow_final();
  Awaitable<bool> final_stands(const ports::Head& head);
  Awaitable<bool> catch_up(const ports::Head& head);
  Awaitable<bool> take_back(domain::BlockRef newest_known);
  void read_block(const ports::Block& block);
  Awaitable<void> act();
  Awaitable<void> tell_used_late();
  Awaitable<void> note_refs();
  Awaitable<bool> act_on(domain::IntentId id);
  Awaitable<std::optional<bool>> still_canonical(const Inclusion& inclusion);
  Awaitable<bool> move(domain::Facts facts, domain::Follow what, std::optional<Inclusion> seen,
                       domain::Evidence evidence);
  void down(std::string why);

  Core& core_;
  Unit& unit_;
  std::vector<domain::MinedTx> refs_seen_;  // from our accounts, of no payment under way
  std::vector<std::pair<domain::IntentId, domain::TxHash>> used_late_;  ///< after the payment's end
  std::vector<domain::IntentId> touched_;  // included or taken back by the blocks read in this poll
  int failures_ = 0;
  std::int64_t accounts_read_ms_ = 0;
  std::optional<std::uint64_t> lost_final_;  ///< one of those was taken back
};

Awaitable<void> Listener::run() {
  while (!core_.broken) {
    try {
      if (!unit_.usable) {
        const std::string before = unit_.why;
        if (co_await bring_up(core_, unit_)) {
          touched_ = unit_.watch.all();
        } else if (unit_.why != before) {
          log::warn("chain_not_usable", {{"chain", unit_.id().value}, {"why", unit_.why}});
        }
      } else if (!co_await poll()) {
        if (++failures_ >= failures_until_down) down(unit_.why);
      } else {
        failures_ = 0;
      }
      if (lost_final_) {
        co_await halt(core_, unit_,
                      "block " + std::to_string(*lost_final_) + " was final and was taken back");
        lost_final_.reset();  // only once it is on record
      }
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
    co_await core_.parts.clock.sleep(unit_.chain.info().poll_ms);
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
  const auto head = co_await unit_.chain.head();
  if (head.ok() == nullptr) {
    unit_.why = head.text();
    co_return false;
  }
  if (!co_await final_stands(*head.ok())) co_return false;
  see_head(core_, unit_, *head.ok());
  const std::int64_t now_ms = core_.parts.clock.mono_ms();
  if (now_ms - accounts_read_ms_ >= accounts_every_ms) {
    if (!co_await read_accounts(core_, unit_)) co_return false;
    accounts_read_ms_ = now_ms;
  }
  if (const auto final = unit_.view.strays()) {
    if (!co_await take_back(*final)) co_return false;
  }
  if (!co_await catch_up(*head.ok())) co_return false;
  co_await note_finality(core_, unit_);
  co_return true;
}

// A final block below all that is followed, as for some time after a start, is compared with no
// block of ours: the one called final before it is asked for again. False: a node did not answer.
Awaitable<bool> Listener::final_stands(const ports::Head& head) {
  const domain::BlockRef called = unit_.view.final_block();
  const bool is_followed = unit_.view.hash_at(head.finalized.height).has_value();
  if (called.height == 0 || head.finalized.height <= called.height || is_followed) co_return true;
  const auto answer = co_await unit_.chain.block_hash(called.height);
  if (answer.ok() == nullptr || !*answer.ok()) {
    unit_.why = answer.ok() == nullptr ? answer.text() : "the node lacks a block it called final";
    co_return false;
  }
  if (**answer.ok() != called.hash) lost_final_ = called.height;
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
    if (unit_.view.tip()->height <= unit_.final_followed) lost_final_ = unit_.view.tip()->height;
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

// Everybody whose situation may have changed, each in a write of its own, all in one commit.
Awaitable<void> Listener::act() {
  std::vector<domain::IntentId> ids = std::move(touched_);
  touched_.clear();
  if (core_.waiters.any()) {
    // `answer_at` may be reached long before anything is to be done.
    for (const domain::IntentId& id : unit_.watch.included_up_to(unit_.view.heights().latest)) {
      core_.waiters.changed(id);
    }
  }
  if (const auto deep = domain::deep_enough(unit_.view.heights(), unit_.chain.info().finality)) {
    for (const domain::IntentId& id : unit_.watch.included_up_to(*deep)) ids.push_back(id);
  }
  const std::int64_t stuck_since_ms =
      core_.parts.clock.mono_ms() - core_.config.policy.stuck_after_ms;
  for (const domain::IntentId& id : unit_.watch.quiet_since(stuck_since_ms)) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());

  try {
    for (std::size_t from = 0; from < ids.size(); from += page) {
      std::vector<Awaitable<bool>> acts;
      for (std::size_t i = from; i < std::min(ids.size(), from + page); ++i) {
        acts.push_back(act_on(ids[i]));
      }
      co_await join_all(std::move(acts));
    }
  } catch (...) {
    touched_.insert(touched_.end(), ids.begin(), ids.end());  // looked at again with the next head
    throw;
  }
}

// The payment stays as it ended: what became of the money is for a person.
Awaitable<void> Listener::tell_used_late() {
  unit_.watch.forget_expired(unit_.view.latest_time_s());
  while (!used_late_.empty()) {
    const auto used = used_late_.back();
    const bool is_new =
        co_await core_.parts.store.write([used, now_ms = core_.wall_ms()](store::Txn& txn) {
          return store::note_used_after_end(txn, used.first, used.second, now_ms);
        });
    used_late_.pop_back();
    if (!is_new) continue;
    core_.alarm("authorization_used_after_end",
                {{"intent", domain::text(used.first)}, {"tx", used.second.hex()}});
  }
}

// A transaction of our account with a ref, and none of the transactions we know: what a lost part
// of the store, or another engine with our key, paid. A client may yet ask for that very payment.
Awaitable<void> Listener::note_refs() {
  while (!refs_seen_.empty()) {
    co_await note_refs_found(core_, unit_, refs_seen_.back());
    refs_seen_.pop_back();
  }
}

// A block followed by its parent hash is canonical; one below what was followed is asked for.
Awaitable<std::optional<bool>> Listener::still_canonical(const Inclusion& inclusion) {
  const domain::BlockRef block = inclusion.tx.block;
  if (planted(Tooth::reorg_unnoticed)) co_return true;
  if (const auto hash = unit_.view.hash_at(block.height)) co_return *hash == block.hash;
  const auto answer = co_await unit_.chain.block_hash(block.height);
  if (answer.ok() == nullptr || !*answer.ok()) co_return std::nullopt;
  co_return **answer.ok() == block.hash;
}

/// True when it moved.
Awaitable<bool> Listener::act_on(domain::IntentId id) {
  Watched* watched = unit_.watch.find(id);
  if (watched == nullptr) co_return false;
  core_.waiters.changed(id);
  std::optional<Inclusion> inclusion = watched->inclusion;
  domain::FollowSeen seen;
  if (inclusion) {
    const std::optional<bool> canonical = co_await still_canonical(*inclusion);
    if (!canonical) co_return false;  // judged with the next head
    seen.included = true;
    seen.own_hash = inclusion->own_hash;
    const domain::Inclusion at{inclusion->tx.block, inclusion->tx.succeeded};
    seen.verdict = *canonical ? domain::verdict(at, inclusion->tx.block.hash, unit_.view.heights(),
                                                unit_.chain.info().finality)
                              : domain::Verdict::lost;
  } else if (watched->lost) {
    seen.verdict = domain::Verdict::lost;
  }

  auto facts =
      co_await core_.parts.store.read([id](store::Txn& txn) { return store::find_facts(txn, id); });
  watched = unit_.watch.find(id);
  if (!facts || watched == nullptr) co_return false;
  ports::Method* const method = core_.method(facts->intent.terms);
  if (method == nullptr) co_return false;
  if (inclusion) seen.evidence = method->evidence(facts->intent, inclusion->tx, seen.own_hash);
  const bool lost = inclusion && domain::is_lost_part(facts->ref_found_in, inclusion->tx.hash);
  seen.stands_on_other = facts->attempts.empty() || lost;
  const std::int64_t quiet_ms = core_.parts.clock.mono_ms() - watched->quiet_since_ms;
  const bool is_next = facts->slot_is_lowest || (facts->slot && unit_.is_next(*facts->slot)) ||
                       unit_.is_overdue(quiet_ms, core_.config.policy);
  if (!inclusion && (is_next || seen.stands_on_other)) seen.lowest_since_post_ms = quiet_ms;
  domain::Follow what = domain::follow(facts->intent, seen, core_.config.policy);
  // With several numbers, known or lost, the proof is put together where all of them are read.
  const bool has_others = !facts->earlier_slots.empty() || !facts->ref_found_in.empty();
  if (what.move == domain::FollowMove::fail && has_others) {
    what.move = domain::FollowMove::back;
  }
  if (what.move == domain::FollowMove::wait) co_return false;
  const bool ends =
      seen.verdict == domain::Verdict::final || seen.verdict == domain::Verdict::failed;
  const auto says =
      what.move == domain::FollowMove::settle ? ports::Says::paid : ports::Says::unpaid;
  if (inclusion && ends && !co_await vouched(core_, unit_, inclusion->tx, says)) co_return false;
  co_return co_await move(std::move(*facts), what, std::move(inclusion), seen.evidence);
}

Awaitable<bool> Listener::move(domain::Facts facts, domain::Follow what,
                               std::optional<Inclusion> seen, domain::Evidence evidence) {
  using domain::FollowMove;
  store::Move wanted;
  wanted.id = facts.intent.id;
  wanted.actor = domain::Actor::listener;
  wanted.reason = std::string(what.reason);
  wanted.version = facts.intent.version;
  wanted.queue_ms = core_.queue_ms();
  if (seen) {
    wanted.tx_hash = seen->tx.hash;
    for (const domain::Attempt& one : facts.attempts) {
      if (one.hash == seen->tx.hash) wanted.accepted = one.id;
    }
  }
  switch (what.move) {
    case FollowMove::confirm: wanted.to = domain::IntentState::confirming; break;
    case FollowMove::settle:
      wanted.to = domain::IntentState::settled;
      wanted.final_tx = seen->tx;
      wanted.final_is_noted = seen->tx.block.height <= unit_.final_noted;
      wanted.arrived = evidence.arrived;
      wanted.accepted.reset();
      break;
    case FollowMove::review: wanted.to = domain::IntentState::needs_review; break;
    case FollowMove::fail:
      wanted.to = domain::IntentState::failed;
      if (facts.slot) {
        wanted.proof = domain::AllSlotsConsumed{{domain::consumer_of(*facts.slot, seen->tx)}};
      }
      wanted.accepted.reset();
      break;
    case FollowMove::back: wanted.to = domain::IntentState::settling; break;
    case FollowMove::wait: co_return false;
  }
  const bool reverted_for_good =
      what.move == FollowMove::back && seen && what.reason == std::string_view("reverted");
  HOLDFAST_KILL_POINT_IF(what.move == FollowMove::settle, "KP8");
  auto moved = co_await core_.move(std::move(wanted));
  HOLDFAST_KILL_POINT_IF(what.move == FollowMove::settle && moved.has_value(), "KP9");
  if (!moved) {
    log::info("listener_race",
              {{"intent", domain::text(facts.intent.id)}, {"why", moved.error().detail}});
    co_return false;
  }
  if (what.move == FollowMove::review || what.move == FollowMove::fail) {
    core_.alarm("payment_did_not_move", {{"intent", domain::text(facts.intent.id)},
                                         {"ref", facts.intent.ref.hex()},
                                         {"tx", seen ? seen->tx.hash.hex() : ""},
                                         {"reason", what.reason}});
  }
  // A review or a failure has had its line where it was counted.
  if (what.move != FollowMove::review && what.move != FollowMove::fail) {
    log::info(domain::to_text(what.move), {{"intent", domain::text(facts.intent.id)},
                                           {"ref", facts.intent.ref.hex()},
                                           {"reason", what.reason}});
  }
  if (reverted_for_good && moved->slot && moved->slot->sequence == seen->tx.sequence) {
    co_await core_.consume_slot(*moved->slot, seen->tx, std::string(what.reason));
  }
  if (what.move == FollowMove::back) core_.wake();
  // Mined before it was called confirming: it may be final already.
  if (what.move == FollowMove::confirm) touched_.push_back(facts.intent.id);
  co_return true;
}

}  // namespace

Awaitable<void> listen(Core& core, Unit& unit) {
  Listener listener(core, unit);
  co_await listener.run();
}

}  // namespace holdfast::engine
