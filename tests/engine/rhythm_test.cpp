// When a chain is looked at again.
#include <doctest/doctest.h>

#include "engine/rhythm.hpp"

using namespace holdfast;
using engine::Rhythm;

namespace {

domain::BlockRef block(std::uint64_t height) {
  domain::BlockRef ref;
  ref.height = height;
  ref.hash.value[0] = static_cast<Byte>(height);
  return ref;
}

}  // namespace

TEST_CASE("rhythm: a chain with a block a second is looked at when the next one is due") {
  Rhythm rhythm(250);
  for (std::uint64_t height = 1; height <= 4; ++height) {
    CHECK(rhythm.pause_ms(0, true) == 250);
    rhythm.saw(block(height), 100 + static_cast<std::int64_t>(height), 1'000);
  }
  rhythm.saw(block(5), 105, 5'000);
  CHECK(rhythm.pause_ms(5'000, true) == 969);
  CHECK(rhythm.pause_ms(5'100, true) == 869);
  rhythm.saw(block(5), 105, 5'969);  // too early
  CHECK(rhythm.pause_ms(5'969, true) == 62);
  rhythm.saw(block(5), 105, 6'031);
  CHECK(rhythm.pause_ms(6'031, true) == 124);
  rhythm.saw(block(6), 106, 6'155);
  CHECK(rhythm.pause_ms(6'155, true) == 969);
  CHECK(rhythm.pause_ms(6'155, false) == 250);
}

TEST_CASE("rhythm: no look is put off for longer than four polls") {
  Rhythm rhythm(1'000);
  for (std::uint64_t height = 1; height <= 6; ++height) {
    rhythm.saw(block(height), 12 * static_cast<std::int64_t>(height), 0);
  }
  CHECK(rhythm.pause_ms(0, true) == 4'000);
  CHECK(rhythm.pause_ms(4'000, true) == 4'000);
  CHECK(rhythm.pause_ms(8'000, true) == 3'875);
  CHECK(rhythm.pause_ms(11'875, true) == 250);
}

TEST_CASE("rhythm: where blocks come unevenly, or not at all, looks are a poll apart") {
  for (const std::int64_t odd_s : {0, 1, 3}) {
    CAPTURE(odd_s);
    Rhythm rhythm(250);
    std::int64_t time_s = 100;
    for (std::uint64_t height = 1; height <= 9; ++height) {
      time_s += height % 3 == 0 ? odd_s : 2;
      rhythm.saw(block(height), time_s, 0);
      CHECK(rhythm.pause_ms(0, true) == 250);
    }
  }
  Rhythm stopped(250);
  for (std::uint64_t height = 1; height <= 6; ++height) {
    stopped.saw(block(height), static_cast<std::int64_t>(height), 0);
  }
  for (int look = 0; look < 12; ++look) stopped.saw(block(6), 6, 1'000 + 250 * look);
  CHECK(stopped.pause_ms(9'000, true) == 250);
  stopped.saw(block(8), 7, 9'000);  // one was left out
  CHECK(stopped.pause_ms(9'000, true) == 250);
}
