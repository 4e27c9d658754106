// Owns: the engine's picture of one chain: recent canonical blocks, heights, time. Pure state.
// Must never: let the finalized height go down, or keep a block that does not link to its child.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include <holdfast/domain/finality.hpp>
#include <holdfast/ports/chain.hpp>

namespace holdfast::engine {

class ChainView {
 public:
  /// Heights and times of a new head. `safe` and `finalized` never go down: nodes differ, what was
  /// final stays final. `finalized` is believed only once the blocks followed lead to that very
  /// block: a head put together from two reads may name one that is canonical no more as newest.
  void see(const ports::Head& head);
  /// The final block that was told, where another is followed at its height: that one is to be
  /// taken back.
  std::optional<domain::BlockRef> strays() const;

  /// The chain took back what it called final: what it says from now on counts.
  void forget_finality();
  /// The newest block followed; empty before the first.
  std::optional<domain::BlockRef> tip() const;
  /// Starts following from here, forgetting what was before.
  void restart(const domain::BlockRef& ref);
  /// Adds the child of the tip; false when it does not link (the tip is not canonical any more).
  bool push(const ports::Block& block);
  /// Takes the tip back: it was reorganised away.
  domain::BlockRef pop();
  /// The hash followed at this height; empty when not (or no longer) kept.
  std::optional<domain::BlockHash> hash_at(std::uint64_t height) const;

  /// The hash of a final block below all that is followed, once it was asked for.
  std::optional<domain::BlockHash> final_hash_at(std::uint64_t height) const;
  void note_final_hash(const domain::BlockRef& block);

  const domain::ChainHeights& heights() const { return heights_; }
  /// The highest block believed final; height zero before the first.
  const domain::BlockRef& final_block() const { return final_; }
  std::int64_t latest_time_s() const { return latest_time_s_; }
  std::int64_t finalized_time_s() const { return finalized_time_s_; }

 private:
  static constexpr std::size_t most_blocks = 1024;

  void hold();

  std::deque<domain::BlockRef> blocks_;  // consecutive heights, newest last
  std::map<std::uint64_t, domain::BlockHash> final_hashes_;  // the newest that were asked for
  domain::ChainHeights heights_;
  domain::BlockRef told_final_;  // the highest that a head named
  domain::BlockRef final_;  // the highest of those that were believed
  std::int64_t told_final_time_s_ = 0;
  std::int64_t latest_time_s_ = 0;
  std::int64_t finalized_time_s_ = 0;
};

}  // namespace holdfast::engine
