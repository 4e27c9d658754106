// Owns: what moved on the chain, as the chain itself saw it, and the comparison of that with what
// was asked for and what the record says.
// Must never: take the engine's word for a movement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <holdfast/domain/intent.hpp>

namespace holdfast::load {

/// The beginning of a hash or an address: enough to tell millions apart, in little memory.
using Head = std::uint64_t;
Head head_of(ByteView bytes);

/// One transfer in a block.
struct Moved {
  Head ref = 0;   ///< of the 32 bytes behind the call
  Head payee = 0;
  std::uint64_t amount = 0;
  std::int64_t posted_us = 0;  ///< steady clock: when its transaction first came in
};

/// One payment that was asked for and accepted.
struct Owed {
  Head ref = 0;
  Head payee = 0;
  std::uint64_t amount = 0;
  std::int64_t accepted_us = 0;  ///< steady clock: when the answer to the request was there
};

/// Where the record says that a payment stands.
struct Recorded {
  Head ref = 0;
  domain::IntentState state = domain::IntentState::created;
};

struct Audit {
  std::uint64_t settled = 0;
  std::uint64_t failed = 0;     ///< failed or canceled
  std::uint64_t in_review = 0;
  /// Accepted, and: settled without exactly this transfer; ended otherwise although it was paid;
  /// not on record; or neither ended nor in review.
  std::uint64_t lost = 0;
  /// Transfers beyond a payment's first, and transfers that nobody asked for.
  std::uint64_t doubled = 0;
};

/// Sorts what it is given by ref.
Audit audit(std::span<Owed> owed, std::span<Moved> moved, std::span<Recorded> recorded);

}  // namespace holdfast::load
