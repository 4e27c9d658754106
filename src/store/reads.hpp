// Owns: the named reads, bounded, usable on the writing connection and on a read-only one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/store/store.hpp>
#include "store/model.hpp"

namespace holdfast::store {

std::optional<domain::Intent> find_intent(Txn& txn, const domain::IntentId& id);
std::optional<domain::Intent> find_by_ref(Txn& txn, const domain::Ref& ref);
std::optional<domain::Facts> find_facts(Txn& txn, const domain::IntentId& id);
/// Newest first.
IntentPage list_intents(Txn& txn, const ListFilter& filter);

std::vector<Event> history_of(Txn& txn, const domain::IntentId& id);
std::vector<Event> events_after(Txn& txn, std::int64_t after, std::size_t limit);
std::vector<EntryRow> entries_of(Txn& txn, const domain::IntentId& id);
std::vector<BalanceRow> balances(Txn& txn, std::size_t limit);

/// How far a walk over the watched intents has come: settling, then confirming, then in review,
/// each of them oldest first.
struct WatchedPlace {
  domain::IntentState state = domain::IntentState::settling;
  std::int64_t row = 0;
};
template <class Item>
struct WatchedPage {
  std::vector<Item> items;
  std::optional<WatchedPlace> next;  ///< empty: that was the last page
};
/// Intents of this chain the listener must watch, with all their attempts; at most `limit` rows are
/// looked at, whatever their chain. Whoever moves between two pages may come twice, or not at all.
WatchedPage<domain::Facts> watched(Txn& txn, const domain::ChainId& chain,
                                   const WatchedPlace& after, std::size_t limit);
/// The same intents by their versions alone: what another engine over this store has moved is
/// known by them.
struct WatchedVersion {
  domain::IntentId id;
  std::uint64_t version = 0;
};
WatchedPage<WatchedVersion> watched_versions(Txn& txn, const domain::ChainId& chain,
                                             const WatchedPlace& after, std::size_t limit);
/// Slots of an account that are neither consumed nor released, lowest first.
std::vector<OpenSlot> open_slots(Txn& txn, const domain::ChainId& chain,
                                 const domain::Address& account, std::size_t limit);
/// Numbers from the chain's count up to the account's highest open one, or up to `lost_end` (see
/// GapToFill) where that is higher, that no unreleased slot holds, lowest first.
std::vector<domain::Sequence> gaps(Txn& txn, const domain::ChainId& chain,
                                   const domain::Address& account, domain::Sequence chain_latest,
                                   std::size_t limit,
                                   const std::optional<domain::Sequence>& lost_end = {});
std::optional<domain::Slot> find_slot(Txn& txn, domain::SlotId id);
std::optional<AccountRow> find_account(Txn& txn, const domain::ChainId& chain,
                                       const domain::Address& account);
/// Bearer payments that ended canceled or failed by proof 1 while their authorization can still be
/// run, until after `now_s` (chain or wall seconds); the last to expire first, at most `limit`.
std::vector<domain::Intent> ended_authorizations(Txn& txn, const domain::ChainId& chain,
                                                 std::int64_t now_s, std::size_t limit);
/// The lowest number, from `from` and from what an operator adopted on, whose end this store
/// does not know. Reads each number it gave, once: for a store that was put back.
domain::Sequence first_unknown_number(Txn& txn, const domain::ChainId& chain,
                                      const domain::Address& account, domain::Sequence from);
/// It was put back from a backup, and nobody has answered for it.
bool is_restored(Txn& txn);
ChainRecord chain_record(Txn& txn, const domain::ChainId& chain);
/// Consumed slots of this chain's accounts, with what consumed them: the newest `limit` of those
/// made before that one.
std::vector<domain::Slot> newest_consumed(Txn& txn, const domain::ChainId& chain,
                                          const std::optional<domain::SlotId>& before,
                                          std::size_t limit);
std::optional<JobRow> find_job(Txn& txn, const domain::IntentId& id);
struct QueueCounts {
  std::uint64_t queued = 0;
  std::uint64_t leased = 0;
};
/// Walks the whole queue: for people, not for every lease.
QueueCounts queue_counts(Txn& txn);
/// When the earliest job or the end of a lease comes; empty: there is no job.
std::optional<std::int64_t> next_visible_ms(Txn& txn);
std::vector<std::pair<domain::IntentState, std::uint64_t>> state_counts(Txn& txn);

std::vector<ApiKey> api_keys(Txn& txn);
/// The intent with this redemption key that has not ended so.
std::optional<domain::IntentId> redeemer_of(Txn& txn, const domain::RedemptionKey& key);
/// How many intents with this redemption key ended canceled or failed by proof 1.
std::uint64_t ended_redemptions(Txn& txn, const domain::RedemptionKey& key);

}  // namespace holdfast::store
