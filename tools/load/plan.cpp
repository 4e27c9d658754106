#include "plan.hpp"

#include <algorithm>

#include "evm/address.hpp"

namespace holdfast::load {

engine::NewPayment Plan::payment(std::uint64_t number) const {
  const Digest digest = FieldHash("holdfast-load/payee/1").add(seed_).add(number).finish();
  evm::Address20 payee;
  std::copy_n(digest.begin(), payee.value.size(), payee.value.begin());
  engine::NewPayment out;
  out.chain = "eip155:31337";
  out.method = "payout";
  out.asset = method_ == Method::native ? "native" : token;
  out.payee = payee.hex();
  out.amount = domain::Amount(number + 1);
  return out;
}

engine::Caller Plan::caller(std::uint64_t number) const {
  engine::Caller out;
  out.id = {"load"};
  out.idempotency_key = std::to_string(seed_) + "/" + std::to_string(number);
  out.fingerprint = sha256(as_bytes(out.idempotency_key));
  return out;
}

}  // namespace holdfast::load
