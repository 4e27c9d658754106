// An order given to an outside sender: what it says is one thing, what it does another.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

TEST_CASE("outside: an order that was taken and never carried out is for a person in the end") {
  RigOptions options;
  options.with_opaque = true;
  Rig rig(options);
  rig.start();
  engine::NewPayment payment = rig.payout();
  payment.chain = "opaque:1";
  const domain::Intent intent = rig.create("one", payment);
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 10'000));
  rig.world.run_for(200'000);
  CHECK(rig.state(intent.id) == IntentState::confirming);
  REQUIRE(rig.reaches(intent.id, IntentState::needs_review, 400'000));
  CHECK(rig.find(intent.id).reason == "outcome_unknown");
  CHECK(rig.opaque->sends(intent.id) == 1);
  testing::check_audit(rig);

  // Late, and all the same: nobody has to name it.
  rig.opaque->land(intent.id, intent.ref);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 20'000));
  CHECK(rig.opaque->sends(intent.id) == 1);
}
