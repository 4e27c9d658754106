// Owns: what each payment of a run is: a function of the seed and its number.
#pragma once

#include <cstdint>
#include <string>

#include <holdfast/engine/engine.hpp>

#include "options.hpp"

namespace holdfast::load {

/// The token that is paid with by --method erc20.
inline constexpr const char* token = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

class Plan {
 public:
  explicit Plan(const Options& options) : method_(options.method), seed_(options.seed) {}

  /// Each has a payee and an amount of its own.
  engine::NewPayment payment(std::uint64_t number) const;
  engine::Caller caller(std::uint64_t number) const;

 private:
  Method method_;
  std::uint64_t seed_;
};

}  // namespace holdfast::load
