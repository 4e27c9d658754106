// The real clock, for tests that run real processes. Unit tests have virtual time instead.
#pragma once

#include <cstdint>

namespace holdfast::test {

std::int64_t wall_ms();
std::int64_t mono_ms();
void pause_ms(std::int64_t ms);

/// Asks until it is so; false when it still was not after `ms`.
template <class Question>
bool within_ms(std::int64_t ms, Question is_so, std::int64_t between_ms = 25) {
  const std::int64_t until_ms = mono_ms() + ms;
  while (!is_so()) {
    if (mono_ms() >= until_ms) return false;
    pause_ms(between_ms);
  }
  return true;
}

}  // namespace holdfast::test
