// Owns: the watermark of a store: how far it had come, kept in a small record beside the database,
// so that a database put back from a backup is known to be one.
// Must never: write a mark of what may not be on disk, or let a store that is behind its mark pass
// for a whole one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/sha256.hpp>
#include <holdfast/store/store.hpp>

namespace holdfast::store {

using StoreId = FixedBytes<16, struct StoreIdTag>;

/// Where a store stands. It only ever goes up.
struct Mark {
  StoreId store;
  std::uint64_t journal = 0;  ///< the newest entry's sequence; 0: none
  Digest entry_hash{};        ///< its hash; zeros: none
  std::int64_t event = 0;     ///< the newest event's seq; 0: none

  bool operator==(const Mark&) const = default;
};

/// Five lines of text, the last one the SHA-256 of those before it.
std::string encode_mark(const Mark& mark);
/// Empty when it is not exactly what `encode_mark` makes.
std::optional<Mark> decode_mark(std::string_view text);

Mark mark_of(Txn& txn);

/// The mark of one opened store. Used where the writing connection is.
class Marker {
 public:
  /// `name` begins the sentences: "the store FILE".
  Marker(std::unique_ptr<sql::SideRecord> beside, std::string name);

  /// Once, after the writer was opened and before anything is written: checks the journal's tail
  /// and compares the store with its mark. A store behind it is noted in the database as restored,
  /// for good, until `acknowledge_restored`; then the mark becomes what the store is. Throws
  /// sql::Failure: corrupt with the place (the journal is broken, the mark is unreadable or another
  /// store's), and what reading and writing throw.
  void open(sql::Connection& db);
  /// Why this store is not the one it was; empty when it is, or an operator has answered for it.
  const std::optional<std::string>& restored() const { return restored_; }

  /// Writes the mark when the store has moved. Everything that the connection sees is on disk.
  void keep(Txn& txn);

 private:
  std::optional<std::string> compare(Txn& txn, const Mark& now);

  std::unique_ptr<sql::SideRecord> beside_;
  std::string name_;
  std::optional<Mark> kept_;
  std::optional<std::string> restored_;
};

}  // namespace holdfast::store
