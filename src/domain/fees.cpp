#include <holdfast/domain/fees.hpp>

#include <algorithm>

#include <holdfast/base/ensure.hpp>

#include "base/teeth.hpp"

namespace holdfast::domain {
namespace {

U256 eighth(const U256& number) {
  const auto part = number.divided_by(8);
  ensure(part.has_value(), "a number has an eighth");
  return *part;
}

}  // namespace

std::optional<U256> next_fee_step(const U256& fee) {
  const auto padded = fee.plus(7);
  if (!padded) return std::nullopt;
  const auto raised = fee.plus(eighth(*padded));
  return raised ? raised->plus(1) : std::nullopt;
}

// A number whose next step is not over the ceiling, and not far below the highest that has one: 8/9
// of what is left of it after both roundings.
U256 pay_ceiling(const U256& ceiling) {
  const auto left = ceiling.minus(2);
  if (!left) return {};
  const auto ninth = left->divided_by(9);
  const auto part = ninth ? ninth->times(8) : std::nullopt;
  ensure(part.has_value(), "eight ninths of a number fit where it fits");
  return *part;
}

Fees first_offer(Fees market, const U256& ceiling) {
  market.max_fee = std::min(market.max_fee, ceiling);
  market.priority_fee = std::min(market.priority_fee, market.max_fee);
  return market;
}

std::optional<Fees> bump(const Fees& old, const Fees& market, const U256& ceiling) {
  const auto max_fee = next_fee_step(old.max_fee);
  const auto priority_fee = next_fee_step(old.priority_fee);
  const bool is_over = !planted(Tooth::ceiling_ignored) && max_fee && *max_fee > ceiling;
  if (!max_fee || !priority_fee || is_over) return std::nullopt;
  Fees out = old;
  out.max_fee = std::max(*max_fee, std::min(market.max_fee, ceiling));
  out.priority_fee = std::max(*priority_fee, std::min(market.priority_fee, out.max_fee));
  return out;
}

std::optional<Fees> dearest_at(std::span<const Attempt> attempts, SlotId slot) {
  std::optional<Fees> out;
  for (const Attempt& attempt : attempts) {
    if (attempt.slot != slot) continue;
    if (!out) out = attempt.fees;
    out->max_fee = std::max(out->max_fee, attempt.fees.max_fee);
    out->priority_fee = std::max(out->priority_fee, attempt.fees.priority_fee);
    out->gas_limit = std::max(out->gas_limit, attempt.fees.gas_limit);
  }
  return out;
}

}  // namespace holdfast::domain
