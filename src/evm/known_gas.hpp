// Owns: the gas that calls of one shape were found to need a moment ago.
// Must never: stand for a trial. It says with how much gas a call is tried, and no more.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include <holdfast/ports/chain.hpp>

namespace holdfast::evm {

/// A node finds the gas of a call by trying it ten times and more. Calls to the same target with
/// the same function and as much data need nearly the same, so one is tried once with what the
/// others needed, and its gas is searched for only where that does not do.
///
/// Of a contract's calls the dearest counts: a recipient that never had the token costs more than
/// one that has. Plain money goes to anybody's address for the same gas, but for the few that are
/// contracts, so there the cheapest counts, whoever gets it. A little is added to either. What is
/// known is forgotten half a minute after its first estimate, for there are chains on which gas
/// follows a price.
class KnownGas {
 public:
  /// Empty: not known, or not any more. `now_ms` is monotonic.
  std::optional<std::uint64_t> of(const ports::Call& call, std::int64_t now_ms) const {
    const auto found = known_.find(shape_of(call));
    if (found == known_.end() || now_ms - found->second.since_ms >= lasts_ms) return std::nullopt;
    return found->second.gas;
  }

  void note(const ports::Call& call, std::uint64_t estimate, std::int64_t now_ms) {
    if (known_.size() >= most_shapes) known_.clear();
    Known& known = known_[shape_of(call)];
    const std::uint64_t gas = estimate + estimate / 32;
    if (now_ms - known.since_ms >= lasts_ms) known = {gas, now_ms};
    known.gas = call.value.is_zero() ? std::max(known.gas, gas) : std::min(known.gas, gas);
  }

 private:
  static constexpr std::int64_t lasts_ms = 30'000;
  static constexpr std::size_t most_shapes = 1'024;

  using Selector = std::array<std::uint8_t, 4>;
  /// Target (none for plain money), function, bytes of data.
  using Shape = std::tuple<domain::Address, Selector, std::size_t>;
  struct Known {
    std::uint64_t gas = 0;
    std::int64_t since_ms = -lasts_ms;
  };

  static Shape shape_of(const ports::Call& call) {
    if (!call.value.is_zero()) return {{}, {}, call.payload.size()};
    Selector selector{};
    std::copy_n(call.payload.begin(), std::min(call.payload.size(), selector.size()),
                selector.begin());
    return {call.target, selector, call.payload.size()};
  }

  std::map<Shape, Known> known_;
};

}  // namespace holdfast::evm
