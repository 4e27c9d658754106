#include "payers.hpp"

#include <stdexcept>
#include <utility>

#include <holdfast/base/sha256.hpp>

#include "token.hpp"

namespace holdfast::load {

namespace {

constexpr std::uint64_t payer_count = 64;

}  // namespace

Payers::Payers(std::uint64_t seed) {
  payers_.reserve(payer_count);
  for (std::uint64_t i = 0; i < payer_count; ++i) {
    const Digest digest = FieldHash("holdfast-load/payer/1").add(seed).add(i).finish();
    auto key = evm::SecretKey::from(digest);
    if (!key) throw std::runtime_error(key.error().detail);
    const evm::Address20 address = evm::address_of(*key);
    payers_.push_back({std::move(*key), address});
  }
}

std::vector<evm::Address20> Payers::all() const {
  std::vector<evm::Address20> out;
  out.reserve(payers_.size());
  for (const Payer& payer : payers_) out.push_back(payer.address);
  return out;
}

Bytes Payers::sign(std::uint64_t payment, const evm::TransferAuthorization& what,
                   std::uint64_t chain_number) const {
  const evm::Hash32 digest = evm::authorization_digest(token_domain(chain_number), what);
  const auto bytes = evm::signature_bytes(evm::sign(digest, payers_[at(payment)].key));
  return {bytes.begin(), bytes.end()};
}

}  // namespace holdfast::load
