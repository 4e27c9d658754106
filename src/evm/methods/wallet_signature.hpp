// Owns: whether a signature is a payer's: an ordinary account's, or a contract wallet's (EIP-1271,
// EIP-7702), told apart by the code at the address; and the wrapper of EIP-6492.
// Must never: guess by a signature's length or look who signs; run what a payer chose.
#pragma once

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>

#include "evm/chain.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

/// What any signature may have, its wrapper included.
inline constexpr std::size_t longest_wallet_signature = 8'192;

/// The signature of a wallet that is not there yet, and how it is made (EIP-6492).
struct Counterfactual {
  Address20 factory;
  Bytes factory_call;
  Bytes inner;  ///< what the wallet is asked about

  bool operator==(const Counterfactual&) const = default;
};

/// Ends in the magic bytes of EIP-6492, whatever is before them.
bool is_counterfactual(ByteView signature);
/// abi.encode(factory, factory call, inner signature) and the magic bytes, strictly. Errors:
/// bad_abi.
Result<Counterfactual> read_counterfactual(ByteView signature);

/// As contracts are given it: 65 bytes that end in 0 or 1 end in 27 or 28, everything else stays.
Bytes as_contracts_take_it(ByteView signature);

/// 65 bytes in the low form by which `payer` is recovered: then nobody has to be asked.
bool is_signed_by_key(const Address20& payer, const Hash32& digest, ByteView signature);

/// isValidSignature(bytes32,bytes) of a wallet, asked for a signature or for the one in its
/// wrapper; and whether the answer is a yes.
Bytes encode_is_valid_signature(const Hash32& digest, ByteView signature);
bool says_valid(ByteView answer);

/// What kind of payer it is, seen by asking.
enum class Payer { key, wallet };

/// Is this signature (no wrapper) the payer's over `digest`? Without any call where a key's
/// recovers to the payer. Otherwise the code at the payer decides, which is asked of all endpoints:
/// with code (a delegation of EIP-7702 is code) its isValidSignature is asked; without, it is as an
/// ordinary account's signature is. Errors: bad_signature, wrong_signer, node_trouble (a retry may
/// help).
ports::Awaitable<Result<Payer>> check_signature(EvmChain& chain, Address20 payer, Hash32 digest,
                                                Bytes signature);

}  // namespace holdfast::evm
