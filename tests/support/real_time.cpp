#include "support/real_time.hpp"

#include <chrono>
#include <thread>

namespace holdfast::test {
namespace {

template <class Clock>
std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::int64_t wall_ms() { return now_ms<std::chrono::system_clock>(); }
std::int64_t mono_ms() { return now_ms<std::chrono::steady_clock>(); }
void pause_ms(std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace holdfast::test
