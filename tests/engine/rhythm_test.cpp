// When a chain is looked at again.
#include <algorithm>
#include <vector>

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

TEST_CASE("rhythm: a chain with a block a second is looked at once a block, soon after it came") {
  for (const std::int64_t poll_ms : {250, 1'000}) {
    CAPTURE(poll_ms);
    Rhythm rhythm(poll_ms);
    constexpr std::int64_t first_ms = 5'137;
    constexpr std::uint64_t settled_in = 20;
    std::uint64_t seen = 0;
    std::uint64_t looks = 0;
    std::int64_t latest_ms = 0;
    for (std::int64_t now_ms = first_ms; seen < 300;) {
      const std::int64_t age_ms = (now_ms - first_ms) % 1'000;
      const auto height = static_cast<std::uint64_t>((now_ms - first_ms) / 1'000) + 1;
      if (seen >= settled_in) {
        ++looks;
        if (height != seen) latest_ms = std::max(latest_ms, age_ms);
      }
      CHECK(height <= seen + 1);  // none was passed by
      seen = height;
      rhythm.saw(block(height), static_cast<std::int64_t>(height), now_ms);
      now_ms += 3 + rhythm.pause_ms(now_ms + 3, true);  // an answer takes its time
    }
    CHECK(looks <= 300 * 11 / 10);
    CHECK(latest_ms <= poll_ms / 4);
  }
}

TEST_CASE("rhythm: a look too early is followed by others, ever longer apart") {
  Rhythm rhythm(400);
  for (std::uint64_t height = 1; height <= 6; ++height) {
    const auto second = static_cast<std::int64_t>(height);
    rhythm.saw(block(height), second, second * 1'000);
  }
  std::int64_t now_ms = 6'000 + rhythm.pause_ms(6'000, true);
  std::vector<std::int64_t> pauses;
  for (int look = 0; look < 5; ++look) {
    rhythm.saw(block(6), 6, now_ms);
    pauses.push_back(rhythm.pause_ms(now_ms, true));
    now_ms += pauses.back();
  }
  CHECK(pauses == std::vector<std::int64_t>{50, 100, 200, 400, 400});
  CHECK(rhythm.pause_ms(now_ms, false) == 400);
}

TEST_CASE("rhythm: no look is put off for longer than four polls") {
  Rhythm rhythm(1'000);
  for (std::uint64_t height = 1; height <= 6; ++height) {
    rhythm.saw(block(height), 12 * static_cast<std::int64_t>(height), 0);
  }
  CHECK(rhythm.pause_ms(0, true) == 4'000);
  CHECK(rhythm.pause_ms(4'000, true) == 4'000);
  const std::int64_t last_ms = rhythm.pause_ms(8'000, true);
  CHECK(last_ms > 3'000);
  CHECK(last_ms <= 4'000);
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
