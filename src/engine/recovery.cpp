// Owns: what happens before the first lease, and before a chain is used again.
// Must never: sign, or give a number back that was ever signed.
#include <algorithm>
#include <utility>

#include "base/teeth.hpp"
#include "engine/core.hpp"
#include "engine/join.hpp"
#include "engine/keeper.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t page = 500;
constexpr std::size_t most_ended = 100'000;  // watched until their authorizations expire

// The account's number on the chain against the store's own. An account that was used by something
// this store knows nothing of takes no claims until an operator says so.
std::string why_blocked(AccountState& account, const std::optional<store::AccountRow>& row,
                        const std::optional<std::string>& restored) {
  using domain::Sequence;
  // What waits in the pool counts too: it may be a payment of ours that the store has lost.
  const Sequence latest = std::max(account.counts->latest, account.counts->pending);
  const Sequence own = row && row->highest_used ? row->highest_used->next() : Sequence{};
  const Sequence adopted = row && row->adopted ? *row->adopted : Sequence{};
  const Sequence known = std::max({own, adopted, account.adopt.value_or(Sequence{})});
  const bool is_restored = restored && !account.answered_for;
  if (!is_restored) account.unknown_from.reset();
  if (latest > known) {
    if (!account.unknown_from) account.unknown_from = known;
    return "the account " + account.address.value + " is at number " +
           std::to_string(latest.value) + " on the chain, and this store knows of " +
           std::to_string(known.value) +
           ": it was used elsewhere, or the store was restored; adopt it when that is understood";
  }
  if (is_restored) {
    return *restored + "; adopt the account " + account.address.value + " when that is understood";
  }
  return "";
}

// Bytes signed after the backup was made may wait in a pool still, behind a gap where no count
// shows them, and pay when a client asks for the same payment again. An account has at most
// `max_unconsumed` open numbers at a time; between them may be gaps and numbers given back, so
// `lost_end` is twice as far ahead. What used the numbers from the first one whose end this store
// does not know is read, all of it.
Awaitable<void> note_lost_numbers(Core& core, const Unit& unit, AccountState& account,
                                  ports::SequenceCounts counts) {
  if (!core.parts.store.restored() || account.answered_for || account.lost_end) co_return;
  account.unknown_from = co_await core.parts.store.read(
      [id = unit.id(), address = account.address,
       from = account.adopt.value_or(domain::Sequence{})](store::Txn& txn) {
        return store::first_unknown_number(txn, id, address, from);
      });
  account.searched_to.reset();
  account.lost_end = domain::Sequence{std::max(counts.latest, counts.pending).value +
                                      2ULL * unit.chain.info().max_unconsumed};
}

struct Search {
  domain::TxHash hash;
  Watch::Match whose;
};

// Side by side. What was not answered is asked again alone: with thousands waiting, a node that
// fails once in a hundred calls would never be done if each failure began all of it anew.
Awaitable<bool> search(Core& core, Unit& unit, std::vector<Search> wanted) {
  constexpr int most_rounds = 5;
  for (int round = 0; round < most_rounds && !wanted.empty(); ++round) {
    std::vector<ports::Awaitable<ports::Outcome<ports::Whereabouts>>> asked;
    asked.reserve(wanted.size());
    for (const Search& one : wanted) asked.push_back(unit.chain.find(one.hash));
    const auto answers = co_await join_all(std::move(asked));
    std::vector<Search> rest;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const ports::Whereabouts* const found = answers[i].ok();
      if (found == nullptr) {
        rest.push_back(wanted[i]);
      } else if (found->tx) {
        core.note_mined(unit, wanted[i].whose, *found->tx);
      }
    }
    if (rest.size() == answers.size()) co_return false;  // nobody is there
    wanted = std::move(rest);
  }
  const bool all_answered = wanted.empty();
  co_return all_answered;
}

using WatchedPage = store::WatchedPage<domain::Facts>;

Awaitable<WatchedPage> read_watched(Core& core, domain::ChainId on, store::WatchedPlace after) {
  co_return co_await core.parts.store.read(
      [on, after](store::Txn& txn) { return store::watched(txn, on, after, page); });
}

