// What the watch holds of what people were told: it is on record by then, stays there, and what a
// version shows does not change without it.
#include <algorithm>
#include <string>
#include <utility>

#include "store/statements.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

using domain::IntentState;
using store::each;
using store::Row;
using store::Txn;

void Watch::promised(const domain::Intent& told) {
  const domain::IntentId& id = told.id;
  const std::uint64_t version = told.version;
  std::uint64_t& known = promised_[id];
  known = std::max(known, version);
  const bool is_there = std::any_of(payments_.begin(), payments_.end(), [&](const auto& entry) {
    const Seen& seen = entry.second;
    if (seen.id == id && seen.version == version && seen.state != told.state) {
      say(2, text(id), "the API tells of another state than it has at that version");
    }
    return seen.id == id && seen.version >= version;
  });
  if (is_there || db_ == nullptr) return;
  // An attempt or a number that ended raises a version, and no event tells of that.
  try {
    Txn txn(*db_);
    bool is_committed = false;
    each(
        txn, "SELECT version FROM intents WHERE id = $1",
        [&](const Row& row) { is_committed = row.count(0) >= version; }, id);
    if (!is_committed) say(2, text(id), "the API answers for what is not committed");
  } catch (const sql::Failure&) {
    return;  // the disk is frozen: the next opening looks
  }
}

void Watch::asked_to_stop(const domain::IntentId& id) { asked_to_stop_.insert(id); }

void Watch::check_asked() {
  for (const auto& [row, seen] : payments_) {
    const bool is_kept = seen.cancel_asked || seen.state == IntentState::canceled;
    if (is_kept || !asked_to_stop_.contains(seen.id)) continue;
    say(2, text(seen.id), "an operator gave it up and was told so, and nothing says that");
  }
}

void Watch::check_promised() {
  for (const auto& [id, version] : promised_) {
    const bool kept = std::any_of(payments_.begin(), payments_.end(), [&](const auto& entry) {
      return entry.second.id == id && entry.second.version >= version;
    });
    if (!kept) say(2, text(id), "the API answered for it, and it is gone");
  }
}

void Watch::told_of(std::string_view kind, std::string reason) {
  ++told_of_[{std::string(kind), std::move(reason)}];
  if (db_ == nullptr) return;
  try {
    check_told(*db_);
  } catch (const sql::Failure&) {
    return;  // the disk is frozen: the next opening looks
  }
}

void Watch::check_told(sql::Connection& db) {
  Txn txn(db);
  for (const auto& [what, times] : told_of_) {
    const auto& [kind, reason] = what;
    const auto there = store::number_of(
        txn, "SELECT count(*) FROM events WHERE kind = $1 AND substr(reason, 1, length($2)) = $2",
        kind, reason);
    if (there >= times) continue;
    say(2, "an operator",
        "told " + std::to_string(times) + " times of '" + reason + "', and history has it " +
            std::to_string(there) + " times");
  }
}

// Whoever compares a version must notice that something has changed. Not every commit is looked at:
// what changes alone does so for longer.
void Watch::check_shown(sql::Connection& db) {
  std::map<std::int64_t, Shown> now;
  Txn txn(db);
  each(txn,
       "SELECT i.row, i.version, a.row, a.outcome, a.hash IS NOT NULL, s.state, s.handed_over"
       " FROM intents i JOIN attempts a ON a.intent = i.row LEFT JOIN slots s ON s.row = a.slot",
       [&](const Row& row) {
         Shown& shown = now[row.number(0)];
         shown.version = row.count(1);
         std::string line = std::to_string(row.number(2));
         line.append(row.text(3)).append(row.flag(4) ? "+" : "-");
         if (!row.null(5)) line.append(row.text(5)).append(row.flag(6) ? "+" : "-");
         // A sum: the rows come in no order that means anything.
         shown.print += std::hash<std::string>{}(line);
       });
  for (const auto& [row, shown] : now) {
    const auto before = shown_.find(row);
    const auto payment = payments_.find(row);
    if (before == shown_.end() || payment == payments_.end()) continue;
    if (before->second.version != shown.version || before->second.print == shown.print) continue;
    say(8, text(payment->second.id),
        "its attempts or numbers have changed, and it is version " + std::to_string(shown.version) +
            " still");
  }
  shown_ = std::move(now);
}

}  // namespace holdfast::campaign
