// What the watch holds against the world around the store: who signed under which epoch, what a
// node was told, what arrived, and what the chain took back. Section 7 of the store's own rows is
// the audit's.
#include "watch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "store/statements.hpp"

namespace holdfast::campaign {

using domain::IntentState;
using store::each;
using store::Row;
using store::Txn;

namespace {

/// Between the look at the clock and the post the process may sleep: its longest sleep, and more.
constexpr std::int64_t late_s = 100;

}  // namespace

void Watch::signed_by(const Digest& digest, std::string who) {
  signers_[digest].insert(std::move(who));
}

void Watch::posted(const domain::TxHash& hash, std::int64_t wall_s) {
  if (!stored_.contains(hash)) say(6, hash.hex(), "it was posted and is not stored");
  check_turn(hash);
  const auto window = windows_.find(hash);
  if (window == windows_.end() || wall_s < window->second + late_s) return;
  say(0, hash.hex(),
      "it was posted " + std::to_string(wall_s - window->second) +
          " s past its publish deadline by the engine's own clock");
}

// A payment's bytes leave while it is wanted, and no number before those below it. What fills a gap
// is not counted: it is posted by the account, whose rounds know nothing of the payments' line. Nor
// is a number that was given back, and given again later than this one; nor one that is reserved
// and not signed yet: the line hears of it only when its delivery goes on, which may be a turn
// late. One that the chain has used waits for nobody. An old engine knows nothing of what a rival
// has done since.
void Watch::check_turn(const domain::TxHash& hash) {
  const auto bytes = bytes_.find(hash);
  const auto slot = bytes == bytes_.end() ? slots_.end() : slots_.find(bytes->second.slot);
  if (slot == slots_.end()) return;
  const bool is_first = posted_.insert(slot->first).second;
  if (has_rival_) return;
  const Number& at = slot->second;
  const auto payment = payments_.find(bytes->second.intent);
  if (payment != payments_.end()) {
    const bool ended = domain::is_terminal(payment->second.state);
    const std::string why = ended ? "its payment has ended" : "its number was handed over";
    if (at.handed_over || ended) say(0, hash.hex(), "it was posted, and " + why);
  }
  if (!is_first) return;
  const std::uint64_t used = chain_.count(at.account);
  for (const auto& [row, below] : slots_) {
    const bool waits = below.state == domain::SlotState::signed_;
    if (!waits || below.account != at.account || below.sequence >= at.sequence) continue;
    if (below.is_own || row > slot->first || posted_.contains(row)) continue;
    if (below.sequence < used) continue;
    say(0, at.account.value,
        "number " + std::to_string(at.sequence) + " was posted before number " +
            std::to_string(below.sequence));
  }
}

// ---- accounts and chains

void Watch::read_note(std::string_view kind, std::string_view who, std::string_view reason) {
  if (kind == "account" && reason.find(" taken over, epoch ") != std::string_view::npos) {
    owners_[domain::Address{std::string(reason.substr(0, reason.find(' ')))}] = who;
  }
  if (kind == "chain" && reason.find(" halted: ") != std::string_view::npos) was_halted();
}

void Watch::read_chain(sql::Connection& db) {
  Txn txn(db);
  noted_final_ = 0;
  halted_ = false;
  each(
      txn, "SELECT final_height, halted <> '' FROM chains WHERE chain = $1",
      [&](const Row& row) {
        const std::uint64_t height = row.count(0);
        if (noted_final_ && height < *noted_final_ && !finality_broken_) {
          say(0, "the chain", "the newest final block on record went back");
        }
        noted_final_ = height;
        halted_ = row.flag(1);
      },
      chain_.info().id);
  if (gone_unread_ && noted_final_ >= *gone_unread_) halt_owed_ = true;
  gone_unread_.reset();
  if (halted_) was_halted();
}

// Also one that was acknowledged in the same commit, or in one that nobody looked at.
void Watch::read_halts(sql::Connection& db) {
  Txn txn(db);
  each(
      txn, "SELECT who, reason FROM events WHERE seq > $1 AND intent IS NULL AND kind = 'chain'",
      [&](const Row& row) { read_note("chain", row.text(0), row.text(1)); }, last_event_);
}

void Watch::was_halted() {
  halt_owed_ = halt_owed_by_process_ = false;
  if (!finality_broken_) say(0, "the chain", "it is halted, and nothing final is gone");
}

void Watch::owe_halt(std::uint64_t from, bool is_called_final) {
  if (halted_) return;
  if (!noted_final_) gone_unread_ = std::min(gone_unread_.value_or(from), from);
  halt_owed_ = halt_owed_ || noted_final_ >= from;
  halt_owed_by_process_ = halt_owed_by_process_ || is_called_final;
}

// The next number after one that was used by no transaction moves when one before it is taken back:
// so all from the lowest that is gone count no more.
void Watch::finality_was_broken(const std::vector<domain::MinedTx>& gone) {
  finality_broken_ = true;
  std::map<domain::Address, std::uint64_t> lowest;
  for (const domain::MinedTx& tx : gone) {
    if (tx.trailing_ref) gone_refs_.insert(*tx.trailing_ref);
    for (const auto& event : tx.authorizations) gone_refs_.insert(domain::Ref{event.nonce.value});
    const auto at = lowest.try_emplace(tx.sender, tx.sequence.value).first;
    at->second = std::min(at->second, tx.sequence.value);
  }
  for (const auto& [account, from] : lowest) {
    gone_numbers_[account].push_back({from, chain_.count(account)});
  }
}

bool Watch::is_gone(const domain::Address& account, std::uint64_t number) const {
  const auto gone = gone_numbers_.find(account);
  return gone != gone_numbers_.end() &&
         std::any_of(gone->second.begin(), gone->second.end(),
                     [&](const Range& one) { return one.holds(number); });
}

bool Watch::chain_counts(const Seen& seen) const {
  return !gone_refs_.contains(seen.moves_as) &&
         std::none_of(seen.numbers.begin(), seen.numbers.end(),
                      [&](const auto& at) { return is_gone(at.first, at.second); });
}

void Watch::forgive_halt() { halt_owed_by_process_ = false; }

// The claim's own reading of the chain may be of a moment ago, and is what the engine blocks the
// account by: a number above one that it knows nothing of is never given.
void Watch::check_new_number(sql::Connection& db, std::int64_t slot) {
  Txn txn(db);
  each(
      txn,
      "SELECT c.address, s.sequence FROM slots s JOIN accounts c ON c.row = s.account"
      " WHERE s.row = $1 AND s.item IS NOT NULL AND s.sequence > coalesce(c.adopted, 0)"
      " AND NOT EXISTS (SELECT 1 FROM slots b WHERE b.account = s.account"
      "  AND b.sequence = s.sequence - 1)",
      [&](const Row& row) {
        say(0, std::string(row.text(0)),
            "number " + std::to_string(row.count(1)) +
                " was given, and the one below was used elsewhere: nobody has adopted it");
      },
      slot);
  check_room(db, slot);
}

// What an account has under way is what its nodes keep. A number that was released is bound again
// to the same payment all the same: what stands behind it waits for it. So is one whose final block
// was taken back.
void Watch::check_room(sql::Connection& db, std::int64_t slot) {
  if (finality_broken_) return;
  Txn txn(db);
  const auto open = store::number_of(
      txn,
      "SELECT coalesce((SELECT count(*) FROM slots o WHERE o.account = s.account AND o.row <= s.row"
      " AND o.standing = 'open' AND o.item IS NOT NULL), 0) FROM slots s WHERE s.row = $1"
      " AND s.item IS NOT NULL AND NOT EXISTS (SELECT 1 FROM slots b WHERE b.account = s.account"
      "  AND b.sequence = s.sequence AND b.item = s.item AND b.row < s.row)"
      " UNION ALL SELECT 0 LIMIT 1",
      slot);
  const auto most = static_cast<std::int64_t>(chain_.info().max_unconsumed);
  if (open <= most) return;
  say(0, "an account",
      "it has " + std::to_string(open) + " numbers under way, and " + std::to_string(most) +
          " are the most");
}

// ---- attempts

void Watch::check_signers(const std::vector<NewAttempt>& attempts, const Owners& before) {
  for (const NewAttempt& one : attempts) {
    const auto signer = signers_.find(one.digest);
    if (signer == signers_.end()) {
      say(6, one.account.value, "bytes are stored that no engine signed");
      continue;
    }
    const auto is_owner = [&](const Owners& owners) {
      const auto owner = owners.find(one.account);
      return owner != owners.end() && signer->second.contains(owner->second);
    };
    // One commit may hold both an attempt and the take-over that came after it.
    if (is_owner(before) || is_owner(owners_)) continue;
    say(6, one.account.value,
        "bytes at number " + std::to_string(one.sequence) + " were stored for " +
            *signer->second.begin() + ", and the account was taken over before");
  }
}

// Never a pay attempt at another sequence while an earlier one could run.
void Watch::check_second_number(sql::Connection& db, std::int64_t intent, std::int64_t slot) {
  Txn txn(db);
  each(
      txn,
      "SELECT DISTINCT c.address, s.sequence FROM attempts a JOIN slots s ON s.row = a.slot"
      " JOIN accounts c ON c.row = s.account"
      " WHERE a.intent = $1 AND a.kind = 'pay' AND a.slot <> $2 AND a.slot < $2",
      [&](const Row& row) {
        const domain::Address account{std::string(row.text(0))};
        if (row.count(1) < chain_.final_count(account)) return;
        if (is_gone(account, row.count(1))) return;
        say(7, "intent row " + std::to_string(intent),
            "signed at a second number while number " + std::to_string(row.count(1)) + " of " +
                account.value + " can still run");
      },
      intent, slot);
}

void Watch::check_state_at_signing(const NewAttempt& one) {
  if (!one.pays) return;
  const auto before = payments_.find(one.intent);
  const bool was_settling =
      before == payments_.end() || before->second.state == IntentState::settling;
  if (was_settling || one.state_now == IntentState::settling) return;
  say(6, text(before->second.id),
      "an attempt was stored, and it was " + std::string(to_text(before->second.state)));
}

// "A node has it" is said only of what some node was seen to have, or said that it has.
void Watch::check_accepted(sql::Connection& db, std::int64_t intent, const Seen& seen) {
  if (seen.chain != chain_.info().id) return;  // an outside sender tells of no node
  Txn txn(db);
  each(
      txn,
      "SELECT hash FROM attempts WHERE intent = $1 AND outcome = 'accepted' AND hash IS NOT NULL",
      [&](const Row& row) {
        const auto hash = row.fixed<domain::TxHash>(0);
        if (chain_.was_taken(hash)) return;
        say(7, hash.hex(), "it is called accepted, and no node ever had it or said so");
      },
      intent);
}

}  // namespace holdfast::campaign
