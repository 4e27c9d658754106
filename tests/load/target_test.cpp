// What is read of a running holdfast.
#include <string>

#include <doctest/doctest.h>

#include "http_line.hpp"
#include "support/arguments.hpp"
#include "target.hpp"

using namespace holdfast;
using namespace holdfast::load;

TEST_CASE("target: what has ended is the sum of its metrics, and what they do not say is none") {
  const std::string text =
      "# HELP holdfast_payments_settled_total Payments settled\n"
      "# TYPE holdfast_payments_settled_total counter\n"
      "holdfast_payments_settled_total 41\n"
      "holdfast_payments_failed_total 2\n"
      "holdfast_payments_reviewed_total 1\n";
  const EndedCounts counts = ended_counts(text);
  CHECK(counts.settled == 41);
  CHECK(counts.ended == 44);
  CHECK(ended_counts("").ended == 0);
}

TEST_CASE("target: a place is a plain http URL") {
  CHECK(place_of("http://127.0.0.1:8402").port == "8402");
  CHECK(place_of("http://localhost:1/").host == "127.0.0.1");
  CHECK(place_of("http://10.0.0.1").port == "80");
  for (const char* const bad : {"https://a", "127.0.0.1:80", "http://u:p@h:1", "http://h/x"}) {
    CHECK_THROWS_AS((void)place_of(bad), tools::UsageError);
  }
}
