// Owns: one transaction signed, or asked to be signed or sent, for a slot. Append-only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

enum class AttemptKind { pay, noop };
std::string_view to_text(AttemptKind kind);
std::optional<AttemptKind> attempt_kind_from(std::string_view text);

/// What the newest post (or opaque call) of these bytes told us. `stored` = not answered yet, and
/// after a crash that means "maybe sent".
enum class AttemptOutcome { stored, accepted, refused, not_sent, unknown };
std::string_view to_text(AttemptOutcome outcome);
std::optional<AttemptOutcome> attempt_outcome_from(std::string_view text);

struct Fees {
  U256 max_fee;       ///< per unit of gas, base units of the native asset
  U256 priority_fee;  ///< part of it for the block's builder
  std::uint64_t gas_limit = 0;
  bool operator==(const Fees&) const = default;
};

struct Attempt {
  AttemptId id;
  std::optional<IntentId> intent;  ///< empty for an account's own noop
  std::optional<SlotId> slot;      ///< empty where there is no sequence (opaque sender)
  AttemptKind kind = AttemptKind::pay;
  Bytes bytes;                  ///< exactly what is posted; empty where others keep it
  std::optional<TxHash> hash;   ///< empty where the sender alone knows it
  Fees fees;
  AttemptOutcome outcome = AttemptOutcome::stored;
  std::string detail;           ///< the class of the answer; never a node's raw text
  std::int64_t stored_ms = 0;   ///< wall time
  std::int64_t posted_ms = 0;   ///< wall time of the newest post; zero = never
};

/// The payment's own `pay` attempt with this hash, among these; null: there is none.
const Attempt* own_pay(std::span<const Attempt> attempts, const TxHash& hash);

}  // namespace holdfast::domain
