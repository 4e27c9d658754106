// Owns: the token of a run: where it is, what payers sign for it, what it answers on a chain of our
// own, and how a development node is given it.
// Must never: be put on a chain whose money is anybody's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/json/array.hpp>

#include "evm/address.hpp"
#include "evm/eip712.hpp"

namespace holdfast::load {

/// tools/contracts/HoldfastToken.sol, at the address where anvil's first account would deploy it.
inline constexpr const char* token = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
inline constexpr const char* token_name = "Holdfast Dollar";
inline constexpr const char* token_version = "1";

evm::Domain token_domain(std::uint64_t chain_number);

/// One authorization, as the token knows it.
struct AuthorizationKey {
  evm::Address20 payer;
  evm::Bytes32 nonce;
  bool operator==(const AuthorizationKey&) const = default;
};
struct AuthorizationKeyHash {
  std::size_t operator()(const AuthorizationKey& key) const noexcept {
    return std::hash<evm::Bytes32>{}(key.nonce);
  }
};

/// What a call of a view answers where everybody has enough of the token. Empty: it has no such
/// function, or what it would answer is nothing that the engine asks.
std::optional<Bytes> token_answer(ByteView call_data, std::uint64_t chain_number,
                                  const std::function<bool(const AuthorizationKey&)>& is_used);

/// The parameters of anvil_setCode, and of anvil_setStorageAt for the token's name, its version,
/// and the balance of an account, which becomes 2^64.
boost::json::array code_params();
boost::json::array name_params();
boost::json::array version_params();
boost::json::array balance_params(const evm::Address20& owner);

}  // namespace holdfast::load
