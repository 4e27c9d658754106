// Owns: the jobs that were parked: who was parked and why, and the two things a person can do about
// one, each signed with who and when.
// Must never: end a payment or bring one back to life: a job is a note to look again, nothing more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.hpp"

namespace holdfast::store {

/// A job that used up its deliveries, or was declared poison.
struct DeadLetter {
  std::int64_t row = 0;
  domain::Job job;
  std::int64_t at_ms = 0;  ///< parked, wall time
  std::uint32_t deliveries = 0;
  std::uint32_t lapsed_leases = 0;
  std::string verdict;  ///< budget_spent, declared_poison
  domain::IntentState state = domain::IntentState::needs_review;  ///< where its intent ended up
  std::uint32_t cycles = 0;  ///< how often the job was redriven, this letter's own included
  /// What became of it; empty while it is parked.
  struct End {
    std::string as;  ///< redriven, dropped
    std::string who;
    std::string why;
    std::int64_t at_ms = 0;
  };
  std::optional<End> end;
  domain::IntentState state_now = domain::IntentState::needs_review;  ///< of its intent
};

struct DeadLetterPage {
  std::vector<DeadLetter> letters;
  std::int64_t next = 0;  ///< cursor; zero: no more
};
/// Newest first; `cursor` zero: from the newest. At most 500.
DeadLetterPage dead_letters(Txn& txn, std::size_t limit, std::int64_t cursor, bool open_only);
std::optional<DeadLetter> dead_letter(Txn& txn, std::int64_t row);
std::uint64_t parked_count(Txn& txn);
std::uint64_t review_count(Txn& txn);

struct SignedLetter {
  DeadLetter letter;
  bool replayed = false;  ///< this request was answered before; nothing was written
};

/// Queues the job again, then signs. It moves nothing: an intent in review stays there until
/// evidence or a resolution. Refusals, nothing written: `not_found`; `letter_ended`; `no_help` when
/// a job can do nothing for the intent where it stands; `key_reused`.
Result<SignedLetter> redrive(Txn& txn, std::int64_t row, const Signature& by);
/// Signs it away; the payment is left as it is. `not_found`, `letter_ended`, `key_reused`.
Result<SignedLetter> drop(Txn& txn, std::int64_t row, const Signature& by);

/// For the move that gives the payment its safe ending: the leased job becomes a dead letter. Part
/// of that move's write. A letter of the same job that is open still is brought up to date.
void park_job(Txn& txn, const IntentRow& intent, const domain::Receipt& receipt,
              std::string_view verdict, std::string_view who, std::int64_t now_ms);

}  // namespace holdfast::store
