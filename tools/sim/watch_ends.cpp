// What the watch holds of a payment's end against the chain, in the commit that ends it: what it
// was ended by must be true, and final, by then.
#include <algorithm>
#include <optional>

#include <holdfast/engine/config.hpp>

#include "store/statements.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

using domain::IntentState;
using store::each;
using store::Row;
using store::Txn;

bool Watch::is_final(const domain::TxHash& hash) {
  const auto tx = chain_.mined(hash);
  return tx && tx->block.height <= chain_.finalized();
}

void Watch::check_end(const Seen& seen) {
  if (!domain::is_terminal(seen.state) || seen.chain != chain_.info().id) return;
  if (!chain_counts(seen)) return;
  if (seen.state == IntentState::settled) return check_settled_by(seen);
  // Steady, as the engine counts it: a block may have been taken back since it was read.
  if (seen.reason == "expired" && chain_time_s_ < seen.publish_before_s) {
    say(0, text(seen.id),
        "it ended as expired " + std::to_string(seen.publish_before_s - chain_time_s_) +
            " s before its publish deadline by the chain's clock");
  }
  const bool is_by_use =
      seen.reason == "authorization_canceled" || seen.reason == "authorization_used_otherwise";
  const bool was_asked = seen.state == IntentState::failed && seen.bearer && !seen.numbers.empty();
  if (!is_by_use && !was_asked) return;
  // Whatever is not final by then can only be a cancel, which a payer may send at any time.
  if (was_asked && chain_.final_time_s() >= seen.auth_before_s) return;
  const auto use = chain_.used_in(seen.asset, seen.payer, {seen.moves_as.value});
  if (use && is_final(*use)) return;
  say(7, text(seen.id),
      "it is " + std::string(to_text(seen.state)) + " for " + seen.reason +
          ", and its authorization can still be used");
}

void Watch::check_settled_by(const Seen& seen) {
  const auto moved_by = movers(seen);
  const bool is_by_it = std::any_of(moved_by.begin(), moved_by.end(),
                                    [&](const auto& tx) { return tx.hash == seen.tx_hash; });
  if (!moved_by.empty() && !is_by_it) {
    say(9, text(seen.id), "it is settled by another transaction than the one that moved it");
  }
  if (is_by_it && !is_final(*seen.tx_hash)) {
    say(9, text(seen.id), "it is settled, and what moved it is not final");
  }
  // A chain that takes that back is known by this, whoever runs then.
  const auto tx = is_by_it ? chain_.mined(*seen.tx_hash) : std::nullopt;
  const bool may_be_lower = halted_ || finality_broken_ || !noted_final_;
  if (tx && !may_be_lower && *noted_final_ < tx->block.height) {
    say(0, text(seen.id),
        "it settled on block " + std::to_string(tx->block.height) +
            ", and the newest final block on record is " + std::to_string(*noted_final_));
  }
}

// Only a lease that ran out spends the budget, and each takes its time.
void Watch::check_budget(sql::Connection& db, std::int64_t intent, const Seen& seen) {
  const auto since_s = known_since_s_.try_emplace(seen.id, chain_time_s_).first->second;
  if (seen.reason != "budget_spent") return;
  // By the chain's clock: the engine's own may be some hundredths faster.
  const std::int64_t passed_ms = (chain_time_s_ - since_s) * 1'050 + 5'000;
  Txn txn(db);
  each(
      txn,
      "SELECT lapsed_leases FROM dead_letters WHERE intent = $1 AND verdict = 'budget_spent'"
      " ORDER BY row DESC LIMIT 1",
      [&](const Row& row) {
        if (row.number(0) * engine::Config{}.lease_ms <= passed_ms) return;
        say(0, text(seen.id),
            "its budget is spent by " + std::to_string(row.number(0)) +
                " leases that ran out, in " + std::to_string(passed_ms / 1'000) + " s");
      },
      intent);
}

void Watch::check_used(const domain::Address& account, std::uint64_t number) {
  if (is_gone(account, number) || number < chain_.final_count(account)) return;
  say(7, account.value + " number " + std::to_string(number),
      "it is called used before that is final");
}

// ---- what people were told

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

}  // namespace holdfast::campaign
