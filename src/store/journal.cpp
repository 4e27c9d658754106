#include "store/journal.hpp"

#include <algorithm>
#include <utility>

#include "base/teeth.hpp"
#include "store/reads.hpp"

namespace holdfast::store {

using domain::Appending;
using domain::Balance;
using domain::BalanceKey;
using domain::Entry;
using domain::EntryKind;

const std::string_view entry_columns =
    "e.sequence, e.id, e.kind, e.chain, e.asset, e.legs, e.at_ms, e.hash";

std::optional<Entry> entry_from(const Row& row, int at) {
  const auto kind = domain::entry_kind_from(row.text(at + 2));
  auto legs = decode_legs(row.blob(at + 5));
  if (!kind || !legs) return std::nullopt;
  Entry out;
  out.id = row.text(at + 1);
  out.kind = *kind;
  out.chain = {std::string(row.text(at + 3))};
  out.asset = {std::string(row.text(at + 4))};
  out.legs = std::move(*legs);
  out.at_ms = row.number(at + 6);
  return out;
}

namespace {

Entry whole_entry(const Row& row, int at) {
  auto entry = entry_from(row, at);
  if (!entry) damaged("an entry of the journal");
  return std::move(*entry);
}

// One statement for both: the tip, and what the journal holds of this intent.
const std::string& view_sql() {
  static const std::string sql = std::string("SELECT 0, ")
                                     .append(entry_columns)
                                     .append(" FROM entries e WHERE e.intent = $1 UNION ALL")
                                     .append(" SELECT * FROM (SELECT 1, ")
                                     .append(entry_columns)
                                     .append(" FROM entries e ORDER BY e.sequence DESC LIMIT 1)");
  return sql;
}

// The same without the tip: another step of this commit has read or written it.
const std::string& own_sql() {
  static const std::string sql =
      std::string("SELECT 0, ").append(entry_columns).append(" FROM entries e WHERE e.intent = $1");
  return sql;
}

}  // namespace

Posting::Posting(Txn& txn, std::optional<std::int64_t> intent_row)
    : txn_(txn), intent_row_(intent_row) {
  Sheet* const sheet = txn.sheet();
  const bool knows_tip = sheet != nullptr && sheet->tip();
  if (knows_tip) tip_ = *sheet->tip();
  if (knows_tip && !intent_row) return;
  each(
      txn, knows_tip ? own_sql() : view_sql(),
      [&](const Row& row) {
        if (row.flag(0)) {
          tip_ = {row.count(1), row.digest(8)};
          return;
        }
        Entry entry = whole_entry(row, 1);
        auto& place = entry.kind == EntryKind::hold ? hold_ : resolution_;
        place = std::move(entry);
      },
      intent_row);
  if (sheet != nullptr) sheet->keep_tip(tip_);
}

Result<void> Posting::add(Waiting waiting, const domain::EntriesThere& there) {
  const auto appending = domain::check_append(waiting.entry, there);
  if (appending.has_error()) return appending.error();
  if (*appending == Appending::replay) return {};
  const auto changes = domain::balance_changes(waiting.entry, there.hold);
  if (changes.has_error()) return changes.error();
  for (const auto& [key, change] : *changes) {
    const auto [place, is_first] = balances_.try_emplace(key, change);
    if (is_first) continue;
    const auto sum = domain::add(place->second, change);
    if (!sum) return refuse(domain::JournalError::overflow, key.account + " would overflow");
    place->second = *sum;
  }
  waiting_.push_back(std::move(waiting));
  return {};
}

Result<void> Posting::hold(const domain::Intent& intent, std::int64_t at_ms) {
  const domain::Terms& terms = intent.terms;
  Entry entry =
      domain::make_hold(intent.id, terms.chain, terms.asset, terms.payer, terms.amount, at_ms);
  const auto added = add({entry, intent_row_, {}, {}, 0}, {hold_, std::nullopt, std::nullopt});
  if (added.has_value() && !hold_) hold_ = std::move(entry);
  return added;
}

Result<void> Posting::post(const domain::Intent& intent, const domain::Amount& arrived,
                           std::int64_t at_ms) {
  if (!hold_) return refuse(domain::JournalError::no_hold, "there is no hold to post");
  auto entry = domain::make_post(*hold_, intent.terms.payee, arrived, at_ms);
  if (entry.has_error()) return entry.error();
  const bool same = resolution_ && resolution_->id == entry->id;
  const auto added = add({*entry, intent_row_, {}, {}, 0},
                         {same ? resolution_ : std::nullopt, hold_, resolution_});
  if (added.has_value()) resolution_ = std::move(*entry);
  return added;
}

Result<void> Posting::void_hold(std::int64_t at_ms) {
  if (!hold_) return refuse(domain::JournalError::no_hold, "there is no hold to void");
  Entry entry = domain::make_void(*hold_, at_ms);
  const bool same = resolution_ && resolution_->id == entry.id;
  const auto added =
      add({entry, intent_row_, {}, {}, 0}, {same ? resolution_ : std::nullopt, hold_, resolution_});
  if (added.has_value()) resolution_ = std::move(entry);
  return added;
}

// A slot that nothing has consumed yet has no gas entries, so none are looked for. Those that wait
// to be written count: one write may be told of the same consumer twice.
Posting::GasThere Posting::gas_there(const domain::Slot& slot) {
  GasThere out;
  if (!slot.consumed_by) return out;
  static const std::string sql = std::string("SELECT ")
                                     .append(entry_columns)
                                     .append(", e.tx_hash FROM entries e WHERE e.slot = $1")
                                     .append(" ORDER BY e.sequence");
  each(
      txn_, sql,
      [&](const Row& row) {
        out.entries.push_back(whole_entry(row, 0));
        out.hashes.push_back(row.fixed<domain::TxHash>(8));
      },
      slot.id);
  for (const Waiting& each : waiting_) {
    if (each.slot != slot.id) continue;
    out.entries.push_back(each.entry);
    out.hashes.push_back(each.tx_hash.value_or(domain::TxHash{}));
  }
  return out;
}

Result<void> Posting::gas(const domain::Slot& slot, const domain::MinedTx& tx, std::int64_t at_ms) {
  GasThere there = gas_there(slot);
  const Entry cost = domain::make_gas(tx.hash, slot.chain, slot.account, tx.fee_paid, at_ms);
  for (domain::GasEntry& each : domain::gas_entries(there.entries, cost)) {
    if (each.reverses && planted(Tooth::gas_twice)) continue;
    const domain::TxHash hash = each.reverses ? there.hashes[*each.reverses] : tx.hash;
    const auto turn = std::count(there.hashes.begin(), there.hashes.end(), hash);
    there.hashes.push_back(hash);
    const auto added = add({std::move(each.entry), {}, slot.id, hash, turn}, {});
    if (added.has_error()) return added;
  }
  return {};
}

Result<void> Posting::balance() {
  Balances there;
  for (const auto& [key, change] : balances_) there.emplace_hint(there.end(), key, Balance{});
  if (Sheet* const sheet = txn_.sheet()) {
    sheet->read(txn_, there);
  } else {
    read_balances(txn_, there);
  }
  for (auto& [key, change] : balances_) {
    const Balance& before = there.at(key);
    if (before == Balance{}) continue;
    const auto sum = domain::add(before, change);
    if (!sum) {
      return refuse(domain::JournalError::overflow,
                    "the balance of " + key.account + " would go over 2^256 - 1");
    }
    change = *sum;
  }
  return {};
}

void Posting::write() {
  for (const Waiting& each : std::exchange(waiting_, {})) {
    const std::uint64_t sequence = tip_.sequence + 1;
    const Digest hash = domain::entry_hash(tip_.hash, sequence, each.entry);
    execute(txn_,
            "INSERT INTO entries (sequence, id, kind, chain, asset, legs, at_ms, hash, intent,"
            " slot, tx_hash, turn) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            sequence, each.entry.id, domain::to_text(each.entry.kind), each.entry.chain,
            each.entry.asset, encode_legs(each.entry.legs), each.entry.at_ms, hash, each.intent_row,
            each.slot, each.tx_hash, each.turn);
    tip_.sequence = sequence;
    if (!planted(Tooth::journal_unchained)) tip_.hash = hash;
  }
  if (Sheet* const sheet = txn_.sheet()) {
    sheet->keep_tip(tip_);
    sheet->keep(balances_);
  } else {
    write_balances(txn_, balances_);
  }
  balances_.clear();
}

}  // namespace holdfast::store
