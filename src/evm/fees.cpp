#include "evm/fees.hpp"

#include <algorithm>

#include "evm/wire_fields.hpp"

namespace holdfast::evm {
namespace {

constexpr std::uint64_t blocks_asked = 5;
/// A node may answer with fewer or, wrongly, more.
constexpr std::size_t blocks_read = 1024;

std::optional<U256> percent_of(const U256& number, std::uint64_t percent) {
  const std::optional<U256> times = number.times(percent);
  return times ? times->divided_by(100) : std::nullopt;
}

/// Blocks that nobody paid in (or empty ones) say nothing about the price of a place in a block.
std::optional<U256> typical_reward(std::vector<U256> rewards) {
  std::erase_if(rewards, [](const U256& reward) { return reward.is_zero(); });
  if (rewards.empty()) return std::nullopt;
  const auto middle = rewards.begin() + static_cast<std::ptrdiff_t>(rewards.size() / 2);
  std::nth_element(rewards.begin(), middle, rewards.end());
  return *middle;
}

void read_rewards(Fields& fields, std::vector<U256>& out) {
  if (fields.absent("reward")) return;
  const boost::json::array* blocks = fields.list("reward", blocks_read);
  if (blocks == nullptr) return;
  for (const boost::json::value& block : *blocks) {
    const boost::json::array* percentiles = block.if_array();
    if (percentiles == nullptr || percentiles->size() != 1) {
      return fields.refuse("reward", "has an item that is not a list of one");
    }
    const Read<U256> reward = read_quantity(percentiles->front(), "reward");
    if (!reward) return fields.refuse("reward", "has an item that is not a quantity");
    out.push_back(*reward);
  }
}

ports::Unknown overflow() { return {"fee history: a fee over 256 bits", false}; }

}  // namespace

boost::json::array fee_history_params() {
  return {quantity(blocks_asked), "latest", boost::json::array{50}};
}

Read<FeeHistory> read_fee_history(const boost::json::value& value) {
  Fields fields(value, "fee history");
  FeeHistory out;
  const boost::json::array* base_fees = fields.list("baseFeePerGas", blocks_read);
  if (base_fees == nullptr) return fields.refusal();
  // One more than blocks: the last is the next block's.
  if (base_fees->empty()) return Unreadable{"fee history.baseFeePerGas is empty"};
  const Read<U256> next = read_quantity(base_fees->back(), "fee history.baseFeePerGas");
  if (!next) return next.error();
  out.next_base_fee = *next;
  read_rewards(fields, out.rewards);
  if (fields.failed()) return fields.refusal();
  return out;
}

std::optional<ports::Refused> over_gas_cap(std::uint64_t gas, const FeePolicy& policy) {
  if (gas <= policy.gas_cap) return std::nullopt;
  return ports::Refused{ports::RefusalKind::gas, "the estimate of " + std::to_string(gas) +
                                                     " gas is over this chain's gas_cap of " +
                                                     std::to_string(policy.gas_cap)};
}

ports::Outcome<domain::Fees> fees_for(std::uint64_t gas, const FeeHistory& history,
                                      const FeePolicy& policy) {
  if (auto over = over_gas_cap(gas, policy)) return *std::move(over);
  if (history.next_base_fee > policy.max_fee) {
    return ports::Refused{ports::RefusalKind::underpriced,
                          "the next block's base fee of " + history.next_base_fee.decimal() +
                              " wei is over this chain's max_fee of " + policy.max_fee.decimal()};
  }
  const auto gas_limit = percent_of(gas, 100ULL + policy.gas_margin_percent);
  const auto base = percent_of(history.next_base_fee, policy.base_fee_percent);
  const U256 priority = std::max(typical_reward(history.rewards).value_or(policy.priority_default),
                                 policy.priority_floor);
  const auto fee = base ? base->plus(priority) : std::nullopt;
  if (!gas_limit || !fee) return overflow();

  domain::Fees out;
  out.gas_limit = std::min(gas_limit->to_u64().value_or(policy.gas_cap), policy.gas_cap);
  out.max_fee = std::min(*fee, policy.max_fee);
  out.priority_fee = std::min(priority, out.max_fee);
  return out;
}

}  // namespace holdfast::evm
