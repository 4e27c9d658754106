#include "plan.hpp"

#include <algorithm>
#include <string>

#include "evm/address.hpp"
#include "token.hpp"

namespace holdfast::load {

Plan::Plan(const Options& options) : method_(options.method), seed_(options.seed) {
  if (method_ == Method::authorization) payers_ = std::make_shared<const Payers>(seed_);
}

evm::Address20 Plan::payee(std::uint64_t number) const {
  const Digest digest = FieldHash("holdfast-load/payee/1").add(seed_).add(number).finish();
  evm::Address20 out;
  std::copy_n(digest.begin(), out.value.size(), out.value.begin());
  return out;
}

engine::NewPayment Plan::payment(std::uint64_t number) const {
  engine::NewPayment out;
  out.chain = chain_name;
  out.method = is_signed() ? "transfer_authorization" : "payout";
  out.asset = method_ == Method::native ? "native" : token;
  if (is_signed()) out.payer = payers_->of(number).hex();
  out.payee = payee(number).hex();
  out.amount = domain::Amount(number + 1);
  return out;
}

engine::Caller Plan::caller(const std::string& key) const {
  engine::Caller out;
  out.id = {"load"};
  out.idempotency_key = key;
  out.fingerprint = sha256(as_bytes(key));
  return out;
}

engine::Caller Plan::caller(std::uint64_t number) const {
  return caller(std::to_string(seed_) + "/" + std::to_string(number));
}

engine::Caller Plan::signer(std::uint64_t number) const {
  return caller(std::to_string(seed_) + "/" + std::to_string(number) + "/signed");
}

Bytes Plan::signature(std::uint64_t number, const domain::Validity& window,
                      const domain::Ref& ref) const {
  const evm::TransferAuthorization what{.from = payers_->of(number),
                                        .to = payee(number),
                                        .value = U256(number + 1),
                                        .valid_after = static_cast<std::uint64_t>(window.after_s),
                                        .valid_before = static_cast<std::uint64_t>(window.before_s),
                                        .nonce = {ref.value}};
  return payers_->sign(number, what, chain_number);
}

}  // namespace holdfast::load
