// Owns: who of several endpoints is behind the others: what each said of its newest block, and
// when. Pure. Must never: let one endpoint's word that it is far ahead push out another that is up
// to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace holdfast::evm {

/// Nodes of one chain are seconds apart, those behind one provider's balancer a few blocks. Whoever
/// has not got after half a minute what another had is stopped or still catching up. Until then it
/// holds the chain's head back, so not much longer either.
inline constexpr std::int64_t behind_after_ms = 30'000;

/// An endpoint's newest block.
struct HeadSeen {
  std::uint64_t height = 0;
  std::int64_t time_s = 0;  ///< its own, as the chain's builders set it
};

/// What one endpoint said lately. Times are monotonic, in ms.
class HeadsOfOne {
 public:
  void note(std::uint64_t height, std::int64_t now_ms);
  /// What it had `behind_after_ms` ago and earlier; empty: it had not said anything yet.
  std::optional<std::uint64_t> a_while_ago(std::int64_t now_ms) const;
  void forget() { said_.clear(); }

 private:
  struct One {
    std::int64_t at_ms;
    std::uint64_t height;
  };
  std::deque<One> said_;  // oldest first, at least a second apart
};

/// `others_had`: the highest block that any of the others had a while ago. Behind is who has not
/// come so far, and whose newest block is old by our own clock too: a height is only a claim, and
/// nobody who claims a great one can make an endpoint with a block of this minute look late.
bool is_behind(const HeadSeen& head, std::optional<std::uint64_t> others_had, std::int64_t wall_ms);

}  // namespace holdfast::evm
