// What a smaller seed must still break, to count as the same failure.
#include <doctest/doctest.h>

#include "campaign.hpp"

using holdfast::campaign::kind_of;

TEST_CASE("minimise: two names of the same kind that break one rule are the same failure") {
  CHECK(kind_of("invariant 7, pi_00ff: it is failed, and it moved") == "invariant 7, pi_");
  CHECK(kind_of("invariant 7, pi_00ff: it moved") == kind_of("invariant 7, pi_a1: it is open"));
  CHECK(kind_of("invariant 6, 0xa1b2 number 7: used") == "invariant 6, 0x number #");
}

TEST_CASE("minimise: another kind of thing, or another rule, is another failure") {
  const std::string of_payment = kind_of("invariant 0, pi_00ff: it is still open");
  CHECK(of_payment != kind_of("invariant 0, the engine: it stopped itself"));
  CHECK(of_payment != kind_of("invariant 0, 9c1e: it was posted, and is not stored"));
  CHECK(of_payment != kind_of("invariant 3, pi_00ff: it is still open"));
  CHECK(kind_of("invariant 0, the engine: a") != kind_of("invariant 0, the clients: a"));
}

TEST_CASE("minimise: a process that died fails by the way it died") {
  CHECK(kind_of("the seed did not end in time") == "the seed did not end in time");
  CHECK(kind_of("the process ended by signal 9") != kind_of("the process ended by signal 11"));
}
