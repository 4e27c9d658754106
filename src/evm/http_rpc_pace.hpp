// Owns: when the next request of an endpoint leaves, so that calls that come thick share requests.
// Must never: hold a call back where they come thinly, or one that fills a request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace holdfast::evm {

/// A call that comes alone is sent at once. Where calls come at 500 a second or more, a request
/// costs both sides more than what it asks: then one leaves every six milliseconds, with all that
/// gathered. Whether they come thick is told by the calls of the window before this one, so a
/// burst out of silence is not held back either. Times are monotonic.
class Pace {
 public:
  void called(std::int64_t now_ms) {
    roll(now_ms);
    ++calls_;
  }
  void sent(std::int64_t now_ms) { sent_ms_ = now_ms; }

  /// How long what is queued waits for more; zero: it leaves now. `full`: a request takes as many.
  std::int64_t wait_ms(std::int64_t now_ms, std::size_t queued, std::size_t full) {
    roll(now_ms);
    if (calls_before_ < thick || queued >= full) return 0;
    return std::max<std::int64_t>(sent_ms_ + gather_ms - now_ms, 0);
  }

 private:
  static constexpr std::int64_t window_ms = 64;
  static constexpr std::uint32_t thick = 32;
  static constexpr std::int64_t gather_ms = 6;

  void roll(std::int64_t now_ms) {
    const std::int64_t passed_ms = now_ms - began_ms_;
    if (passed_ms < window_ms) return;
    calls_before_ = passed_ms < 2 * window_ms ? calls_ : 0;
    calls_ = 0;
    began_ms_ = now_ms - passed_ms % window_ms;
  }

  std::int64_t began_ms_ = 0;  ///< of this window
  std::uint32_t calls_ = 0;  ///< in it
  std::uint32_t calls_before_ = 0;
  std::int64_t sent_ms_ = 0;
};

}  // namespace holdfast::evm
