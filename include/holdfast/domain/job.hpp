// Owns: a queued note to look at an intent, and the facts a lease hands out with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/domain/attempt.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/slot.hpp>

namespace holdfast::domain {

enum class JobKind { settle };
std::string_view to_text(JobKind kind);

struct Job {
  IntentId intent;
  Ref ref;
  JobKind kind = JobKind::settle;
};

/// "<intent id>/settle".
std::string job_id(const Job& job);

struct Lease {
  Job job;
  Receipt receipt;
  std::uint32_t deliveries = 0;     ///< this one included
  std::uint32_t lapsed_leases = 0;  ///< leases that ran out: what spends the budget
};

/// A transaction of our account that the store knows nothing of but that it carries a ref of ours.
struct CarriesRef {
  TxHash hash;
  Address account;
  Sequence sequence;
};

/// All the store knows of one payment, read in one transaction.
struct Facts {
  Intent intent;
  std::vector<Attempt> attempts;  ///< every one the intent ever had, oldest first
  std::optional<Slot> slot;       ///< the current one: its newest that is not released
  bool slot_is_lowest = false;    ///< no unconsumed slot of the account is below it
  std::uint32_t slots_taken = 0;  ///< how many numbers it was ever given
  /// The newest of them was given back unsigned, and is bound again when one is asked for.
  bool newest_is_released = false;
  /// The other slots an attempt of it was ever stored at. Where one is missing its attempts count
  /// as able to run: nothing is signed at a fresh number, and nothing fails by proof 2.
  std::vector<Slot> earlier_slots;
  /// Transactions of our account that carry its ref, and that this store knows nothing of: it may
  /// have been paid by what the store lost. They may stand in one another's place.
  std::vector<CarriesRef> ref_found_in;
  /// It was claimed with a number, and neither the number nor an attempt is stored any more: what
  /// was signed is not known. Says nothing where a chain has no numbers.
  bool number_gone = false;
};

/// Was this sent by what a restored store has forgotten? It stands for the payment as its own bytes
/// do.
bool is_lost_part(std::span<const CarriesRef> found, const TxHash& hash);
/// It is confirming on a transaction that none of its own attempts is: that one may have paid it,
/// and its own bytes are not posted again.
bool stands_on_anothers(const Facts& facts);

}  // namespace holdfast::domain
