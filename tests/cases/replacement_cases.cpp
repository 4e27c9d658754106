// Cases R: transactions that do not get on.
#include <set>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

TEST_CASE("R5: with no blocks coming the bytes go out again by the wall clock") {
  Options options;
  options.stuck_after_ms = 2'000;
  Rig rig(options);
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  rig.rpc("anvil_dropAllTransactions");
  CHECK(test::within_ms(12'000, [&] { return rig.raws_of(one).size() >= 2; }));
  test::pause_ms(4'000);
  // However long no block comes: a few bodies at most, all at the one number.
  std::set<std::string> bodies;
  for (const test::SentRaw& raw : rig.raws_of(one)) {
    bodies.insert(raw.raw);
    CHECK(raw.nonce == 0);
  }
  CHECK(bodies.size() <= 4);
  CHECK(rig.mine_until(one, "settled", 30'000));
  CHECK(rig.transfers(one) == 1);
  Allowed allowed;
  allowed.more_bodies = true;  // a dearer one is as good
  rig.check_all(allowed);
}
