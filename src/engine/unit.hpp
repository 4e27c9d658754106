// Owns: one chain as the running engine holds it: the port, its methods, its sending accounts, what
// was read of it last, and who is watched on it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/domain/finality.hpp>
#include <holdfast/engine/config.hpp>
#include <holdfast/engine/keyed_queue.hpp>
#include <holdfast/ports/method.hpp>
#include "base/teeth.hpp"
#include "engine/broadcaster.hpp"
#include "engine/chain_view.hpp"
#include "engine/signal.hpp"
#include "engine/watch.hpp"
#include "store/model.hpp"

namespace holdfast::engine {

struct AccountState {
  domain::Address address;
  std::optional<domain::Sequence> adopt;
  std::uint64_t epoch = 0;
  std::optional<ports::SequenceCounts> counts;  ///< as read last; empty: never
  std::string blocked;  ///< why it takes no claims; empty: it does
  /// Where numbers begin that this store knows nothing of, while it is blocked, and up to where
  /// they were searched for payments of ours.
  std::optional<domain::Sequence> unknown_from;
  std::optional<domain::Sequence> searched_to;
  std::string search_trouble;  ///< why that does not go on; empty: it does
  /// Its newest transactions seen in blocks, whoever sent them: what uses a number is known from
  /// here, never inferred from a count.
  std::map<domain::Sequence, domain::MinedTx> mined;
  /// Numbers the chain has used with finality, and no transaction is found that did (an
  /// authorization by our key, EIP-7702, uses one so): first and last time of that answer, by the
  /// chain's clock. Their own attempts stay watched, and they are never given.
  struct FoundEmpty {
    std::int64_t first_s = 0;
    std::int64_t last_s = 0;
  };
  std::map<domain::Sequence, FoundEmpty> found_empty;
  std::string noop_trouble;  ///< why its noops cannot be signed; empty: nothing is in their way
  /// One behind the last number at which a store that was put back may have forgotten that it
  /// signed: all of them are used, if need be by noops, before an operator can adopt the account.
  std::optional<domain::Sequence> lost_end;
  bool is_unfunded = false;  ///< cannot pay for gas, as a node said last; told once
  /// What it held when that was read last (funds.cpp).
  struct Funds {
    std::optional<std::int64_t> looked_ms;  ///< monotonic; empty: never
    std::optional<domain::Amount> held;  ///< native; empty: no answer yet
    bool is_short = false;  ///< too little for one payment
  } funds;
  bool answered_for = false;  ///< adopted by an operator since the store was found to be restored

  void note(const domain::MinedTx& tx) {
    constexpr std::size_t most = 4'096;
    mined.insert_or_assign(tx.sequence, tx);
    if (mined.size() > most) mined.erase(mined.begin());
  }
  void forget(const domain::BlockRef& block) {
    std::erase_if(mined, [&](const auto& each) { return each.second.block == block; });
  }
};

/// How long the newest block has been the newest.
struct HeadAge {
  std::optional<domain::BlockRef> newest;
  std::int64_t since_ms = 0;  ///< monotonic
  bool told = false;  ///< that it stands still
};

struct Unit {
  Unit(ports::Chain& on, ports::Clock& clock) : chain(on), broadcaster(on, clock, view) {
    head_age.since_ms = clock.mono_ms();
  }

  ports::Chain& chain;
  std::map<std::string, ports::Method*> methods;
  std::vector<AccountState> accounts;
  ChainView view;
  HeadAge head_age;
  Watch watch;
  Broadcaster broadcaster;
  bool usable = false;
  std::string why = "not asked yet";  ///< a sentence while it is not usable
  std::string halted;  ///< why nothing is claimed or posted until a person says so; empty: all well
  /// Acknowledged since the store was found to be restored: where numbers cannot tell what the lost
  /// part of it has sent.
  bool answered_for = false;
  Signal handed_over;  ///< a number was given to its account
  KeyedQueue<domain::Address> account_turns;  ///< who works on an account's open numbers
  std::optional<std::int64_t> unvouched_told_ms;  ///< monotonic: its nodes disagreed about one
  std::string unvouched;  ///< which, and who of them; a sentence, empty when there was none lately
  std::int64_t unvouched_ms = 0;  ///< monotonic: when that was found
  std::size_t reviews_asked = 0;  ///< where the sweep goes on among the payments in review
  bool refs_were_found = false;  ///< refs of ours, in transactions the store knows nothing of
  domain::BlockRef final_noted;  ///< the highest final block the store knows of, and since when
  std::int64_t final_noted_ms = 0;
  /// Some of the numbers whose consumers a chain may have taken back were not answered for: asked
  /// for again, and when they were last (monotonic).
  bool consumed_unread = false;
  std::int64_t consumed_looked_ms = 0;
  std::uint64_t final_followed = 0;  ///< up to here blocks were followed and called final
  /// The newest that this process called final before the chain was not usable: more than the store
  /// has noted, perhaps. The chain is usable again once it stands as it was.
  std::optional<domain::BlockRef> called_final;

