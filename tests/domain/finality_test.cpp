#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include <holdfast/domain/finality.hpp>
#include <holdfast/domain/retry.hpp>

namespace holdfast::domain {
namespace {

BlockHash block_hash(Byte byte) {
  BlockHash out;
  out.value.fill(byte);
  return out;
}

Inclusion at(std::uint64_t height, bool succeeded = true) {
  return {{height, block_hash(1)}, succeeded};
}

constexpr ChainHeights heights{.latest = 100, .safe = 90, .finalized = 80};

Verdict judge(std::uint64_t height, FinalityRule rule, bool succeeded = true) {
  return verdict(at(height, succeeded), block_hash(1), heights, rule);
}

}  // namespace

TEST_CASE("finality: at or below the tag's height it is final, above it is pending") {
  CHECK(judge(80, {FinalityTag::finalized, 1}) == Verdict::final);
  CHECK(judge(81, {FinalityTag::finalized, 1}) == Verdict::pending);
  CHECK(judge(90, {FinalityTag::safe, 1}) == Verdict::final);
  CHECK(judge(91, {FinalityTag::safe, 1}) == Verdict::pending);
  CHECK(judge(100, {FinalityTag::latest, 1}) == Verdict::final);
  CHECK(judge(101, {FinalityTag::latest, 1}) == Verdict::pending);
}

TEST_CASE("finality: confirmations must hold besides the tag; one means just included") {
  CHECK(judge(100, {FinalityTag::latest, 2}) == Verdict::pending);
  CHECK(judge(99, {FinalityTag::latest, 2}) == Verdict::final);
  CHECK(judge(80, {FinalityTag::finalized, 21}) == Verdict::final);
  CHECK(judge(80, {FinalityTag::finalized, 22}) == Verdict::pending);
  CHECK(judge(100, {FinalityTag::latest, 0}) == Verdict::final);  // zero asks no less than one
  CHECK(judge(101, {FinalityTag::latest, 0}) == Verdict::pending);
  CHECK(judge(0, {FinalityTag::latest, std::numeric_limits<std::uint32_t>::max()}) ==
        Verdict::pending);
}

TEST_CASE("finality: a revert at the depth asked for is failed, before that it is pending") {
  CHECK(judge(80, {FinalityTag::finalized, 1}, false) == Verdict::failed);
  CHECK(judge(81, {FinalityTag::finalized, 1}, false) == Verdict::pending);
}

TEST_CASE("finality: another hash at its height means lost, however deep; unknown means pending") {
  CHECK(verdict(at(10), block_hash(2), heights, {}) == Verdict::lost);
  CHECK(verdict(at(99), block_hash(2), heights, {}) == Verdict::lost);
  CHECK(verdict(at(10), {}, heights, {}) == Verdict::pending);
  CHECK(verdict({}, block_hash(1), heights, {}) == Verdict::pending);
}

TEST_CASE("finality: verdicts and tags have texts") {
  CHECK(to_text(Verdict::lost) == "lost");
  CHECK(to_text(Verdict::final) == "final");
  for (const FinalityTag tag : {FinalityTag::latest, FinalityTag::safe, FinalityTag::finalized}) {
    CHECK(finality_tag_from(to_text(tag)) == tag);
  }
  CHECK_FALSE(finality_tag_from("earliest"));
}

TEST_CASE("retry: half the wait is certain, the other half is the jitter's, up to the cap") {
  const RetryPolicy policy{.base_ms = 250, .cap_ms = 30'000};
  const std::int64_t full[] = {250, 500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000};
  for (std::uint32_t tries = 0; tries < std::size(full); ++tries) {
    CHECK(backoff_ms(policy, tries, 0) == full[tries] / 2);
    std::int64_t least = full[tries];
    std::int64_t most = 0;
    for (std::uint64_t jitter = 0; jitter < 40'000; jitter += 1) {
      const std::int64_t wait = backoff_ms(policy, tries, jitter);
      least = std::min(least, wait);
      most = std::max(most, wait);
    }
    CHECK(least == full[tries] / 2);
    CHECK(most == full[tries]);
  }
}

TEST_CASE("retry: no count of tries, no policy and no jitter makes a wait overflow or vanish") {
  constexpr auto most_tries = std::numeric_limits<std::uint32_t>::max();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto most_jitter = std::numeric_limits<std::uint64_t>::max();
  CHECK(backoff_ms({250, 30'000}, most_tries, most_jitter) <= 30'000);
  CHECK(backoff_ms({most, most}, most_tries, most_jitter) >= most / 2);
  CHECK(backoff_ms({1, most}, 200, 3) >= most / 2);
  CHECK(backoff_ms({500, 100}, 0, 0) == 50);  // the cap rules
  CHECK(backoff_ms({0, 0}, 0, 1) == 1);
  CHECK(backoff_ms({-5, -5}, 3, 1) == 1);
}

}  // namespace holdfast::domain
