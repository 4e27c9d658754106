// Owns: the journal's rows: entries chained by hash, and the balances they add up to.
// Must never: change or remove an entry, or append one that was not checked with what is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rows.hpp"
#include "store/sheet.hpp"

namespace holdfast::store {

/// How legs and balances are stored; decoding is empty when the bytes are none (a damaged store).
Bytes encode_legs(const std::vector<domain::Leg>& legs);
std::optional<std::vector<domain::Leg>> decode_legs(ByteView bytes);
std::array<Byte, 33> encode_signed(const domain::SignedAmount& amount);
std::optional<domain::SignedAmount> decode_signed(ByteView bytes);

/// Entries that want in, checked against the journal as it is in this transaction, in order. Made
/// and filled before the first write; `write` cannot be refused.
class Posting {
 public:
  /// Reads the tip and this intent's entries. `intent_row` empty: gas only.
  Posting(Txn& txn, std::optional<std::int64_t> intent_row);

  /// Refusals: JournalError. A repeated entry with the same content is taken and writes nothing.
  Result<void> hold(const domain::Intent& intent, std::int64_t at_ms);
  Result<void> post(const domain::Intent& intent, const domain::Amount& arrived,
                    std::int64_t at_ms);
  Result<void> void_hold(std::int64_t at_ms);
  /// What `tx`, mined at this slot of ours, cost; what stands of the slot otherwise is reversed.
  /// Nothing when it stands already.
  Result<void> gas(const domain::Slot& slot, const domain::MinedTx& tx, std::int64_t at_ms);

  /// Reads the balances and adds all changes to them: `overflow`. Once, after the last entry.
  Result<void> balance();
  void write();

  bool resolved() const { return resolution_.has_value(); }
  bool empty() const { return waiting_.empty(); }

 private:
  struct Waiting {
    domain::Entry entry;
    std::optional<std::int64_t> intent_row;
    std::optional<domain::SlotId> slot;
    std::optional<domain::TxHash> tx_hash;
    std::int64_t turn = 0;  ///< of this transaction's gas entries at this slot, from 0
  };
  Result<void> add(Waiting waiting, const domain::EntriesThere& there);
  struct GasThere {
    std::vector<domain::Entry> entries;
    std::vector<domain::TxHash> hashes;
  };
  GasThere gas_there(const domain::Slot& slot);

  Txn& txn_;
  std::optional<std::int64_t> intent_row_;
  Sheet::Tip tip_;
  std::optional<domain::Entry> hold_;
  std::optional<domain::Entry> resolution_;
  std::vector<Waiting> waiting_;
  Balances balances_;  ///< changes, then what they become
};

/// The columns read by `entry_from`, of a table named `e`.
extern const std::string_view entry_columns;  // sequence, id, kind, chain, asset, legs, at_ms, hash
/// Empty when the row holds what no entry can be: kind, legs.
std::optional<domain::Entry> entry_from(const Row& row, int first_column = 0);

/// Walks the hash chain of the newest thousand entries. Throws sql::Failure{corrupt} naming the
/// first sequence number that is broken; `name` begins the sentence.
void check_journal_tail(Txn& txn, const std::string& name);

}  // namespace holdfast::store
