// Owns: what the listener does about one watched intent, as a pure function: the listener's rows of
// the transition table, and the bullets on `confirming → settling` in domain.md section 4.
// Must never: end anything without final evidence or a proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/domain/decide.hpp>
#include <holdfast/domain/evidence.hpp>
#include <holdfast/domain/finality.hpp>
#include <holdfast/domain/intent.hpp>

namespace holdfast::domain {

/// What is known of a watched intent at this head.
struct FollowSeen {
  bool included = false;  ///< a transaction of it, or one that used its authorization, was mined
  bool own_hash = false;  ///< that transaction is one of its own attempts
  Verdict verdict = Verdict::pending;  ///< of that inclusion; `lost` also when it just went away
  Evidence evidence;  ///< what that transaction moved
  /// No attempt of its own is stored: it stands on somebody else's transaction, and on nothing
  /// more.
  bool stands_on_other = false;
  /// Since its bytes were posted last, and only when its slot is its account's lowest, or when it
  /// has none and stands on another's transaction.
  std::optional<std::int64_t> lowest_since_post_ms;
};

enum class FollowMove {
  wait,
  confirm,  ///< evidence: → confirming
  settle,  ///< final evidence: → settled
  review,  ///< → needs_review
  fail,  ///< final revert of a payout: → failed, proof 2
  back,  ///< → settling, and the job again
};
std::string_view to_text(FollowMove move);

struct Follow {
  FollowMove move = FollowMove::wait;
  std::string_view reason;
};

Follow follow(const Intent& intent, const FollowSeen& seen, const Policy& policy);

}  // namespace holdfast::domain
