// Owns: what goes wrong with the calls to a simulated chain, by chance: how often, and how often it
// did.
// Must never: draw from the chance of anything else: one more kind of trouble leaves the rest of a
// run as it was.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/executor.hpp"
#include "sim/script.hpp"

namespace holdfast::sim {

/// How one call goes wrong. The reads' first, then the posts'.
enum class Mishap {
  read_lost,  ///< no answer
  read_lagging,  ///< an endpoint answers that is some blocks behind
  reply_late,  ///< the answer takes seconds
  post_reply_lost,  ///< taken, and the caller hears nothing
  post_lost,  ///< never arrived, and the caller hears nothing
  post_not_sent,
  post_late,  ///< the caller hears nothing, and it arrives much later
  post_doubled,  ///< arrives twice
  post_forgotten,  ///< "yes", and it is gone
  post_refused,  ///< for a reason that may be true of nothing
  post_refused_kept,  ///< refused by word, and taken all the same
};
inline constexpr std::size_t mishap_count = 11;
std::string_view to_text(Mishap mishap);

/// Chances in a thousand calls, by mishap.
using Odds = std::array<std::uint32_t, mishap_count>;

class ChainWeather {
 public:
  explicit ChainWeather(std::uint64_t seed) : chance_(seed) {}

  void set(const Odds& odds) { odds_ = odds; }
  void clear() { odds_ = {}; }
  std::uint64_t count(Mishap mishap) const { return counts_[static_cast<std::size_t>(mishap)]; }

  // For the chain that stands in it.
  /// Of a read: what goes wrong with it, if anything.
  std::optional<Mishap> read();
  std::optional<Mishap> post();
  /// By how many blocks a lagging endpoint is behind; at least 1.
  std::uint64_t lag() { return 1 + chance_.below(4); }
  /// By how much a late answer or arrival is late.
  std::int64_t late_ms(std::int64_t most) {
    return 1'000 + static_cast<std::int64_t>(chance_.below(static_cast<std::uint64_t>(most)));
  }
  Failure refusal();

 private:
  std::optional<Mishap> draw(Mishap first, Mishap last);

  Chance chance_;
  Odds odds_{};
  std::array<std::uint64_t, mishap_count> counts_{};
};

}  // namespace holdfast::sim
