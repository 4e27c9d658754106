// Owns: the real source of randomness: the kernel's (getrandom). There is no other in the program.
#pragma once

#include <holdfast/ports/entropy.hpp>

namespace holdfast::app {

class SystemEntropy final : public ports::Entropy {
 public:
  void fill(std::span<Byte> out) override;
};

}  // namespace holdfast::app
