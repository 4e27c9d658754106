// Owns: the one fee history that all quotes share, and those who wait while it is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <holdfast/ports/parking.hpp>

#include "evm/chain.hpp"

namespace holdfast::evm {

/// Prices move once a block, and no block here is younger than that.
inline constexpr std::int64_t fee_history_ms = 500;

struct EvmChain::FeeCache {
  struct Asking {
    ports::WaitList waiting;  ///< woken when the answer is here, or will not come
    std::optional<ports::Outcome<FeeHistory>> answer;  ///< empty: the one who asked was cancelled
  };

  std::optional<FeeHistory> history;
  std::int64_t read_ms = 0;  ///< monotonic, when `history` was asked for
  std::shared_ptr<Asking> asking;  ///< set while somebody asks the node
};

}  // namespace holdfast::evm
