#include "evm/secp.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <optional>
#include <vector>

#include <secp256k1.h>
#include <secp256k1_recovery.h>
#include <string.h>
#include <sys/mman.h>

#include <holdfast/base/ensure.hpp>

#include "evm/codec_error.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t key_size = 32;
constexpr std::size_t page_size = 4096;  // mapping less still gives a whole page

// The curve's order n, and n / 2 + 1, least significant word first (SEC 2, 2.4.1).
constexpr std::array<std::uint64_t, 4> order = {0xBFD25E8CD0364141, 0xBAAEDCE6AF48A03B,
                                                0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF};
constexpr std::array<std::uint64_t, 4> upper_half = {0xDFE92F46681B20A1, 0x5D576E7357A4501D,
                                                     0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF};

bool below(const U256& number, const std::array<std::uint64_t, 4>& bound) {
  const auto& words = number.words();
  return std::lexicographical_compare(words.rbegin(), words.rend(), bound.rbegin(), bound.rend());
}

/// One for the process, never destroyed: keys may be used until the very end of it.
secp256k1_context* context() {
  static secp256k1_context* const made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  return made;
}

Byte* new_key_page() {
  void* page = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  // Best effort: both are refused in some containers, and a key that works is worth more there.
  mlock(page, page_size);
  madvise(page, page_size, MADV_DONTDUMP);
  return static_cast<Byte*>(page);
}

Address20 address_of_public(const secp256k1_pubkey& key) {
  std::array<Byte, 65> point{};  // 0x04 ‖ x ‖ y
  std::size_t size = point.size();
  secp256k1_ec_pubkey_serialize(context(), point.data(), &size, &key, SECP256K1_EC_UNCOMPRESSED);
  const Hash32 hash = keccak256(ByteView(point).subspan(1));
  return *Address20::from(hash.view().last(Address20::size));
}

/// r ‖ s.
std::array<Byte, 64> compact(const Signature& signature) {
  std::array<Byte, 64> out{};
  std::ranges::copy(signature.r.big_endian(), out.begin());
  std::ranges::copy(signature.s.big_endian(), out.begin() + 32);
  return out;
}

/// What was recovered lately. A payment is verified, and again when it is settled, and a recovery
/// takes as long as all else of a verification; that it says the same each time is mathematics.
struct Recovered {
  Hash32 digest;
  Signature signature;
  std::optional<Address20> signer;
};

/// The places for this digest; others may hold them. Several, so that two payments that come again
/// and again do not drive each other out.
class Places {
 public:
  const Recovered* find(const Hash32& digest, const Signature& signature) const {
    const auto same = [&](const Recovered& one) {
      return one.signer && one.digest == digest && one.signature == signature;
    };
    const auto found = std::ranges::find_if(held_, same);
    return found == held_.end() ? nullptr : &*found;
  }
  /// In the place of the one that was kept first.
  void keep(const Recovered& recovered) {
    held_[next_] = recovered;
    next_ = (next_ + 1) % held_.size();
  }

 private:
  std::array<Recovered, 4> held_;
  std::size_t next_ = 0;
};

Places& places_for(const Hash32& digest) {
  constexpr std::size_t sets = 256;
  thread_local std::vector<Places> kept(sets);
  return kept[std::size_t{digest.value[0]} % sets];
}

}  // namespace

void SecretKey::Wipe::operator()(Byte* page) const {
  explicit_bzero(page, key_size);
  munmap(page, page_size);
}

Result<SecretKey> SecretKey::from(ByteView bytes) {
  if (bytes.size() != key_size) {
    return refuse(CodecError::bad_secret_key,
                  "a secret key has 32 bytes; this has " + std::to_string(bytes.size()));
  }
  SecretKey key{std::unique_ptr<Byte, Wipe>(new_key_page())};
  std::ranges::copy(bytes, key.page_.get());
  if (secp256k1_ec_seckey_verify(context(), key.page_.get()) != 1) {
    return refuse(CodecError::bad_secret_key,
                  "a secret key is between 1 and the order of secp256k1 less one; this is not");
  }
  return key;
}

Result<SecretKey> SecretKey::parse(std::string_view hex) {
  std::array<Byte, key_size> bytes{};
  const bool read = from_hex_into(hex, bytes);
  Result<SecretKey> key = read ? from(bytes)
                               : refuse(CodecError::bad_secret_key,
                                        "a secret key is 64 hex digits, with 0x or without");
  explicit_bzero(bytes.data(), bytes.size());
  return key;
}

