// Owns: what a call was just seen to cost, from the request that asked to the delivery that sends.
// Must never: answer for longer than a node's own answer would be believed.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include <holdfast/domain/ids.hpp>

namespace holdfast::engine {

class Simulations {
 public:
  void keep(const domain::IntentId& id, std::uint64_t gas, std::int64_t mono_ms) {
    if (seen_.size() >= most)
      std::erase_if(seen_,
                    [&](const auto& one) { return mono_ms - one.second.mono_ms > young_ms; });
    if (seen_.size() < most) seen_.insert_or_assign(id, Seen{gas, mono_ms});
  }

  /// Once, and only while it is young.
  std::optional<std::uint64_t> take(const domain::IntentId& id, std::int64_t mono_ms) {
    const auto found = seen_.extract(id);
    if (!found || mono_ms - found.mapped().mono_ms > young_ms) return std::nullopt;
    return found.mapped().gas;
  }

 private:
  static constexpr std::size_t most = 10'000;
  static constexpr std::int64_t young_ms = 3'000;
  struct Seen {
    std::uint64_t gas = 0;
    std::int64_t mono_ms = 0;
  };
  std::unordered_map<domain::IntentId, Seen> seen_;
};

}  // namespace holdfast::engine
