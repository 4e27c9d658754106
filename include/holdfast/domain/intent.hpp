// Owns: what an intent is made of. Its moves are in transitions.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

enum class IntentState {
  created,
  authorized,
  settling,
  confirming,
  settled,
  failed,
  canceled,
  needs_review,
};
inline constexpr int intent_state_count = 8;

std::string_view to_text(IntentState state);
std::optional<IntentState> intent_state_from(std::string_view text);
/// settled, failed, canceled: nothing leaves them.
bool is_terminal(IntentState state);

/// Who asks for a move. `operator_` is spelled "operator" in text.
enum class Actor { api, operator_, system, relayer, listener };
std::string_view to_text(Actor actor);
std::optional<Actor> actor_from(std::string_view text);

/// What the payment is. Never changes after creation; the ref commits to it.
struct Terms {
  ChainId chain;
  AssetId asset;
  Address payer;  ///< who signed, or our own account for a payout
  Address payee;
  Amount amount;
  MethodName method;
  bool operator==(const Terms&) const = default;
};

/// When a bearer authorization may run, in chain seconds: after `after_s`, before `before_s`.
struct Validity {
  std::int64_t after_s = 0;
  std::int64_t before_s = 0;
  bool operator==(const Validity&) const = default;
};

/// What the payer signed. `nonce` is the ref where we proposed it.
struct Authorization {
  Nonce nonce;
  Validity validity;
  Bytes signature;
  bool operator==(const Authorization&) const = default;
};

struct Intent {
  IntentId id;
  Ref ref;
  CallerId caller;
  Terms terms;
  /// True when anyone may run what the payer signed (EIP-3009); false when only our account can.
  bool bearer = false;

  IntentState state = IntentState::created;
  std::uint64_t version = 1;      ///< raised by every change; compare-and-set checks it
  std::optional<TxHash> tx_hash;  ///< the evidence it stands on, or the newest posted attempt
  std::string reason;             ///< why it stands where it stands, for review and endings
  bool cancel_asked = false;

  Validity validity;                           ///< proposed at creation for a bearer method
  std::optional<Authorization> authorization;  ///< present once signed, bearer methods only

  std::int64_t created_ms = 0;   ///< wall time
  std::int64_t updated_ms = 0;   ///< wall time
  std::int64_t settling_ms = 0;  ///< wall time of the claim; zero before
  /// Nothing is posted for the first time after this; wall seconds. For a bearer method never later
  /// than `validity.before_s` minus the margin.
  std::int64_t publish_before_s = 0;
};

}  // namespace holdfast::domain
