// Owns: the source of randomness: receipts, instance ids, jitter.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include <holdfast/base/bytes.hpp>

namespace holdfast::ports {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<Byte> out) = 0;

  std::uint64_t number() {
    std::array<Byte, 8> bytes{};
    fill(bytes);
    std::uint64_t out = 0;
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
  template <class Fixed>
  Fixed bytes() {
    Fixed out;
    fill(out.value);
    return out;
  }
};

}  // namespace holdfast::ports
