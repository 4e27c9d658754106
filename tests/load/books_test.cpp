// What the chain saw against what was asked for and what the record says.
#include <vector>

#include <doctest/doctest.h>

#include "books.hpp"

using namespace holdfast::load;
using enum holdfast::domain::IntentState;

namespace {

struct Case {
  std::vector<Owed> owed{{1, 10, 100, 0}};
  std::vector<Moved> moved{{1, 10, 100, 0}};
  std::vector<Recorded> recorded{{1, settled}};
  Audit audited() { return audit(owed, moved, recorded); }
};

}  // namespace

TEST_CASE("books: paid once and settled is well") {
  const Audit out = Case{}.audited();
  CHECK(out.settled == 1);
  CHECK(out.lost == 0);
  CHECK(out.doubled == 0);
}

TEST_CASE("books: settled without a transfer is lost") {
  Case one;
  one.moved.clear();
  CHECK(one.audited().lost == 1);
}

TEST_CASE("books: settled by another amount, or to another payee, is lost") {
  Case one;
  one.moved[0].amount = 99;
  CHECK(one.audited().lost == 1);
  Case other;
  other.moved[0].payee = 11;
  CHECK(other.audited().lost == 1);
}

TEST_CASE("books: failed or canceled, and paid all the same, is lost") {
  for (const auto state : {failed, canceled}) {
    Case one;
    one.recorded[0].state = state;
    CHECK(one.audited().lost == 1);
    CHECK(one.audited().failed == 1);
    one.moved.clear();
    CHECK(one.audited().lost == 0);
  }
}

TEST_CASE("books: neither ended nor in review is lost, and so is what nobody recorded") {
  for (const auto state : {created, authorized, settling, confirming}) {
    Case one;
    one.recorded[0].state = state;
    CHECK(one.audited().lost == 1);
  }
  Case one;
  one.recorded.clear();
  CHECK(one.audited().lost == 1);
}

TEST_CASE("books: a payment in review is not lost, whatever moved") {
  Case one;
  one.recorded[0].state = needs_review;
  CHECK(one.audited().in_review == 1);
  CHECK(one.audited().lost == 0);
  one.moved.clear();
  CHECK(one.audited().lost == 0);
}

TEST_CASE("books: paid twice is doubled, and so is what nobody asked for") {
  Case one;
  one.moved.push_back(one.moved[0]);
  CHECK(one.audited().doubled == 1);
  CHECK(one.audited().lost == 0);
  Case other;
  other.moved.push_back({2, 10, 100, 0});
  CHECK(other.audited().doubled == 1);
}

TEST_CASE("books: nothing depends on the order they come in") {
  std::vector<Owed> owed;
  std::vector<Moved> moved;
  std::vector<Recorded> recorded;
  for (std::uint64_t i = 0; i < 50; ++i) {
    owed.push_back({i * 7 % 50, i, i, 0});
    moved.push_back({i * 11 % 50, i * 11 % 50 * 43 % 50, i * 11 % 50 * 43 % 50, 0});
    recorded.push_back({49 - i, settled});
  }
  const Audit out = audit(owed, moved, recorded);
  CHECK(out.settled == 50);
  CHECK(out.lost == 0);
  CHECK(out.doubled == 0);
}
