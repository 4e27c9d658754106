// Owns: EIP-1559 (type 2) transactions: the digest to sign, the signed bytes, and the strict
// reading of signed bytes by which the engine checks that they say what the record says.
// Must never: sign, or read bytes into anything but the one transaction that hashes to them.
#pragma once

#include <cstdint>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/address.hpp"
#include "evm/keccak.hpp"
#include "evm/secp.hpp"

namespace holdfast::evm {

/// A transaction with an empty access list, to an account (never a contract creation).
/// Fees are in wei per unit of gas, `value` in wei.
struct Transaction1559 {
  std::uint64_t chain_id = 0;
  std::uint64_t nonce = 0;
  U256 max_priority_fee;
  U256 max_fee;
  std::uint64_t gas_limit = 0;
  Address20 to;
  U256 value;
  Bytes data;

  bool operator==(const Transaction1559&) const = default;
};

/// What the sending account signs: keccak256(0x02 ‖ rlp(fields)).
Hash32 signing_digest(const Transaction1559& tx);

/// The bytes for eth_sendRawTransaction. `signature` must be one that `check_signature` takes.
Bytes encode_signed(const Transaction1559& tx, const Signature& signature);

/// The hash a node knows the signed bytes by.
Hash32 tx_hash(ByteView raw);

struct SignedTransaction {
  Transaction1559 tx;
  Signature signature;
  Address20 sender;  ///< recovered from the signature
  Hash32 hash;
};

/// Signed bytes as they read, whoever signed them.
struct UnprovenTransaction {
  Transaction1559 tx;
  Signature signature;
  Hash32 digest;  ///< what the signature must be of
};

/// As `decode_signed`, but who signed is not asked, which is most of the price. For bytes that
/// carry a signature whose signer is known.
Result<UnprovenTransaction> decode_unproven(ByteView raw);

/// What a signer gave, and for which digest.
struct GivenSignature {
  Signature signature;
  Hash32 digest;
};

/// Whether the bytes carry exactly the recorded transaction, and exactly this signature over it.
/// Errors: differs_from_record, naming the first field that differs.
Result<void> check_says(const UnprovenTransaction& read, const Transaction1559& recorded,
                        const GivenSignature& given);

/// Reads signed bytes. Strict: canonical RLP, nothing behind it, every field in its range, the
/// priority fee not above the fee, an empty access list, a low-s signature.
/// Errors: bad_rlp, bad_transaction (another type, a contract creation, an access list, a field out
/// of range), bad_signature, malleable_signature.
Result<SignedTransaction> decode_signed(ByteView raw);

/// Whether signed bytes carry exactly the recorded transaction from the recorded account.
/// Errors: differs_from_record, naming the first field that differs; bytes of which this is said
/// must never be posted.
Result<void> check_says(const SignedTransaction& signed_tx, const Transaction1559& recorded,
                        const Address20& sender);

}  // namespace holdfast::evm
