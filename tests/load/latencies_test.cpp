// Percentiles out of buckets.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "dice.hpp"
#include "latencies.hpp"

using namespace holdfast::load;

TEST_CASE("latencies: nothing measured is zero") {
  const Latencies none;
  CHECK(none.percentile_ms(0.5) == 0);
  CHECK(none.filled().empty());
}

TEST_CASE("latencies: short ones are exact, and a percentile is one that was measured") {
  Latencies some;
  for (int us = 1; us <= 60; ++us) some.add(us);
  CHECK(some.percentile_ms(0) == doctest::Approx(0.001));
  CHECK(some.percentile_ms(0.5) == doctest::Approx(0.030));
  CHECK(some.percentile_ms(1) == doctest::Approx(0.060));
}

TEST_CASE("latencies: a percentile is never too low, and at most 1/32 too high") {
  Latencies some;
  std::vector<double> exact;
  Dice dice(7);
  for (int i = 0; i < 10'000; ++i) {
    const auto us = static_cast<std::int64_t>(dice.number() % 90'000'000) >> (dice.number() % 20);
    some.add(us);
    exact.push_back(static_cast<double>(us) / 1'000);
  }
  std::ranges::sort(exact);
  for (const double share : {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double truth = exact[static_cast<std::size_t>(std::ceil(share * 10'000)) - 1];
    CAPTURE(share);
    CHECK(some.percentile_ms(share) >= truth);
    CHECK(some.percentile_ms(share) <= truth * (1 + 1.0 / 32) + 0.001);
  }
}

TEST_CASE("latencies: one that ran backwards counts as none, and the longest fit") {
  Latencies some;
  some.add(-5);
  CHECK(some.percentile_ms(1) == 0);
  some.add(INT64_MAX);
  CHECK(some.percentile_ms(1) > 9e15);
  CHECK(some.count() == 2);
  CHECK(some.filled().size() == 2);
}
