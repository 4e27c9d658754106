#include "sim/entropy.hpp"

namespace holdfast::sim {

void SimEntropy::fill(std::span<Byte> out) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (at % 8 == 0) word = chance_.next();
    out[at] = static_cast<Byte>(word >> (8 * (at % 8)));
  }
}

}  // namespace holdfast::sim
