// Owns: the index of payments a chain's listener looks for: by transaction hash, and by bearer
// authorization; and where each was last seen. Pure state, in memory, built again at start.
// Must never: forget a hash because a newer one replaced it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <holdfast/base/boxed.hpp>
#include <holdfast/domain/job.hpp>
#include <holdfast/domain/mined_tx.hpp>
#include <holdfast/domain/refs.hpp>

namespace holdfast::engine {

struct Inclusion {
  domain::MinedTx tx;
  bool own_hash = false;
};

struct Watched {
  domain::Intent intent;
  std::vector<domain::TxHash> hashes;        ///< of all its `pay` attempts
  /// Transactions that carry its ref, and that the store knows nothing else of (rarely any).
  Boxed<std::vector<domain::TxHash>> carriers;
  std::optional<domain::SlotId> slot;
  std::optional<std::int64_t> posted_mono_ms;  ///< newest post by this process
  std::uint64_t posted_height = 0;             ///< the chain's newest block then
  /// Since when nothing was heard of it: its newest post, or its coming to be confirming here.
  std::int64_t quiet_since_ms = 0;
  std::int64_t record_ms = 0;  ///< its record as it was looked at last, and since when (chain time)
  std::int64_t record_seen_s = 0;
  Boxed<Inclusion> inclusion;
  bool lost = false;  ///< its inclusion was just reorganised away
};

/// For how long of the chain's time the record has been as it is: a record's own times are the wall
/// clock's, which is another. Empty: the chain's time is not known.
std::optional<std::int64_t> unchanged_s(Watched& watched, std::int64_t record_ms,
                                        std::int64_t chain_s);

class Watch {
 public:
  /// Adds or refreshes a payment from the facts; keeps where it was seen. Ended intents leave.
  Watched* put(const domain::Facts& facts, std::int64_t mono_ms);
  void posted(const domain::IntentId& id, std::int64_t mono_ms, std::uint64_t height);
  void erase(const domain::IntentId& id);
  Watched* find(const domain::IntentId& id);

  /// Payments this transaction may concern: own hashes first, then authorizations it used.
  struct Match {
    domain::IntentId id;
    bool own_hash = false;
  };
  std::vector<Match> match(const domain::MinedTx& tx) const;
  bool knows(const domain::TxHash& hash) const { return by_hash_.contains(hash); }

  /// Notes where it was mined. A transaction that failed never takes the place of one that paid.
  void include(Watched& watched, domain::MinedTx tx, bool own_hash);
  /// What it was included by does not stand.
  void lose(Watched& watched);
  /// A block went away: its inclusions are lost. Returns whose.
  std::vector<domain::IntentId> take_back(const domain::BlockRef& block);
  /// Payments included at or below this height.
  std::vector<domain::IntentId> included_up_to(std::uint64_t height) const;
  /// Confirming payments not included anywhere, quiet since `mono_ms` or longer.
  std::vector<domain::IntentId> quiet_since(std::int64_t mono_ms) const;
  std::vector<domain::IntentId> all() const;

  /// An ended payment whose authorization anyone may still run, until `Authorization::validity`
  /// ends.
  void put_ended(const domain::Intent& intent);
  /// Those of them this transaction used. An authorization that a payment under way redeems again
  /// is that payment's.
  std::vector<domain::IntentId> match_ended(const domain::MinedTx& tx) const;
  std::vector<domain::IntentId> ended() const;
  void forget_expired(std::int64_t chain_s);

  std::size_t size() const { return watched_.size(); }

 private:
  void forget_inclusion(Watched& watched);

  std::unordered_map<domain::IntentId, Watched> watched_;
  std::unordered_map<domain::TxHash, domain::IntentId> by_hash_;
  // A redemption key covers method and chain, asset, payer and nonce: one log, one intent.
  std::unordered_map<domain::RedemptionKey, domain::IntentId> by_authorization_;
  std::set<std::pair<std::uint64_t, domain::IntentId>> by_height_;
  struct Ended {
    domain::IntentId id;
    std::int64_t until_s = 0;
  };
  std::unordered_map<domain::RedemptionKey, Ended> ended_;
};

/// What an authorization event in a block is looked up by: as the redemption key, without method.
domain::RedemptionKey authorization_key(const domain::AssetId& asset,
                                        const domain::Address& authorizer,
                                        const domain::Nonce& nonce);

}  // namespace holdfast::engine
