// A store put back from a backup, where no numbers tell what its lost part has sent.
#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

namespace {

const domain::ChainId without_numbers{"opaque:1"};

/// As an opening finds it that is behind its mark.
void put_back(Rig& rig) {
  rig.crash_without_restart();
  rig.run(rig.store->write([](store::Txn& txn) {
    txn.db().execute("UPDATE store_identity SET restored = 'the store was put back'");
    return 0;
  }));
  rig.reopen_store();
  REQUIRE(rig.store->restored().has_value());
  rig.start();
}

}  // namespace

TEST_CASE("restored: a chain without numbers sends nothing until it is acknowledged") {
  RigOptions options;
  options.on_disk = true;
  options.with_opaque = true;
  Rig rig(options);
  rig.start();
  put_back(rig);
  engine::NewPayment payment = rig.payout();
  payment.chain = without_numbers.value;
  const domain::Intent waiting = rig.create("one", payment);
  rig.world.run_for(60'000);
  CHECK(rig.state(waiting.id) == IntentState::authorized);
  CHECK(rig.opaque->sends() == 0);
  const auto chains = rig.run(rig.engine->acknowledge("ann", without_numbers, "looked"));
  REQUIRE_MESSAGE(chains.has_value(), chains.error().detail);
  REQUIRE(rig.reaches(waiting.id, IntentState::confirming, 60'000));
  CHECK(rig.opaque->sends(waiting.id) == 1);
  SUBCASE("and the store is answered for once its accounts are too") {
    const auto adopted =
        rig.run(rig.engine->adopt("ann", rig.chain.info().id, rig.accounts.front(), "looked"));
    REQUIRE_MESSAGE(adopted.has_value(), adopted.error().detail);
    rig.crash_without_restart();
    rig.reopen_store();
    CHECK_FALSE(rig.store->restored().has_value());
    rig.start();
    CHECK(rig.state(waiting.id) == IntentState::confirming);
  }
  SUBCASE("and not before") {
    rig.crash_without_restart();
    rig.reopen_store();
    CHECK(rig.store->restored().has_value());
    rig.start();
  }
}
