// Owns: the endpoints behind a simulated chain: how far behind each of them is, whom a call goes
// to, which branch it follows, and when one hears of what another was posted.
// Must never: draw from the chance of anything else, or keep to a branch once its blocks would be
// final on the other: finality promises as much of every node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <holdfast/ports/chain.hpp>

#include "sim/executor.hpp"

namespace holdfast::sim {

/// One node behind the name that is called. It never goes back by itself: what it shows is the
/// chain of so many blocks ago.
struct Endpoint {
  std::uint64_t lag = 0;      ///< in blocks
  std::int64_t hears_ms = 0;  ///< after another, of a transaction that waits
};

/// How often they differed.
struct EndpointCounts {
  std::uint64_t behind = 0;    ///< calls answered by one that is behind
  std::uint64_t unheard = 0;   ///< of a transaction that waits, one had not heard
  std::uint64_t old_branch = 0;  ///< blocks shown that had been taken back
  std::uint64_t vain_yes = 0;  ///< a post taken by one that does not see its number used
};

class Endpoints {
 public:
  Endpoints(std::uint64_t seed, std::vector<Endpoint> all) : chance_(seed), all_(std::move(all)) {}

  /// All are at the newest block from now on, and know all that waits.
  void level();
  const EndpointCounts& counts() const { return counts_; }

  // For the chain that stands behind them.
  /// Whom the next call goes to.
  std::size_t next();
  std::uint64_t lag(std::size_t at) const { return all_[at].lag; }
  /// It was posted to this one, now.
  void posted(const domain::TxHash& hash, std::size_t at, std::int64_t now_ms);
  /// Has this one heard of a transaction that waits?
  bool knows(const domain::TxHash& hash, std::size_t at, std::int64_t now_ms);
  void took_in_vain() { ++counts_.vain_yes; }
  /// These blocks, oldest first, are no more; the chain is as high as before.
  void taken_back(std::vector<ports::Block> blocks);
  /// What this one still shows at this height in place of the chain's own block; null: nothing.
  const ports::Block* old_block(std::size_t at, std::uint64_t height, std::uint64_t newest,
                                std::uint64_t finalized);
  /// The transaction as those blocks hold it; null: none does.
  const domain::MinedTx* old_tx(std::size_t at, const domain::TxHash& hash, std::uint64_t newest,
                                std::uint64_t finalized) const;

 private:
  struct First {
    std::size_t at = 0;
    std::int64_t ms = 0;
  };
  bool follows_old(std::size_t at, std::uint64_t newest, std::uint64_t finalized) const;

  Chance chance_;
  std::vector<Endpoint> all_;
  std::map<domain::TxHash, First> first_;  ///< who was posted it first, and when
  std::vector<ports::Block> old_;          ///< of the newest reorg
  EndpointCounts counts_;
};

}  // namespace holdfast::sim
