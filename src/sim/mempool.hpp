// Owns: the simulated node's pool: who gets in, who replaces whom, who is next.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <holdfast/ports/outcome.hpp>

#include "sim/books.hpp"

namespace holdfast::sim {

class Mempool {
 public:
  struct Pending {
    SimTx tx;
    Bytes bytes;
    domain::TxHash hash;
    std::uint64_t arrival = 0;
  };

  /// As a common node answers: known, too low a number, a replacement that pays less than a tenth
  /// more, no money for gas and value. A number above the next one is kept waiting.
  ports::Outcome<ports::Posted> admit(SimTx tx, Bytes bytes, domain::TxHash hash,
                                      const Books& books, std::size_t limit);
  /// What may be mined now, earliest arrival first, each account's numbers in order.
  std::vector<Pending> ready(const Books& books) const;
  /// Removes what was mined or can never be any more.
  void settle(const Books& books);

  bool has(const domain::TxHash& hash) const;
  /// Null: it is not there.
  const Pending* find(const domain::TxHash& hash) const;
  /// What stands at this number; empty: nothing.
  std::optional<ports::Call> call_at(const domain::Address& account, std::uint64_t number) const;
  std::vector<domain::TxHash> hashes() const;
  /// The account's count with the pool: what it would be if all ready ones were mined, up to the
  /// first that is not `known`; an empty function knows all.
  std::uint64_t count(const domain::Address& account, const Books& books,
                      const std::function<bool(const domain::TxHash&)>& known = {}) const;
  std::size_t size() const { return pending_.size(); }
  void clear();
  /// False when it is not there.
  bool drop(const domain::TxHash& hash);

 private:
  using Place = std::pair<domain::Address, std::uint64_t>;
  void remove(std::map<Place, Pending>::iterator at);

  std::map<Place, Pending> pending_;
  std::map<domain::TxHash, Place> by_hash_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace holdfast::sim
