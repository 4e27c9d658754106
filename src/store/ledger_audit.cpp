// The journal walked from its first entry: hash chain, legs, holds, and the balances they add up
// to.
#include <algorithm>
#include <map>
#include <optional>

#include "store/findings.hpp"
#include "store/journal.hpp"

namespace holdfast::store {
namespace {

using domain::Balance;
using domain::BalanceKey;
using domain::Entry;
using domain::EntryKind;

constexpr std::size_t page_size = 500;

/// An entry as it was read: `entry` is empty when its bytes are none.
struct Read {
  std::uint64_t sequence = 0;
  std::optional<Entry> entry;
  Digest hash{};
};

/// Follows the entries in order. `broken` after the first one that does not fit.
class Walk {
 public:
  explicit Walk(AuditReport& report) : report_(report) {}

  void take(const Read& read);
  bool broken() const { return broken_; }
  std::uint64_t last() const { return last_; }
  const std::map<BalanceKey, Balance>& balances() const { return balances_; }

 private:
  void say_broken(std::uint64_t sequence, const std::string& why);
  std::string complaint(const Read& read);
  std::string add_up(const Entry& entry);

  AuditReport& report_;
  bool broken_ = false;
  std::uint64_t last_ = 0;
  Digest tip_{};
  std::map<std::string, Entry> open_holds_;  ///< by the payment's part of the id
  std::map<BalanceKey, Balance> balances_;
};

void Walk::say_broken(std::uint64_t sequence, const std::string& why) {
  broken_ = true;
  add_finding(report_, 0, "journal entry " + std::to_string(sequence),
              "the journal is broken at sequence number " + std::to_string(sequence) + ": " + why);
}

void Walk::take(const Read& read) {
  if (broken_) return;
  if (read.sequence != last_ + 1) {
    say_broken(last_ + 1, "the entry is missing");
    return;
  }
  const std::string why = complaint(read);
  if (!why.empty()) {
    say_broken(read.sequence, why);
    return;
  }
  last_ = read.sequence;
  tip_ = read.hash;
  ++report_.entries;
}

std::string Walk::complaint(const Read& read) {
  if (!read.entry) return "it cannot be read as an entry";
  if (domain::entry_hash(tip_, read.sequence, *read.entry) != read.hash) {
    return "its content or the entry before it does not match its hash";
  }
  if (const auto sound = domain::check_entry(*read.entry); sound.has_error()) {
    return sound.error().detail;
  }
  return add_up(*read.entry);
}

std::string Walk::add_up(const Entry& entry) {
  const std::string stem = entry.id.substr(0, entry.id.rfind('/'));
  const auto hold = open_holds_.find(stem);
  const auto held = hold == open_holds_.end() ? std::nullopt : std::optional(hold->second);
  if (entry.kind == EntryKind::hold && held) return "its payment is held already";
  const auto changes = domain::balance_changes(entry, held);
  if (changes.has_error()) return changes.error().detail;
  for (const auto& [key, change] : *changes) {
    const auto sum = domain::add(balances_[key], change);
    if (!sum) return "the balance of " + key.account + " goes over 2^256 - 1";
    balances_[key] = *sum;
  }
  if (entry.kind == EntryKind::hold) open_holds_.emplace(stem, entry);
  if (entry.kind == EntryKind::post || entry.kind == EntryKind::void_) open_holds_.erase(hold);
  return {};
}

std::uint64_t tip_of(Txn& txn) {
  return static_cast<std::uint64_t>(
      number_of(txn, "SELECT coalesce(max(sequence), 0) FROM entries"));
}

/// Takes up to a page behind the walk's last entry; false when there is nothing left.
bool take_page(Txn& txn, Walk& walk) {
  static const std::string sql = std::string("SELECT ")
                                     .append(entry_columns)
                                     .append(" FROM entries e WHERE e.sequence > $1")
                                     .append(" ORDER BY e.sequence LIMIT $2");
  std::size_t rows = 0;
  each(
      txn, sql,
      [&](const Row& row) {
        ++rows;
        walk.take({row.count(0), entry_from(row), row.digest(7)});
      },
      walk.last(), page_size);
  return rows > 0 && !walk.broken();
}

void compare_balances(Txn& txn, const Walk& walk, AuditReport& report) {
  auto left = walk.balances();
  const auto differs = [&](const std::string& account, const std::string& how) {
    add_finding(report, 4, account, "the balance of " + account + " " + how);
  };
  each(txn, "SELECT account, chain, asset, posted, pending FROM balances", [&](const Row& row) {
    const BalanceKey key{
        std::string(row.text(0)), {std::string(row.text(1))}, {std::string(row.text(2))}};
    const auto posted = decode_signed(row.blob(3));
    const auto pending = decode_signed(row.blob(4));
    const auto found = left.find(key);
    const Balance sum = found == left.end() ? Balance{} : found->second;
    if (!posted || !pending) {
      differs(key.account, "cannot be read as one");
    } else if (sum != Balance{*posted, *pending}) {
      differs(key.account, "is " + posted->decimal() + " posted and " + pending->decimal() +
                               " pending, but the journal adds up to " + sum.posted.decimal() +
                               " and " + sum.pending.decimal());
    }
    if (found != left.end()) left.erase(found);
  });
  for (const auto& [key, balance] : left) {
    if (balance != Balance{}) differs(key.account, "is missing");
  }
}

// Of a number the journal holds what one transaction cost: what another one there, or the same at
// another price, had cost before is reversed.
void audit_gas(Txn& txn, AuditReport& report) {
  std::vector<std::int64_t> slots;
  each(txn, "SELECT slot FROM entries WHERE slot IS NOT NULL GROUP BY slot HAVING count(*) > 1",
       [&](const Row& row) { slots.push_back(row.number(0)); });
  static const std::string sql = std::string("SELECT a.address, s.sequence, ")
                                     .append(entry_columns)
                                     .append(" FROM entries e JOIN slots s ON s.row = e.slot")
                                     .append(" JOIN accounts a ON a.row = s.account")
                                     .append(" WHERE e.slot = $1 ORDER BY e.sequence");
  for (const std::int64_t slot : slots) {
    std::vector<Entry> entries;
    std::string account;
    std::uint64_t number = 0;
    each(
        txn, sql,
        [&](const Row& row) {
          account = row.text(0);
          number = row.count(1);
          if (auto entry = entry_from(row, 2)) entries.push_back(std::move(*entry));
        },
        slot);
    const std::size_t standing = domain::standing_gas(entries).size();
    if (standing <= 1) continue;
    add_finding(report, 4, account,
                "the gas of number " + std::to_string(number) + " is in the journal " +
                    std::to_string(standing) + " times, and nothing reverses it");
  }
}

// Entries that are there never change, so most of them are read without holding a view open (which
// would keep the write-ahead log from shrinking). Only the last stretch and the balances are read
// in one view.
bool audit_entries(Txn& txn, AuditReport& report, const Progress& progress) {
  Walk walk(report);
  const std::uint64_t upto = tip_of(txn);
  while (walk.last() + page_size < upto && take_page(txn, walk)) {
    if (progress) progress(walk.last(), upto);
  }
  if (walk.broken()) return false;
  const SteadyView view(txn);
  while (take_page(txn, walk)) {
  }
  if (walk.broken()) return false;
  if (progress) progress(walk.last(), std::max(upto, walk.last()));
  compare_balances(txn, walk, report);
  return true;
}

}  // namespace

void audit_journal(Txn& txn, AuditReport& report, const Progress& progress) {
  if (audit_entries(txn, report, progress)) audit_gas(txn, report);
}

AuditReport verify_ledger(Txn& txn, const Progress& progress) {
  AuditReport report;
  audit_pages(txn, report);
  audit_journal(txn, report, progress);
  return report;
}

}  // namespace holdfast::store
