// Owns: the payers of a run, who sign its authorizations: keys made from its seed.
// Must never: be used with money: whoever knows the seed has the keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evm/eip3009.hpp"
#include "evm/secp.hpp"

namespace holdfast::load {

class Payers {
 public:
  /// The same seed gives the same ones.
  explicit Payers(std::uint64_t seed);

  const evm::Address20& of(std::uint64_t payment) const { return payers_[at(payment)].address; }
  std::vector<evm::Address20> all() const;
  /// The payer's signature over the token's authorization of this payment: r, s, v. Some 30 µs.
  Bytes sign(std::uint64_t payment, const evm::TransferAuthorization& what,
             std::uint64_t chain_number) const;

 private:
  struct Payer {
    evm::SecretKey key;
    evm::Address20 address;
  };
  std::size_t at(std::uint64_t payment) const { return payment % payers_.size(); }

  std::vector<Payer> payers_;
};

}  // namespace holdfast::load
