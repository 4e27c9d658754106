// Owns: what every method that a payer signs for asks of the signed window and nonce.
#pragma once

#include <holdfast/base/result.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/ports/method.hpp>

namespace holdfast::evm {

struct WindowMargins {
  /// A window must still be open this long, on the later of both clocks.
  std::int64_t before_s = 6;
  /// The newest block may be so old: how far the chain's clock may be behind a window's start.
  std::int64_t chain_lag_s = 30;
};

inline bool is_window(const domain::Validity& window) {
  return window.after_s >= 0 && window.after_s < window.before_s;
}

/// The signed window is the intent's `validity`, and open now. Errors: wrong_signer, bad_terms,
/// not_yet_valid (it opens later than now, by the wall clock, or by the chain's plus
/// `chain_lag_s`), expired.
Result<void> check_window(const domain::Intent& intent, const domain::Validity& signed_window,
                          ports::Moment now, const WindowMargins& margins);

/// The nonce is the intent's ref, which we proposed; only where the payer brought a nonce of their
/// own does the intent carry an authorization before it is verified, and then it is that one's.
/// Errors: wrong_nonce.
Result<void> check_nonce(const domain::Intent& intent, const domain::Nonce& nonce);

}  // namespace holdfast::evm
