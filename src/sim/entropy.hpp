// Owns: chance for the engine under simulation, from a seed.
#pragma once

#include <holdfast/ports/entropy.hpp>

#include "sim/executor.hpp"

namespace holdfast::sim {

class SimEntropy final : public ports::Entropy {
 public:
  explicit SimEntropy(std::uint64_t seed) : chance_(seed) {}
  void fill(std::span<Byte> out) override;

 private:
  Chance chance_;
};

}  // namespace holdfast::sim
