// Owns: when the next block of a chain can be there, from how the last ones came. Pure state.
// Must never: put a look off for longer than four polls, or at all where blocks come unevenly.
#pragma once

#include <algorithm>
#include <cstdint>

#include <holdfast/domain/finality.hpp>

namespace holdfast::engine {

/// A chain that makes a block every so many seconds need not be asked for its head in between, and
/// when the next block is due it is asked often: it is seen earlier, for a quarter of the calls.
class Rhythm {
 public:
  /// `poll_ms`: between two looks where nothing better is known.
  explicit Rhythm(std::int64_t poll_ms) : poll_ms_(poll_ms) {}

  /// A look found this newest block, of that time (chain, seconds).
  void saw(const domain::BlockRef& newest, std::int64_t time_s, std::int64_t now_ms) {
    if (newest == newest_) {
      if (now_ms >= due_ms_) ++missed_;
      return;
    }
    const std::int64_t gap_s = time_s - time_s_;
    const bool is_next = newest.height == newest_.height + 1 && gap_s > 0;
    alike_ = is_next && gap_s == gap_s_ ? alike_ + 1 : 0;
    gap_s_ = is_next ? gap_s : 0;
    newest_ = newest;
    time_s_ = time_s;
    missed_ = 0;
    due_ms_ = now_ms + gap_s_ * 1'000;
  }

  /// Until the next look; `all_well`: the last one found a head. A little before the block is due:
  /// each look comes that much earlier in the block's life, until one comes too early.
  std::int64_t pause_ms(std::int64_t now_ms, bool all_well) const {
    constexpr int enough_alike = 3;
    constexpr int most_missed = 8;
    if (!all_well || alike_ < enough_alike || missed_ > most_missed) return poll_ms_;
    const std::int64_t left_ms = due_ms_ - poll_ms_ / 8 - now_ms;
    if (missed_ == 0 && left_ms > 0) return std::min(left_ms, 4 * poll_ms_);
    return std::clamp<std::int64_t>((poll_ms_ / 4) << std::min(missed_, 2), 1, poll_ms_);
  }

 private:
  std::int64_t poll_ms_;
  domain::BlockRef newest_;
  std::int64_t time_s_ = 0;
  std::int64_t gap_s_ = 0;  ///< between the newest two; zero: they did not follow one another
  int alike_ = 0;  ///< gaps in a row that were as long as the one before
  std::int64_t due_ms_ = 0;  ///< monotonic
  int missed_ = 0;  ///< looks since then that found nothing new
};

}  // namespace holdfast::engine
