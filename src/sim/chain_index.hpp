// Owns: the mined transactions of the canonical chain, found by hash, by sender and number, and by
// authorization; and how often value moved for each ref.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <holdfast/domain/mined_tx.hpp>

#include "sim/wire.hpp"

namespace holdfast::sim {

class ChainIndex {
 public:
  void add(const domain::MinedTx& tx);
  /// Its block is canonical no more.
  void remove(const domain::MinedTx& tx);

  // Null: not on the chain.
  const domain::MinedTx* by_hash(const domain::TxHash& hash) const;
  const domain::MinedTx* by_sequence(const domain::Address& sender, std::uint64_t number) const;
  const domain::MinedTx* by_authorization(const AuthorizationKey& key) const;

  std::size_t moved(const domain::Ref& ref) const { return movers(ref).size(); }
  /// The transactions that moved value for this ref.
  std::vector<domain::TxHash> movers(const domain::Ref& ref) const;

 private:
  std::map<domain::TxHash, domain::MinedTx> txs_;
  std::map<std::pair<domain::Address, std::uint64_t>, domain::TxHash> by_sequence_;
  std::map<AuthorizationKey, domain::TxHash> by_authorization_;
  std::map<domain::Ref, std::set<domain::TxHash>> moved_;
};

}  // namespace holdfast::sim
