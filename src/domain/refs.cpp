#include <holdfast/domain/refs.hpp>

#include <algorithm>

namespace holdfast::domain {
namespace {

template <class Fixed>
Fixed first_bytes(const Digest& digest) {
  static_assert(Fixed::size <= std::tuple_size_v<Digest>);
  Fixed out;
  std::copy_n(digest.begin(), Fixed::size, out.value.begin());
  return out;
}

FieldHash& add_redeemed(FieldHash& hash, const Terms& terms, const Nonce& nonce) {
  return hash.add(terms.method.value)
      .add(terms.chain.value)
      .add(terms.asset.value)
      .add(terms.payer.value)
      .add(nonce.view());
}

}  // namespace

IntentId derive_intent_id(const CallerId& caller, std::string_view idempotency_key) {
  return first_bytes<IntentId>(
      FieldHash("holdfast/intent/1").add(caller.value).add(idempotency_key).finish());
}

IntentId derive_intent_id(const Terms& terms, const Nonce& nonce, std::uint64_t earlier_ended) {
  FieldHash hash("holdfast/intent-redeemed/1");
  return first_bytes<IntentId>(add_redeemed(hash, terms, nonce).add(earlier_ended).finish());
}

Ref derive_ref(const IntentId& id, const Terms& terms) {
  return first_bytes<Ref>(FieldHash("holdfast/ref/1")
                              .add(id.view())
                              .add(terms.chain.value)
                              .add(terms.asset.value)
                              .add(terms.payer.value)
                              .add(terms.payee.value)
                              .add(terms.amount.big_endian())
                              .finish());
}

RedemptionKey derive_redemption_key(const Terms& terms, const Nonce& nonce) {
  FieldHash hash("holdfast/redemption/1");
  return first_bytes<RedemptionKey>(add_redeemed(hash, terms, nonce).finish());
}

}  // namespace holdfast::domain
