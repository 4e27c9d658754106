// Owns: what one sending account does by itself, whatever becomes of its payments: noops at numbers
// handed to it and in gaps, stored bytes again in order, the end of numbers the chain has used.
// Must never: sign anything but a noop, or post a payment's bytes that should not run any more.
#pragma once

#include <map>
#include <set>
#include <vector>

#include <holdfast/domain/tend.hpp>
#include "engine/core.hpp"

namespace holdfast::engine {

class Keeper {
 public:
  Keeper(Core& core, Unit& unit, AccountState& account)
      : core_(core), unit_(unit), account_(account) {}

  /// One round over the account's open numbers.
  Awaitable<void> run_round();
  /// Derives every open slot again from the chain (rule 7), but those of a leased job.
  Awaitable<ReconcileReport> reconcile();

 private:
  /// An open number with what was found of it in this round.
  struct Open {
    store::OpenSlot it;
    domain::FoundAt found = domain::FoundAt::not_asked;
    std::optional<domain::MinedTx> mined;  ///< the one of ours that was found in a block
  };
  /// Kept from round to round: when its bytes went out last, by this process.
  struct LastPost {
    std::int64_t mono_ms = 0;
    std::uint64_t height = 0;
  };

  // keeper.cpp
  Awaitable<std::vector<Open>> read_open();
  void forget_ended(const std::vector<Open>& open);
  Awaitable<void> look_for(std::vector<Open*> numbers);
  Awaitable<void> tend(std::vector<Open>& open);
  std::vector<domain::Tend> plan(const std::vector<Open*>& numbers);
  /// False: its number stands in the way of those above it still.
  Awaitable<bool> act(Open& open, domain::Tend what);
  Awaitable<bool> release(const Open& open);
  Awaitable<void> hand_over(const Open& open);
  Awaitable<void> fill_gaps();

  // noops.cpp. True: bytes were put to a node, which may have them.
  Awaitable<bool> sign_noop(Open& open, bool dearer);
  Awaitable<std::optional<domain::Attempt>> seal_noop(domain::Sequence at, domain::Fees fees);
  /// Empty and not at the ceiling: nobody quotes now.
  struct NoopFees {
    std::optional<domain::Fees> fees;
    bool at_ceiling = false;
  };
  Awaitable<NoopFees> noop_fees(const std::vector<domain::Attempt>& attempts, domain::SlotId slot);
  Awaitable<bool> post_noop(const Open& open);
  Awaitable<bool> post_pay(const Open& open);
  Awaitable<bool> post(const domain::Attempt& attempt, domain::SlotId slot);
  /// Whoever holds this number in memory hears of its change.
  Awaitable<void> tell(const std::optional<domain::IntentId>& item);

  // reconcile.cpp
  Awaitable<void> reconcile(Open& open, ReconcileReport& report);

  // used_numbers.cpp
  /// Numbers that something this store knows nothing of has used: are they payments of ours?
  void tell_foreign(const std::vector<Open>& open);
  Awaitable<void> search_unknown();
  /// False: nobody told what used it.
  Awaitable<bool> search(domain::Sequence at);
  /// A person is told of it once, and hears of it whenever they ask.
  void tell_unread(domain::Sequence at, const std::string& why);
  /// The chain has used it, and what did is not found.
  void note_empty(domain::Sequence at);
  Awaitable<void> end_used(std::vector<Open>& open);
  Awaitable<void> end_used(Open& open);
  Awaitable<void> send_back(const Open& open);

  Core& core_;
  Unit& unit_;
  AccountState& account_;
  std::map<domain::SlotId, LastPost> posts_;
  std::optional<domain::Sequence> last_count_;  ///< the chain's, and since when (monotonic)
  std::int64_t moved_ms_ = 0;
  std::map<domain::Sequence, std::int64_t> gaps_since_;  ///< monotonic
  std::map<domain::SlotId, std::int64_t> ceilings_told_;
  std::map<domain::Sequence, domain::TxHash> foreign_told_;
  std::string noop_trouble_;  ///< of this round
  domain::Sequence used_read_to_;  ///< where a round stopped reading what used our numbers
  domain::Sequence empty_asked_to_;  ///< and asking again for what it did not find
};

}  // namespace holdfast::engine
