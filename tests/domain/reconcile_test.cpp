#include <doctest/doctest.h>

#include <holdfast/domain/reconcile.hpp>

namespace holdfast::domain {
namespace {

using enum SlotState;

TEST_CASE(
    "reconcile: final is consumed, pending or in a block is broadcast, unsigned is released") {
  for (const SlotState state : {signed_, broadcast, reconciliation_required}) {
    CHECK(reconciled(state, true, FoundAt::mined, true) == consumed);
    for (const FoundAt found : {FoundAt::pending, FoundAt::mined}) {
      const auto to = reconciled(state, true, found, false);
      CHECK((state == broadcast ? !to.has_value() : to == broadcast));
    }
  }
  CHECK(reconciled(reserved, false, FoundAt::not_found, false) == released);
  CHECK(reconciled(reserved, false, FoundAt::not_asked, false) == released);
}

TEST_CASE("reconcile: signed and nowhere is quarantined, never released") {
  for (const SlotState state : {signed_, broadcast}) {
    CHECK(reconciled(state, true, FoundAt::not_found, false) == reconciliation_required);
    CHECK(reconciled(state, false, FoundAt::not_found, false) == reconciliation_required);
  }
  for (const bool any : {true, false}) {
    CHECK_FALSE(reconciled(reconciliation_required, any, FoundAt::not_found, false).has_value());
  }
  for (const SlotState state : {signed_, broadcast, reconciliation_required}) {
    for (const FoundAt found : {FoundAt::not_asked, FoundAt::unknown, FoundAt::not_found,
                                FoundAt::pending, FoundAt::mined}) {
      for (const bool any : {true, false}) {
        CHECK(reconciled(state, any, found, true) != released);
      }
    }
  }
}

TEST_CASE("reconcile: no answer changes nothing, and what has ended stays ended") {
  for (const SlotState state : {signed_, broadcast, reconciliation_required}) {
    CHECK_FALSE(reconciled(state, true, FoundAt::unknown, false).has_value());
    CHECK_FALSE(reconciled(state, true, FoundAt::not_asked, false).has_value());
  }
  for (const SlotState state : {released, consumed}) {
    CHECK_FALSE(reconciled(state, true, FoundAt::not_found, false).has_value());
  }
}

}  // namespace
}  // namespace holdfast::domain