Signature sign(const Hash32& digest, const SecretKey& key) {
  ensure(key.page_ != nullptr, "a moved-from key signs nothing");
  secp256k1_ecdsa_recoverable_signature made;
  // The default nonce function is RFC 6979; the library gives the low-s form by itself.
  const int ok = secp256k1_ecdsa_sign_recoverable(context(), &made, digest.value.data(),
                                                  key.page_.get(), nullptr, nullptr);
  ensure(ok == 1, "a key that was accepted signs");
  std::array<Byte, 64> bytes{};
  int recovery_id = 0;
  secp256k1_ecdsa_recoverable_signature_serialize_compact(context(), bytes.data(), &recovery_id,
                                                          &made);
  // 2 and 3 mean that r wrapped around the order, which a chain cannot express; nobody has seen
  // one (about 2^-127).
  ensure(recovery_id == 0 || recovery_id == 1, "the signature's r did not wrap around");
  return Signature{*U256::from_big_endian(ByteView(bytes).first(32)),
                   *U256::from_big_endian(ByteView(bytes).last(32)),
                   static_cast<std::uint8_t>(recovery_id)};
}

Address20 address_of(const SecretKey& key) {
  ensure(key.page_ != nullptr, "a moved-from key has no account");
  secp256k1_pubkey made;
  const int ok = secp256k1_ec_pubkey_create(context(), &made, key.page_.get());
  ensure(ok == 1, "a key that was accepted has a public key");
  return address_of_public(made);
}

Result<void> check_signature(const Signature& signature) {
  if (signature.y_parity > 1) {
    return refuse(CodecError::bad_signature, "the signature's parity is neither 0 nor 1");
  }
  const auto out_of_range = [](const U256& number) {
    return number.is_zero() || !below(number, order);
  };
  if (out_of_range(signature.r) || out_of_range(signature.s)) {
    return refuse(CodecError::bad_signature,
                  "the signature's r and s must be between 1 and the curve's order less one");
  }
  if (!below(signature.s, upper_half)) {
    return refuse(CodecError::malleable_signature,
                  "the signature's s is in the upper half of the curve's order: sign again with a "
                  "wallet that gives the low form (EIP-2)");
  }
  return {};
}

Result<Address20> recover(const Hash32& digest, const Signature& signature) {
  Places& places = places_for(digest);
  if (const Recovered* const kept = places.find(digest, signature)) return *kept->signer;
  if (const Result<void> checked = check_signature(signature); !checked) return checked.error();
  const std::array<Byte, 64> bytes = compact(signature);
  secp256k1_ecdsa_recoverable_signature parsed;
  secp256k1_pubkey key;
  if (secp256k1_ecdsa_recoverable_signature_parse_compact(context(), &parsed, bytes.data(),
                                                          signature.y_parity) != 1 ||
      secp256k1_ecdsa_recover(context(), &key, &parsed, digest.value.data()) != 1) {
    return refuse(CodecError::bad_signature, "the signature belongs to no key");
  }
  const Address20 signer = address_of_public(key);
  places.keep({digest, signature, signer});
  return signer;
}

Result<Signature> parse_signature(ByteView bytes) {
  if (bytes.size() != 65) {
    return refuse(CodecError::bad_signature, "a signature has 65 bytes (r, s and v); this has " +
                                                 std::to_string(bytes.size()));
  }
  const Byte v = bytes[64];
  if (v != 0 && v != 1 && v != 27 && v != 28) {
    return refuse(CodecError::bad_signature,
                  "the signature's v must be 27 or 28 (or 0 or 1); this is " + std::to_string(v));
  }
  const Signature signature{*U256::from_big_endian(bytes.first(32)),
                            *U256::from_big_endian(bytes.subspan(32, 32)),
                            static_cast<std::uint8_t>(v >= 27 ? v - 27 : v)};
  if (const Result<void> checked = check_signature(signature); !checked) return checked.error();
  return signature;
}

std::array<Byte, 65> signature_bytes(const Signature& signature) {
  std::array<Byte, 65> out{};
  std::ranges::copy(compact(signature), out.begin());
  out[64] = static_cast<Byte>(27 + signature.y_parity);
  return out;
}

void blind_signing(const std::array<Byte, 32>& entropy) {
  const int ok = secp256k1_context_randomize(context(), entropy.data());
  ensure(ok == 1, "the signing context takes blinding");
}

}  // namespace holdfast::evm
