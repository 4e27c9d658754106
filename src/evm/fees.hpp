// Owns: what a new transaction offers for its gas (EIP-1559), from the chain's recent blocks and
// the configured ceilings. Pure. Must never: offer more than the configured ceiling, in price or in
// gas.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <holdfast/domain/attempt.hpp>
#include <holdfast/ports/outcome.hpp>

#include "evm/wire.hpp"

namespace holdfast::evm {

/// All prices in wei per unit of gas.
struct FeePolicy {
  U256 max_fee = 500'000'000'000;  ///< ceiling of the whole price: 500 gwei
  U256 priority_floor = 1'000'000;  ///< the builder's part is never less: 0.001 gwei
  U256 priority_default = 1'000'000'000;  ///< where recent blocks paid builders nothing: 1 gwei
  std::uint32_t base_fee_percent = 200;  ///< of the next block's base fee: room for six full blocks
  std::uint32_t gas_margin_percent = 20;  ///< on top of the node's estimate
  std::uint64_t gas_cap = 1'000'000;  ///< ceiling of a transaction's gas
};

struct FeeHistory {
  U256 next_base_fee;  ///< of the block after the newest
  std::vector<U256> rewards;  ///< what a typical transaction of each recent block paid its builder
};

/// The parameters of eth_feeHistory: five blocks, the median reward of each.
boost::json::array fee_history_params();
/// The answer of eth_feeHistory. `reward` may be missing (a chain of empty blocks).
Read<FeeHistory> read_fee_history(const boost::json::value& value);

/// Fees for a transaction that needs `gas` as estimated.
///
/// gas limit: the estimate and its margin, at most the cap. Priority fee: the median of what blocks
/// paid that paid anything, at least the floor. Fee: the next base fee times `base_fee_percent`
/// plus the priority fee, at most the ceiling.
///
/// Refused: `gas` when the estimate alone is over the cap; `underpriced` while the next block's
/// base fee is over the ceiling, which passes when the chain calms down. Both sentences name both
/// numbers.
ports::Outcome<domain::Fees> fees_for(std::uint64_t gas, const FeeHistory& history,
                                      const FeePolicy& policy);

/// The refusal of an estimate that is over the cap.
std::optional<ports::Refused> over_gas_cap(std::uint64_t gas, const FeePolicy& policy);

}  // namespace holdfast::evm
