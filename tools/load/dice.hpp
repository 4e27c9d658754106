// Owns: chance that a seed decides: the same seed throws the same dice (SplitMix64).
#pragma once

#include <cstdint>

namespace holdfast::load {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t number() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31U);
  }
  /// True `share` of the time.
  bool hits(double share) {
    return share > 0 && static_cast<double>(number() >> 11U) * 0x1.0p-53 < share;
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::load
