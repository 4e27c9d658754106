// Owns: the plain data of the operators' desk: dead letters, reviews, resolutions, accounts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/domain/review.hpp>
#include <holdfast/domain/slot.hpp>

namespace holdfast::engine {

/// A job that was parked: its delivery budget was spent, or it was declared poison.
struct DeadLetter {
  std::int64_t number = 0;
  domain::Job job;
  std::int64_t at_ms = 0;  ///< wall time
  std::uint32_t deliveries = 0;
  std::uint32_t lapsed_leases = 0;
  std::string verdict;          ///< budget_spent, declared_poison
  domain::IntentState state{};  ///< where its intent ended up then
  domain::IntentState state_now{};
  std::uint32_t cycles = 0;  ///< how often the job was redriven
  std::string ended_as;      ///< redriven, dropped; empty while it is parked
  std::string ended_by;
  std::string ended_why;
  std::int64_t ended_ms = 0;
};
struct DeadLetterPage {
  std::vector<DeadLetter> letters;
  std::int64_t next = 0;
};
struct DeadLetterAnswer {
  DeadLetter letter;
  bool replayed = false;
};

/// What an operator wants of a payment. Nothing here is believed: see domain/review.hpp.
struct Resolve {
  domain::Resolution as{};
  std::optional<domain::TxHash> tx_hash;  ///< needed for confirming and settled
  /// For failed, where the operator knows what used the payment's numbers; else they are looked up.
  std::vector<domain::TxHash> consumers;
  std::string reason;
};
struct Resolved {
  domain::Intent intent;  ///< as the first answer to this request showed it
  std::string note;  ///< what was done, in a sentence
  bool replayed = false;
};

/// What the engine has found on the chain for a payment in review.
struct Found {
  domain::TxHash hash;
  domain::BlockRef block;
  bool own = false;  ///< one of the payment's own attempts
  bool succeeded = false;
  domain::Moved moved{};
  domain::Amount arrived;
  domain::Verdict verdict{};
};

/// What waits for a person now.
struct DeskCounts {
  std::uint64_t dead_letters = 0;  ///< parked
  std::uint64_t reviews = 0;
};

/// An account goes on from this number.
struct Adopted {
  domain::Sequence goes_on_from;
  bool replayed = false;
};

/// One sending account, as stored and as the chain was read last.
struct AccountStatus {
  domain::ChainId chain;
  domain::Address address;
  std::uint64_t epoch = 0;
  bool read = false;  ///< the chain was asked; else the three counts are zero
  domain::Sequence latest;
  domain::Sequence pending;
  domain::Sequence finalized;
  std::uint32_t unconsumed = 0;  ///< open numbers
  std::uint32_t handed_over = 0;  ///< of those, the account's own to end
  std::optional<domain::Sequence> lowest_open;
  std::optional<domain::Sequence> highest_open;
  std::optional<domain::Sequence> highest_used;  ///< ever signed, consumed or bound
  std::string blocked;  ///< why it takes no claims; empty: it does
  std::string trouble;  ///< why its noops cannot be signed; empty: nothing is in their way
  /// Used with finality, by no transaction found: never given again. The lowest hundred.
  std::vector<domain::Sequence> found_empty;
};

}  // namespace holdfast::engine
