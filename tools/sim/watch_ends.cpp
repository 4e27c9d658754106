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
  if (is_by_it) check_noted(text(seen.id), *seen.tx_hash);
  // An operator's reason is another.
  const bool is_short = seen.reason.starts_with("final") && arrived_of(seen) < seen.amount;
  if (is_by_it && is_short && !settle_short_) {
    say(9, text(seen.id), "less has arrived than its amount, and nobody has judged that");
  }
}

// A chain that takes back what something ended on is known by this, whoever runs then.
void Watch::check_noted(const std::string& subject, const domain::TxHash& hash) {
  const auto tx = chain_.mined(hash);
  const bool may_be_lower = halted_ || finality_broken_ || !noted_final_;
  if (!tx || may_be_lower || *noted_final_ >= tx->block.height) return;
  say(0, subject,
      "it ended on block " + std::to_string(tx->block.height) +
          ", and the newest final block on record is " + std::to_string(*noted_final_));
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

void Watch::check_used(const domain::Address& account, std::uint64_t number,
                       const std::optional<domain::TxHash>& by) {
  if (is_gone(account, number)) return;
  const std::string subject = account.value + " number " + std::to_string(number);
  if (number >= chain_.final_count(account)) {
    return say(7, subject, "it is called used before that is final");
  }
  if (by) check_noted(subject, *by);
}

// Told by whoever reads the block, or asks when it begins: an engine that has run for a while.
void Watch::check_late_uses(sql::Connection& db) {
  constexpr std::int64_t while_s = 60;
  if (chain_time_s_ < up_since_s_ + while_s) return;
  Txn txn(db);
  for (const auto& [row, seen] : payments_) {
    const bool ended_unrun =
        (seen.state == IntentState::canceled || seen.state == IntentState::failed) &&
        seen.numbers.empty() && seen.auth_before_s > 0 && seen.chain == chain_.info().id;
    const auto ended = ended_s_.find(seen.id);
    if (!ended_unrun || ended == ended_s_.end() || !chain_counts(seen)) continue;
    const auto moved_by = movers(seen);
    if (moved_by.size() != 1 || moved_by.front().block_time_s <= ended->second) continue;
    if (chain_time_s_ < moved_by.front().block_time_s + while_s) continue;
    const auto told = store::number_of(
        txn, "SELECT count(*) FROM events WHERE intent = $1 AND kind = 'alarm' AND tx_hash = $2",
        row, moved_by.front().hash);
    tally_.count("people", "late use told", static_cast<std::uint64_t>(told));
    if (told > 0) continue;
    say(0, text(seen.id), "its authorization was used after it had ended, and nobody hears of it");
  }
}

}  // namespace holdfast::campaign