  /// A write that ended something on this block's finality noted it. It may be above what is called
  /// final here: a proof is read at the node's own final block.
  void note_called_final(const domain::BlockRef& block) {
    if (halted.empty() && block.height > final_noted.height) final_noted = block;
  }
  /// A block that was called final and was taken back, as far as that was noticed: the listener
  /// halts the chain for it.
  std::optional<std::uint64_t> lost_final;
  /// What is read at a final block above all that is followed may be of a branch on which what is
  /// noted as final never was: noted above that, it would hide for ever that the chain took it
  /// back. So whether that stands is asked first. False also when no node answers: asked again.
  ports::Awaitable<bool> noted_stands(std::uint64_t height);
  struct NotedSeen {
    domain::BlockRef noted;
    domain::BlockRef tip;
    friend bool operator==(const NotedSeen&, const NotedSeen&) = default;
  };
  NotedSeen noted_seen;  ///< what stood when it was asked last, and the tip then
  struct Held {
    domain::Address address;
    std::uint64_t epoch = 0;
  };
  std::vector<Held> accounts_held() const {
    std::vector<Held> out;
    out.reserve(accounts.size());
    for (const AccountState& one : accounts) out.push_back({one.address, one.epoch});
    return out;
  }
  bool was_usable = false;  ///< since it was last brought up, or tried to be

  const domain::ChainId& id() const { return chain.info().id; }
  /// By the blocks followed: an answer may be of before a reorganisation. Where none is followed at
  /// its height, the block it came with is taken to stand.
  domain::Verdict verdict(const domain::MinedTx& tx, const domain::FinalityRule& rule) const {
    const auto followed = view.hash_at(tx.block.height);
    return domain::verdict(domain::Inclusion{tx.block, tx.succeeded},
                           followed.value_or(tx.block.hash), view.heights(), rule);
  }
  bool is_deep(const domain::MinedTx& tx) const {
    const domain::Verdict said = verdict(tx, chain.info().finality);
    return said == domain::Verdict::final || said == domain::Verdict::failed;
  }
  /// Deep enough, and its block is canonical now: followed, or asked for. Nothing is final while
  /// the chain is halted: its word on it was taken back. False also when no node answers.
  ports::Awaitable<bool> is_final(domain::MinedTx tx);
  /// The final transaction at this number, as far as it was seen in a block.
  std::optional<domain::MinedTx> final_at(const domain::Address& address, domain::Sequence at) {
    const AccountState* const state = account(address);
    if (state == nullptr) return std::nullopt;
    const auto seen = state->mined.find(at);
    if (seen == state->mined.end()) return std::nullopt;
    const bool is_final = halted.empty() && is_deep(seen->second);
    if (!is_final && !planted(Tooth::second_number)) return std::nullopt;
    return seen->second;
  }
  /// Everything below it is mined: it is the next of its account. The store alone would say so only
  /// once what is below is final.
  bool is_next(const domain::Slot& slot) {
    const AccountState* const state = account(slot.account);
    return state != nullptr && state->counts && slot.sequence <= state->counts->latest;
  }
  /// What an outside sender took stands in no line: when nobody hears of it, it is overdue with
  /// what cannot be proved.
  bool is_overdue(std::int64_t quiet_ms, const domain::Policy& policy) const {
    return !chain.info().ordered && quiet_ms >= policy.review_after_ms;
  }
  /// Who may send this payment now: a payout leaves the very account its terms name.
  std::vector<store::Candidate> candidates(const domain::Intent& intent) const {
    std::vector<store::Candidate> out;
    if (!halted.empty()) return out;
    // Before all numbers of a restored store are read, what one account was given may have been
    // sent from another.
    const bool is_restoring =
        std::any_of(accounts.begin(), accounts.end(),
                    [](const AccountState& each) { return each.lost_end && !each.answered_for; });
    if (!intent.bearer && is_restoring) return out;
    for (const AccountState& state : accounts) {
      if (!intent.bearer && state.address != intent.terms.payer) continue;
      if (!state.blocked.empty() || !state.counts) continue;
      out.push_back({state.address, state.epoch, state.counts->latest, state.counts->pending});
    }
    return out;
  }
  AccountState* account(const domain::Address& address) {
    for (AccountState& state : accounts) {
      if (state.address == address) return &state;
    }
    return nullptr;
  }
};

}  // namespace holdfast::engine
