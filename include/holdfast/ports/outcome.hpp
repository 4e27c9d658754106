// Owns: what a remote call told us, in the only four ways there are.
// Must never: turn an unknown into a no.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace holdfast::ports {

/// What a node meant by no. The wings' catalogues map texts to these; the engine knows no texts.
enum class RefusalKind {
  nonce_too_low,
  nonce_too_high,           ///< a gap: the same bytes again, once what is below has landed
  replacement_underpriced,  ///< the slot is occupied by another transaction, ours or foreign
  type_conflict,            ///< the account has bytes of another kind in the pool
  underpriced,              ///< fee too low for this node or block
  over_fee_cap,             ///< the node's own ceiling
  unfunded,
  gas,                      ///< limit too low or over the block's
  tx_type,
  malformed,                ///< sender, chain id, size, signature: no such bytes will do
  pool_full,
  stuck_for_good,           ///< can never be included (out of counters, quarantined)
  reverted,                 ///< a simulated call: the contract said no
  no_such_method,           ///< the node does not offer this read
  other,                    ///< a definite no, of no kind above
};
std::string_view to_text(RefusalKind kind);

struct Refused {
  RefusalKind kind = RefusalKind::other;
  std::string message;  ///< decoded and bounded; never a raw body, a URL or a secret
};
/// It provably never left this process.
struct NotSent {
  std::string reason;
};
/// Anything else: time-out, reset, 5xx, 429, an answer we cannot read, a wrong id.
struct Unknown {
  std::string reason;
  bool rate_limited = false;
  bool answered = false;  ///< the node itself said something: it is there, whatever it meant
};

/// Four cases; `match` takes all of them or does not compile. Default: unknown.
template <class T>
class Outcome {
 public:
  Outcome() : value_(Unknown{"not asked", false}) {}
  Outcome(T value) : value_(std::move(value)) {}        // NOLINT: an answer is an Outcome
  Outcome(Refused refused) : value_(std::move(refused)) {}    // NOLINT
  Outcome(NotSent not_sent) : value_(std::move(not_sent)) {}  // NOLINT
  Outcome(Unknown unknown) : value_(std::move(unknown)) {}    // NOLINT

  template <class OnOk, class OnRefused, class OnNotSent, class OnUnknown>
  decltype(auto) match(OnOk&& on_ok, OnRefused&& on_refused, OnNotSent&& on_not_sent,
                       OnUnknown&& on_unknown) const {
    switch (value_.index()) {
      case 0: return std::forward<OnOk>(on_ok)(std::get<0>(value_));
      case 1: return std::forward<OnRefused>(on_refused)(std::get<1>(value_));
      case 2: return std::forward<OnNotSent>(on_not_sent)(std::get<2>(value_));
      default: return std::forward<OnUnknown>(on_unknown)(std::get<3>(value_));
    }
  }

  /// The answer when there is one; null otherwise. For reads whose other endings are all alike.
  const T* ok() const { return std::get_if<0>(&value_); }
  T* ok() { return std::get_if<0>(&value_); }
  const Refused* refused() const { return std::get_if<1>(&value_); }
  const NotSent* not_sent() const { return std::get_if<2>(&value_); }
  const Unknown* unknown() const { return std::get_if<3>(&value_); }

  /// The same ending without its value, for handing a failure on as another type's.
  template <class U>
  Outcome<U> failure() const {
    if (const auto* no = refused()) return *no;
    if (const auto* unsent = not_sent()) return *unsent;
    if (const auto* lost = unknown()) return *lost;
    return Unknown{"a success was handed on as a failure", false};
  }
  /// One bounded sentence for logs; "ok" for a success.
  std::string text() const {
    if (ok() != nullptr) return "ok";
    if (const auto* no = refused()) return std::string(to_text(no->kind)) + ": " + no->message;
    if (const auto* unsent = not_sent()) return "not sent: " + unsent->reason;
    return "unknown: " + unknown()->reason;
  }

 private:
  std::variant<T, Refused, NotSent, Unknown> value_;
};

}  // namespace holdfast::ports
