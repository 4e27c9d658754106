// Owns: a payment as its rows: reading them, and writing back where the intent stands.
// Must never: decide anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/model.hpp"
#include "store/statements.hpp"

namespace holdfast::store {

/// An intent with its rowid, and the receipt its job has now.
struct IntentRow {
  std::int64_t row = 0;
  domain::Intent intent;
  bool has_job = false;
  bool has_ref_found = false;  ///< something carries its ref, see Payment::ref_found_in
  std::optional<domain::Receipt> receipt;  ///< the current one, while the job is leased
};

struct SlotRow {
  domain::Slot slot;
  std::int64_t account_row = 0;
  std::uint64_t epoch = 0;  ///< the account's
  bool is_lowest = false;   ///< no unconsumed slot of the account is below it
  std::optional<std::int64_t> item_row;
};

/// Everything of one payment. The vectors are oldest first.
struct Payment {
  IntentRow row;
  std::vector<domain::Attempt> attempts;
  std::vector<SlotRow> slots;
  std::vector<domain::CarriesRef> ref_found_in;  ///< as domain::Facts says
  bool number_gone = false;  ///< as domain::Facts says

  domain::Intent& intent() { return row.intent; }
  const domain::Intent& intent() const { return row.intent; }
  /// The newest slot that is not released; null without one.
  SlotRow* current_slot();
  const SlotRow* current_slot() const;
  SlotRow* find_slot(domain::SlotId id);
  domain::Attempt* find_attempt(domain::AttemptId id);
  bool has_attempt_at(domain::SlotId id) const;
  domain::Facts facts() &&;
};

/// The columns read by `intent_from`, of a table named `i`; they are this many.
extern const std::string_view intent_columns;
/// Of an `i`: does anything carry its ref?
extern const std::string_view has_ref_found_column;
inline constexpr int intent_column_count = 25;
domain::Intent intent_from(const Row& row, int first_column = 0);

std::optional<IntentRow> load_intent(Txn& txn, const domain::IntentId& id);
IntentRow load_intent_at(Txn& txn, std::int64_t row);
std::optional<Payment> load_payment(Txn& txn, const domain::IntentId& id);
/// Adds attempts and slots, which an intent that never was settling has none of, and what carries
/// its ref.
void load_rest(Txn& txn, Payment& payment);

std::vector<domain::Attempt> attempts_at_slot(Txn& txn, domain::SlotId slot);
std::optional<domain::Attempt> load_attempt(Txn& txn, domain::AttemptId id);

/// Adds the row; `intent_row` empty for an account's own noop.
domain::AttemptId insert_attempt(Txn& txn, const domain::Attempt& attempt,
                                 std::optional<std::int64_t> intent_row);

std::optional<SlotRow> load_slot(Txn& txn, domain::SlotId id);
/// The row that holds this number now (not a released one).
std::optional<SlotRow> load_slot_at(Txn& txn, const domain::ChainId& chain,
                                    const domain::Address& account, domain::Sequence at);
/// An account's slots that are neither consumed nor released, lowest first.
std::vector<SlotRow> load_open_slots(Txn& txn, const domain::ChainId& chain,
                                     const domain::Address& account, std::size_t limit);

/// Inserts and sets `row.row`; false (and nothing written) when the id is there already.
bool insert_intent(Txn& txn, IntentRow& row);
/// Writes back everything that moves, the authorization excepted: state, version (raised here),
/// hash, reason, cancel flag, times. The version read is compared again.
void save_standing(Txn& txn, IntentRow& row, std::int64_t now_ms);
/// Raises the version and nothing else: an attempt, a slot or a flag elsewhere changed.
void save_version(Txn& txn, IntentRow& row, std::int64_t now_ms);
/// The authorization and its redemption key; save_standing follows.
void save_authorization(Txn& txn, const IntentRow& row);
/// Another intent may redeem the authorization from now on.
void end_redemption(Txn& txn, std::int64_t intent_row);

/// Raises the version of an intent whose slot or attempts changed in a write of their own; returns
/// it.
std::uint64_t raise_version(Txn& txn, std::int64_t intent_row, std::int64_t now_ms);

/// Writes a slot's state, hand-over flag and consumer as they stand in `slot`.
void save_slot(Txn& txn, const domain::Slot& slot, std::int64_t now_ms);
/// Moves the slot along the legal moves to `to`, by way of others where there is no direct one: a
/// transaction that is final at a slot was with a node before. False when no way leads there.
bool move_along(domain::Slot& slot, domain::SlotState to);

}  // namespace holdfast::store
