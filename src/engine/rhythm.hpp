// Owns: when the next block of a chain can be there, from how the last ones came. Pure state.
// Must never: put a look off for longer than four polls, or at all where blocks come unevenly.
#pragma once

#include <algorithm>
#include <cstdint>

#include <holdfast/domain/finality.hpp>

namespace holdfast::engine {

/// A chain that makes a block every so many seconds need not be asked for its head in between, and
/// when the next block is due it is asked often: it is seen earlier, for a quarter of the calls.
///
/// A look that finds a block does not tell when the block came, but only that it came after the
/// last look that found none. That much is halved from block to block until it is small, and then
/// kept: a look too early is a call for nothing.
class Rhythm {
 public:
  /// `poll_ms`: between two looks where nothing better is known.
  explicit Rhythm(std::int64_t poll_ms) : poll_ms_(poll_ms), late_ms_(poll_ms) {}

  /// A look that began then (monotonic) found this newest block, of that time (chain, seconds).
  void saw(const domain::BlockRef& newest, std::int64_t time_s, std::int64_t asked_ms) {
    if (newest == newest_) {
      if (asked_ms >= look_ms_) miss(asked_ms);
      return;
    }
    note_lateness(asked_ms);
    const std::int64_t gap_s = time_s - time_s_;
    const bool is_next = newest.height == newest_.height + 1 && gap_s > 0;
    alike_ = is_next && gap_s == gap_s_ ? alike_ + 1 : 0;
    gap_s_ = is_next ? gap_s : 0;
    newest_ = newest;
    time_s_ = time_s;
    // The timer's own lateness would add up from block to block.
    const std::int64_t off_ms = asked_ms - look_ms_;
    const bool is_on_time = missed_ == 0 && in_step() && off_ms >= 0 && off_ms < poll_ms_ / 8;
    missed_ = 0;
    look_ms_ = (is_on_time ? look_ms_ : asked_ms) + gap_s_ * 1'000 - earlier_ms();
  }

  /// Until the next look; `all_well`: the last one found a head. A little before the last one was
  /// in its block's life.
  std::int64_t pause_ms(std::int64_t now_ms, bool all_well) const {
    constexpr int most_missed = 8;
    if (!all_well || !in_step() || missed_ > most_missed) return poll_ms_;
    if (missed_ == 0) return std::clamp<std::int64_t>(look_ms_ - now_ms, 1, 4 * poll_ms_);
    return std::clamp<std::int64_t>((poll_ms_ / 8) << std::min(missed_ - 1, 3), 1, poll_ms_);
  }

 private:
  bool in_step() const { return alike_ >= 3; }

  void miss(std::int64_t asked_ms) {
    ++missed_;
    missed_at_ms_ = asked_ms;
  }

  void note_lateness(std::int64_t asked_ms) {
    if (!in_step() || asked_ms < look_ms_) {
      late_ms_ = poll_ms_;
    } else if (missed_ > 0) {
      late_ms_ = std::min(asked_ms - missed_at_ms_, poll_ms_);
    } else {
      late_ms_ = std::max<std::int64_t>(late_ms_ - earlier_ms(), 0);
    }
  }

  /// How much earlier in its life the next block is looked for.
  std::int64_t earlier_ms() const {
    const bool is_close = late_ms_ <= poll_ms_ / 8;
    return is_close ? std::max<std::int64_t>(poll_ms_ / 256, 1) : late_ms_ / 2;
  }

  std::int64_t poll_ms_;
  domain::BlockRef newest_;
  std::int64_t time_s_ = 0;
  std::int64_t gap_s_ = 0;  ///< between the newest two; zero: they did not follow one another
  int alike_ = 0;  ///< gaps in a row that were as long as the one before
  std::int64_t look_ms_ = 0;  ///< when the next block is looked for, monotonic
  std::int64_t late_ms_;  ///< at most so long after its block the last look came
  int missed_ = 0;  ///< looks since then that found nothing new
  std::int64_t missed_at_ms_ = 0;  ///< when the last of them began
};

}  // namespace holdfast::engine
