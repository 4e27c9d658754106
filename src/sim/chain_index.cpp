#include "sim/chain_index.hpp"

#include <set>

namespace holdfast::sim {

namespace {

/// The refs a transaction moved value for: what its payload ends with, and the numbers of the
/// authorizations it used.
std::set<domain::Ref> refs_moved(const domain::MinedTx& tx) {
  std::set<domain::Ref> out;
  if (!tx.succeeded || tx.transfers.empty()) return out;
  if (tx.trailing_ref) out.insert(*tx.trailing_ref);
  for (const domain::AuthorizationEvent& event : tx.authorizations) {
    if (!event.canceled) out.insert(domain::Ref{event.nonce.value});
  }
  return out;
}

AuthorizationKey key_of(const domain::AuthorizationEvent& event) {
  return {event.asset, event.authorizer, event.nonce};
}

}  // namespace

void ChainIndex::add(const domain::MinedTx& tx) {
  txs_.emplace(tx.hash, tx);
  by_sequence_.emplace(std::pair(tx.sender, tx.sequence.value), tx.hash);
  for (const auto& event : tx.authorizations) by_authorization_.emplace(key_of(event), tx.hash);
  for (const domain::Ref& ref : refs_moved(tx)) moved_[ref].insert(tx.hash);
}

void ChainIndex::remove(const domain::MinedTx& tx) {
  for (const domain::Ref& ref : refs_moved(tx)) moved_[ref].erase(tx.hash);
  for (const auto& event : tx.authorizations) by_authorization_.erase(key_of(event));
  by_sequence_.erase({tx.sender, tx.sequence.value});
  txs_.erase(tx.hash);
}

const domain::MinedTx* ChainIndex::by_hash(const domain::TxHash& hash) const {
  const auto at = txs_.find(hash);
  return at == txs_.end() ? nullptr : &at->second;
}

const domain::MinedTx* ChainIndex::by_sequence(const domain::Address& sender,
                                               std::uint64_t number) const {
  const auto at = by_sequence_.find({sender, number});
  return at == by_sequence_.end() ? nullptr : by_hash(at->second);
}

const domain::MinedTx* ChainIndex::by_authorization(const AuthorizationKey& key) const {
  const auto at = by_authorization_.find(key);
  return at == by_authorization_.end() ? nullptr : by_hash(at->second);
}

std::vector<domain::TxHash> ChainIndex::movers(const domain::Ref& ref) const {
  const auto at = moved_.find(ref);
  if (at == moved_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

}  // namespace holdfast::sim
