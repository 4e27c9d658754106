// The newest entries of the journal, checked whenever a store is opened for writing: what a damaged
// page or a lost page of the log breaks first. `ledger verify` walks all of it.
#include "store/journal.hpp"

namespace holdfast::store {
namespace {

constexpr std::uint64_t most_checked = 1'000;

[[noreturn]] void broken(const std::string& name, std::uint64_t sequence, const std::string& why) {
  throw sql::Failure(sql::Cause::corrupt, name + " is damaged: the journal is broken at sequence " +
                                              "number " + std::to_string(sequence) + ": " + why);
}

/// Follows the tail; the entry before it is believed.
struct Tail {
  const std::string& name;
  std::uint64_t last;
  std::optional<Digest> hash;  ///< of `last`; empty: not seen yet

  void take(const Row& row) {
    const std::uint64_t sequence = row.count(0);
    if (sequence != last + 1) broken(name, last + 1, "the entry is missing");
    const Digest here = row.digest(7);
    const auto entry = entry_from(row);
    if (!entry) broken(name, sequence, "it cannot be read as an entry");
    if (hash && domain::entry_hash(*hash, sequence, *entry) != here) {
      broken(name, sequence, "its content or the entry before it does not match its hash");
    }
    last = sequence;
    hash = here;
  }
};

}  // namespace

void check_journal_tail(Txn& txn, const std::string& name) {
  static const std::string sql = std::string("SELECT ")
                                     .append(entry_columns)
                                     .append(" FROM entries e WHERE e.sequence > $1")
                                     .append(" ORDER BY e.sequence");
  const auto tip =
      static_cast<std::uint64_t>(number_of(txn, "SELECT coalesce(max(sequence), 0) FROM entries"));
  const std::uint64_t from = tip > most_checked ? tip - most_checked - 1 : 0;
  Tail tail{name, from, from == 0 ? std::optional(Digest{}) : std::nullopt};
  try {
    each(txn, sql, [&](const Row& row) { tail.take(row); }, from);
  } catch (const sql::Failure& failure) {
    const std::string what = failure.what();
    if (failure.cause() != sql::Cause::corrupt || what.starts_with(name)) throw;
    broken(name, tail.last + 1, what);
  }
}

}  // namespace holdfast::store