Awaitable<WatchedPage> take_watched(Core& core, WatchedPage facts) {
  for (const domain::Facts& one : facts.items) core.changed(one);
  co_return WatchedPage{};
}

// The next page is read while this one is taken in.
Awaitable<void> load_watched(Core& core, Unit& unit) {
  WatchedPage facts = co_await read_watched(core, unit.id(), {});
  while (facts.next) {
    const store::WatchedPlace next = *facts.next;
    std::vector<Awaitable<WatchedPage>> both;
    both.push_back(read_watched(core, unit.id(), next));
    both.push_back(take_watched(core, std::move(facts)));
    facts = std::move((co_await join_all(std::move(both))).front());
  }
  co_await take_watched(core, std::move(facts));
}

}  // namespace

// Its own transactions, the one of somebody else it stands on, and what carries its ref: a process
// that read those may have ended before they were final.
Awaitable<bool> look_for(Core& core, Unit& unit, std::vector<domain::IntentId> ids) {
  for (std::size_t from = 0; from < ids.size(); from += page) {
    std::vector<Search> wanted;
    for (std::size_t i = from; i < std::min(ids.size(), from + page); ++i) {
      const Watched* const watched = unit.watch.find(ids[i]);
      if (watched == nullptr) continue;
      for (const domain::TxHash& hash : watched->hashes) wanted.push_back({hash, {ids[i], true}});
      const auto& cited = watched->intent.tx_hash;
      const auto& own = watched->hashes;
      if (cited && std::find(own.begin(), own.end(), *cited) == own.end()) {
        wanted.push_back({*cited, {ids[i], false}});
      }
      if (!watched->carriers) continue;
      for (const domain::TxHash& hash : *watched->carriers) {
        if (hash != cited) wanted.push_back({hash, {ids[i], false}});
      }
    }
    if (!co_await search(core, unit, std::move(wanted))) co_return false;
  }
  co_return true;
}

void see_head(Core& core, Unit& unit, const ports::Head& head) {
  // No chain's blocks are usually so far apart. One that makes blocks only for transactions stands
  // still rightly, so this is a line and no alarm.
  constexpr std::int64_t stalled_after_ms = 300'000;
  unit.view.see(head);
  HeadAge& age = unit.head_age;
  const std::int64_t now_ms = core.parts.clock.mono_ms();
  const std::int64_t stood_ms = now_ms - age.since_ms;
  if (age.newest != head.latest) {
    if (age.told) {
      log::info("chain_moves_again", {{"chain", unit.id().value},
                                      {"latest", head.latest.height},
                                      {"stood_still_s", stood_ms / 1000}});
    }
    age = {head.latest, now_ms, false};
  } else if (!age.told && stood_ms >= stalled_after_ms) {
    age.told = true;
    log::warn("chain_stands_still", {{"chain", unit.id().value},
                                     {"latest", head.latest.height},
                                     {"block_time_s", head.latest_time_s},
                                     {"for_s", stood_ms / 1000}});
  }
}

Awaitable<bool> read_accounts(Core& core, Unit& unit) {
  if (!unit.chain.info().ordered) co_return true;
  for (AccountState& account : unit.accounts) {
    const auto counts = co_await unit.chain.sequences(account.address);
    if (counts.ok() == nullptr) {
      unit.why = "the node does not answer for account " + account.address.value;
      co_return false;
    }
    co_await note_lost_numbers(core, unit, account, *counts.ok());
    const auto row = co_await core.parts.store.read(
        [id = unit.id(), address = account.address](store::Txn& txn) {
          return store::find_account(txn, id, address);
        });
    // The counts and what they mean for claims are known at the same moment.
    account.counts = *counts.ok();
    const std::string blocked = why_blocked(account, row, core.parts.store.restored());
    // Where it may claim nothing it writes nothing by which it would learn that another engine has
    // come, and would lease for ever what it must not touch.
    const bool may_claim = unit.halted.empty() && blocked.empty();
    if (!may_claim && row && row->epoch > account.epoch) {
      core.break_off(account.address.value + " was taken over by another engine");
      co_return false;
    }
    if (!blocked.empty() && account.blocked.empty()) {
      ++core.stats.slot_mismatches;
      core.alarm("account_blocked", {{"chain", unit.id().value}, {"why", blocked}});
    }
    account.blocked = planted(Tooth::foreign_use_ignored) ? "" : blocked;
  }
  co_return true;
}

