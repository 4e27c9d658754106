// Owns: reservations: which number a payment gets, and what becomes of its slot when it ends.
// Must never: release what was signed, or give a number twice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/journal.hpp"
#include "store/rows.hpp"

namespace holdfast::store {

/// A number decided on before the first write.
struct Reservation {
  bool is_there = false;  ///< the payment has an open slot: nothing is written
  std::int64_t account_row = 0;
  domain::Slot slot;  ///< its id is given by the write
  std::uint64_t epoch = 0;
  bool is_lowest = false;
};

struct ReservationWish {
  std::span<const Candidate> candidates;
  std::uint32_t max_unconsumed = 16;
  /// An operator sends a payment back after a review: a number that is gone is no obstacle then.
  bool fresh_if_unusable = false;
};

/// Rules 2 to 4 of section 3. Refusals: account_full, stale_epoch, released_slot_unusable, and
/// not_signable where a transaction of the payment's own consumed a number.
Result<Reservation> plan_reservation(Txn& txn, const Payment& payment, const ReservationWish& wish);
/// Inserts the slot and adds it to `payment`.
void write_reservation(Txn& txn, Payment& payment, const Reservation& reservation,
                       std::int64_t now_ms);

/// The slots changed by a write: decided first, then written together.
class SlotChanges {
 public:
  SlotChanges(Txn& txn, Payment& payment) : txn_(txn), payment_(payment) {}

  /// The slot of ours at which this final transaction stands, if any, is consumed by it, and its
  /// fee goes to `posting`.
  Result<void> consume(const domain::MinedTx& tx, Posting& posting, std::int64_t at_ms);
  /// The payment has ended: its current slot is released, kept or handed over (slot_at_end).
  void end_current();
  /// A current slot with nothing signed for it is released.
  void release_unsigned();
  /// A node has the bytes.
  void broadcast(domain::SlotId id);
  void write(std::int64_t now_ms);

 private:
  SlotRow* find(const domain::MinedTx& tx);
  void note(const SlotRow& row);

  Txn& txn_;
  Payment& payment_;
  std::optional<SlotRow> foreign_;      ///< a slot of another payment that `tx` stood at
  std::vector<domain::SlotId> changed_;  ///< of the payment's own
};

}  // namespace holdfast::store
