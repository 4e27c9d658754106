// Owns: what each payment of a run is: a function of the seed and its number.
#pragma once

#include <cstdint>
#include <memory>

#include <holdfast/engine/engine.hpp>

#include "options.hpp"
#include "payers.hpp"

namespace holdfast::load {

/// The chain of every run: anvil's too.
inline constexpr std::uint64_t chain_number = 31'337;
inline constexpr const char* chain_name = "eip155:31337";

class Plan {
 public:
  explicit Plan(const Options& options);

  /// Each has a payee and an amount of its own.
  engine::NewPayment payment(std::uint64_t number) const;
  engine::Caller caller(std::uint64_t number) const;

  /// Does somebody sign before a payment goes on?
  bool is_signed() const { return payers_ != nullptr; }
  /// The request that carries the signature.
  engine::Caller signer(std::uint64_t number) const;
  /// The payer's signature, where one is needed, over what the created payment proposes.
  Bytes signature(std::uint64_t number, const domain::Validity& window,
                  const domain::Ref& ref) const;

 private:
  evm::Address20 payee(std::uint64_t number) const;
  engine::Caller caller(const std::string& key) const;

  Method method_;
  std::uint64_t seed_;
  std::shared_ptr<const Payers> payers_;
};

}  // namespace holdfast::load
