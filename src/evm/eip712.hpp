// Owns: the EIP-712 domain and the digest a wallet signs.
#pragma once

#include <cstdint>
#include <string>

#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

/// EIP712Domain(string name,string version,uint256 chainId,address verifyingContract): the four
/// fields that tokens with EIP-3009 use. A token with another domain is found out by comparing its
/// DOMAIN_SEPARATOR() with this one's.
struct Domain {
  std::string name;
  std::string version;
  std::uint64_t chain_id = 0;
  Address20 verifying_contract;

  bool operator==(const Domain&) const = default;
};

Hash32 domain_separator(const Domain& domain);

/// keccak256(0x19 0x01 ‖ domain separator ‖ struct hash).
Hash32 typed_data_digest(const Hash32& separator, const Hash32& struct_hash);

}  // namespace holdfast::evm
