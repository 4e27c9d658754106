// Owns: the one fee history that all quotes share, and those who wait while it is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <holdfast/ports/parking.hpp>

#include "evm/chain.hpp"

namespace holdfast::evm {

/// A transaction offers base_fee_percent of the price. On a chain with a block a second that goes
/// up by a quarter in this time; where blocks come faster an old price may be too low, and what is
/// stuck for it is replaced by a dearer one.
inline constexpr std::int64_t fee_history_ms = 2'000;
/// What blocks pay their builders changes less than their base fee, which each head tells.
inline constexpr std::int64_t rewards_ms = 10'000;

struct EvmChain::FeeCache {
  struct Asking {
    ports::WaitList waiting;  ///< woken when the answer is here, or will not come
    std::optional<ports::Outcome<FeeHistory>> answer;  ///< empty: the one who asked was cancelled
  };

  std::optional<FeeHistory> history;
  std::int64_t read_ms = 0;  ///< monotonic, when `history` was asked for
  std::shared_ptr<Asking> asking;  ///< set while somebody asks the node
  bool closed = false;  ///< the chain is gone: nobody is to be resumed

  /// Somebody's turn at asking. However the frame that asks ends (an answer, a cancellation, or
  /// destroyed where it stood), those who wait are woken: without an answer the next of them asks.
  struct Turn {
    explicit Turn(std::shared_ptr<FeeCache> of)
        : cache(std::move(of)), asking(std::make_shared<Asking>()) {
      cache->asking = asking;
    }
    ~Turn() {
      cache->asking.reset();
      if (!cache->closed) asking->waiting.wake_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    std::shared_ptr<FeeCache> cache;
    std::shared_ptr<Asking> asking;
  };

  /// Drops who waits.
  void close() {
    closed = true;
    if (asking) asking->waiting.abandon();
  }
};

}  // namespace holdfast::evm
