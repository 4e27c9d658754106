// Owns: the real source of randomness: the kernel's (getrandom). There is no other in the program.
// Must never: give the same bytes twice, or keep those it gave.
#pragma once

#include <array>
#include <cstddef>

#include <holdfast/ports/entropy.hpp>

namespace holdfast::app {

/// Small wishes are served from bytes fetched a page at a time: a call of the kernel for each would
/// be six of them a payment. For one thread; a process that forks must not share it with its child.
class SystemEntropy final : public ports::Entropy {
 public:
  void fill(std::span<Byte> out) override;

 private:
  std::array<Byte, 1024> ahead_{};
  std::size_t left_ = 0;  ///< of them, at the front, not given yet
};

}  // namespace holdfast::app
