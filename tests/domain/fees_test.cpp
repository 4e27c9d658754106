#include <doctest/doctest.h>

#include <holdfast/domain/fees.hpp>

namespace holdfast::domain {
namespace {

Fees fees(const U256& max_fee, const U256& priority, std::uint64_t gas = 60'000) {
  return {max_fee, priority, gas};
}

TEST_CASE("fees: a step is one eighth more, rounded up, and one") {
  struct Row {
    std::uint64_t from;
    std::uint64_t to;
  };
  for (const Row& row : {Row{0, 1}, Row{1, 3}, Row{7, 9}, Row{8, 10}, Row{9, 12},
                         Row{1'000'000'000, 1'125'000'001}, Row{30'000'000'001, 33'750'000'003}}) {
    CHECK(*next_fee_step(row.from) == U256(row.to));
  }
  CHECK_FALSE(next_fee_step(U256::max()).has_value());
}

TEST_CASE("fees: every step passes the ten per cent rule on both fields, whatever it starts from") {
  for (const std::uint64_t start : {0ULL, 1ULL, 9ULL, 1'000'000'000ULL}) {
    Fees at = fees(start + 1'000, start);
    for (int i = 0; i < 20; ++i) {
      const auto next = bump(at, fees(0, 0), U256::max());
      REQUIRE(next);
      CHECK(*next->max_fee.times(10) >= *at.max_fee.times(11));
      CHECK(*next->priority_fee.times(10) >= *at.priority_fee.times(11));
      CHECK(next->priority_fee > at.priority_fee);
      CHECK(next->priority_fee <= next->max_fee);
      CHECK(next->gas_limit == at.gas_limit);
      at = *next;
    }
  }
}

TEST_CASE("fees: a market above the step is followed, as far as the ceiling") {
  const auto followed = bump(fees(100, 10), fees(1'000, 50), 10'000);
  REQUIRE(followed);
  CHECK(followed->max_fee == U256(1'000));
  CHECK(followed->priority_fee == U256(50));
  const auto capped = bump(fees(100, 10), fees(100'000, 50'000), 10'000);
  REQUIRE(capped);
  CHECK(capped->max_fee == U256(10'000));
  CHECK(capped->priority_fee == U256(10'000));
}

TEST_CASE("fees: at the ceiling there is no further step") {
  CHECK(bump(fees(1'000, 1), fees(1, 1), 1'126).has_value());
  CHECK_FALSE(bump(fees(1'000, 1), fees(1, 1), 1'125).has_value());
  CHECK_FALSE(bump(fees(U256::max(), 1), fees(1, 1), U256::max()).has_value());
}

TEST_CASE("fees: below the ceiling of a payment one step is always left for a noop") {
  for (std::uint64_t ceiling = 2; ceiling < 3'000; ++ceiling) {
    const Fees dearest = first_offer(fees(ceiling, ceiling), pay_ceiling(ceiling));
    CHECK(bump(dearest, fees(0, 0), ceiling).has_value());
  }
  const Fees dearest = first_offer(fees(U256::max(), U256::max()), pay_ceiling(U256::max()));
  CHECK(bump(dearest, fees(0, 0), U256::max()).has_value());
  CHECK(pay_ceiling(1) == U256{});
}

TEST_CASE("fees: the dearest at a slot is taken field by field, refused attempts included") {
  Attempt first;
  first.slot = SlotId{1};
  first.fees = fees(100, 50);
  Attempt second = first;
  second.fees = fees(200, 10, 70'000);
  second.outcome = AttemptOutcome::refused;
  Attempt elsewhere = first;
  elsewhere.slot = SlotId{2};
  elsewhere.fees = fees(900, 900);
  const std::vector<Attempt> attempts{first, second, elsewhere};
  CHECK(*dearest_at(attempts, SlotId{1}) == fees(200, 50, 70'000));
  CHECK_FALSE(dearest_at(attempts, SlotId{3}).has_value());
}

}  // namespace
}  // namespace holdfast::domain
