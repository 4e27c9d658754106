// Owns: ECDSA on secp256k1 (libsecp256k1 with its recovery module): keys, signatures, recovery.
// Must never: print, copy or leave behind a secret key; accept the malleable form of a signature.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

struct Signature {
  U256 r;
  U256 s;
  std::uint8_t y_parity = 0;  ///< 0 or 1; v is this, or 27 more

  bool operator==(const Signature&) const = default;
};

/// A private key in a memory page of its own that is kept out of core dumps and swap where the
/// system allows it, and wiped when the key goes. Moved, never copied. A moved-from key may only be
/// destroyed or assigned to.
class SecretKey {
 public:
  /// From 32 bytes between 1 and the curve's order − 1. The caller wipes its own copy.
  /// Errors: bad_secret_key (never echoes anything of the key).
  static Result<SecretKey> from(ByteView bytes);
  /// From 64 hex digits with or without "0x"; otherwise as `from`.
  static Result<SecretKey> parse(std::string_view hex);

  SecretKey(SecretKey&&) noexcept = default;
  SecretKey& operator=(SecretKey&&) noexcept = default;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey() = default;

 private:
  struct Wipe {
    void operator()(Byte* page) const;
  };
  friend Signature sign(const Hash32& digest, const SecretKey& key);
  friend Address20 address_of(const SecretKey& key);

  explicit SecretKey(std::unique_ptr<Byte, Wipe> page) : page_(std::move(page)) {}

  std::unique_ptr<Byte, Wipe> page_;
};

/// Signs a digest. Deterministic (RFC 6979) and with s in the lower half: the same key and digest
/// give the same bytes for ever, so signing again after a crash makes no second transaction.
/// Thread-safe.
Signature sign(const Hash32& digest, const SecretKey& key);

/// The account of the key. Takes as long as a signature: keep the answer.
Address20 address_of(const SecretKey& key);

/// Who signed `digest`. Any well-formed signature recovers to somebody: compare with the account
/// expected. Thread-safe.
/// Errors: malleable_signature; bad_signature when r, s or the parity is out of range or no key
/// could have made it.
Result<Address20> recover(const Hash32& digest, const Signature& signature);

/// r and s within 1 … order − 1, s in the lower half (EIP-2), parity 0 or 1.
/// Errors: bad_signature, malleable_signature.
Result<void> check_signature(const Signature& signature);

/// Reads r ‖ s ‖ v (65 bytes; v 27 or 28, or 0 or 1) and checks it as `check_signature` does.
/// EIP-2098's 64 bytes are refused: the contracts we call do not take them.
/// Errors: bad_signature, malleable_signature.
Result<Signature> parse_signature(ByteView bytes);

/// r ‖ s ‖ v with v 27 or 28, as contracts and wallets expect it.
std::array<Byte, 65> signature_bytes(const Signature& signature);

/// Blinds the signing context with 32 secret random bytes (protection against side channels, at no
/// cost in determinism: signatures stay the same). The codec has no entropy of its own, so whoever
/// has calls this once at start, before other threads sign. Leaving it out is safe against remote
/// attackers: libsecp256k1 is constant-time without it.
void blind_signing(const std::array<Byte, 32>& entropy);

}  // namespace holdfast::evm
