#include "evm/methods/bearer_terms.hpp"

#include <algorithm>
#include <string>

#include "evm/methods/terms.hpp"

namespace holdfast::evm {

using ports::VerifyError;

Result<void> check_window(const domain::Intent& intent, const domain::Validity& signed_window,
                          ports::Moment now, const WindowMargins& margins) {
  const auto text = [](std::int64_t seconds) { return std::to_string(seconds); };
  if (signed_window != intent.validity) {
    return refuse(VerifyError::wrong_signer,
                  "validity: signed for another window than this payment's, which is after " +
                      text(intent.validity.after_s) + " and before " +
                      text(intent.validity.before_s));
  }
  if (!is_window(signed_window)) {
    return bad_terms("validity: after_s must be at least 0 and less than before_s");
  }
  // No block read yet: the wall clock stands for both.
  const std::int64_t chain_s = now.chain_s > 0 ? now.chain_s : now.wall_s;
  const std::int64_t opens_by = std::min(now.wall_s, chain_s + margins.chain_lag_s);
  if (signed_window.after_s >= opens_by) {
    return refuse(VerifyError::not_yet_valid,
                  "validity.after_s: the authorization is valid after " +
                      text(signed_window.after_s) + ", now is " + text(opens_by));
  }
  const std::int64_t needed = std::max(now.wall_s, chain_s) + margins.before_s;
  if (signed_window.before_s < needed) {
    return refuse(VerifyError::expired, "validity.before_s: the authorization ends at " +
                                            text(signed_window.before_s) +
                                            " and must be valid until " + text(needed));
  }
  return {};
}

Result<void> check_nonce(const domain::Intent& intent, const domain::Nonce& nonce) {
  if (intent.authorization) {
    if (nonce == intent.authorization->nonce) return {};
    return refuse(VerifyError::wrong_nonce, "nonce: not the one this payment was made for");
  }
  if (nonce == domain::Nonce{intent.ref.value}) return {};
  return refuse(VerifyError::wrong_nonce, "nonce: must be this payment's ref, " + intent.ref.hex());
}

}  // namespace holdfast::evm