namespace {

// By the chain's time, which is what ends them: a clock of ours may be ahead. Those that have run
// out since are asked for once more, too: nobody may have read the block that used them.
Awaitable<void> load_ended(Core& core, Unit& unit) {
  constexpr std::int64_t unread_s = 86'400;
  const auto ended = co_await core.parts.store.read(
      [id = unit.id(), from_s = unit.view.latest_time_s() - unread_s](store::Txn& txn) {
        return store::ended_authorizations(txn, id, from_s, most_ended);
      });
  for (const domain::Intent& intent : ended) unit.watch.put_ended(intent);
}

}  // namespace

Awaitable<bool> bring_up(Core& core, Unit& unit) {
  const auto checked = co_await unit.chain.check();
  if (checked.ok() == nullptr) {
    unit.why = checked.text();
    co_return false;
  }
  const auto head = co_await unit.chain.head();
  if (head.ok() == nullptr) {
    unit.why = head.text();
    co_return false;
  }
  if (!co_await read_accounts(core, unit)) co_return false;
  if (std::exchange(unit.was_usable, false)) unit.called_final = unit.view.final_block();
  see_head(core, unit, *head.ok());
  unit.view.restart(head.ok()->latest);
  // Seen in blocks that may not be canonical any more.
  for (AccountState& account : unit.accounts) account.mined.clear();
  co_await load_ended(core, unit);
  if (!co_await look_for(core, unit, unit.watch.all())) {
    unit.why = "the node does not answer for all our transactions";
    co_return false;
  }
  if (!co_await is_same_chain(core, unit)) co_return false;
  // Before anything is consumed for being final: a chain that takes it back is known by this.
  co_await note_finality(core, unit);
  for (AccountState& account : unit.accounts) {
    if (unit.chain.info().ordered) co_await Keeper(core, unit, account).reconcile();
  }
  unit.usable = unit.was_usable = true;
  unit.called_final.reset();
  unit.why.clear();
  log::info("chain_up", {{"chain", unit.id().value}, {"latest", head.ok()->latest.height}});
  core.wake();
  co_return true;
}

Awaitable<void> recover(Core& core) {
  const std::int64_t queue_ms = core.queue_ms();
  const std::size_t returned = co_await core.parts.store.write(
      [queue_ms](store::Txn& txn) { return store::return_leases(txn, queue_ms); });
  for (const auto& unit : core.units) {
    for (AccountState& account : unit->accounts) {
      account.epoch = co_await core.parts.store.write([id = unit->id(), address = account.address,
                                                       who = core.config.instance_name,
                                                       now_ms = core.wall_ms()](store::Txn& txn) {
        return store::take_over_account(txn, id, address, who, now_ms);
      });
      account.answered_for = co_await core.parts.store.read(
          [id = unit->id(), address = account.address](store::Txn& txn) {
            const auto row = store::find_account(txn, id, address);
            return row && row->answered_for;
          });
    }
    const store::ChainRecord record = co_await core.parts.store.read(
        [id = unit->id()](store::Txn& txn) { return store::chain_record(txn, id); });
    unit->halted = record.halted;
    unit->answered_for = record.answered_for;
    unit->refs_were_found = record.refs_were_found;
    co_await halt_if_restored(core, *unit);
    unit->broadcaster.stop(!unit->halted.empty());
    co_await load_watched(core, *unit);
  }
  // The last answer was stored, and its process ended before it could say that it was the last.
  co_await answer_for_restored(core, core.config.instance_name);
  log::info("recovered", {{"own_leases", returned}});
}

}  // namespace holdfast::engine
