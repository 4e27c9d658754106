// What the watch holds of the queue: what is to be driven has a job at every few commits, a change
// that came while a job was out outlasts its lease, what is parked has a letter, after a drain
// every lease is of a delivery cut short, and a start takes back what others had leased.
#include <algorithm>
#include <utility>

#include "store/statements.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

using store::each;
using store::Row;
using store::Txn;

// Before the engine that opens it can have leased or returned anything.
void Watch::check_drained(sql::Connection& db) {
  Txn txn(db);
  std::size_t leased = 0;
  gone_.clear();
  has_started_ = false;
  each(txn, "SELECT instance FROM jobs WHERE receipt IS NOT NULL", [&](const Row& row) {
    ++leased;
    const ByteView instance = row.blob(0);
    gone_.emplace(instance.begin(), instance.end());
  });
  const auto cut_short = std::exchange(cut_short_, std::nullopt);
  if (!cut_short || leased <= *cut_short) return;
  say(10, "the queue",
      "a drain cut " + std::to_string(*cut_short) + " deliveries short, and " +
          std::to_string(leased) + " jobs are leased");
}

void Watch::check_taken_back(sql::Connection& db) {
  has_started_ = false;
  Txn txn(db);
  each(txn, "SELECT instance FROM jobs WHERE receipt IS NOT NULL", [&](const Row& row) {
    const ByteView instance = row.blob(0);
    if (!gone_.contains(Bytes(instance.begin(), instance.end()))) return;
    say(10, "the queue", "an engine has started, and a job is leased to one that is gone");
  });
}

// An ack writes no event, so its payment is not among those that a commit touched. Whoever is left
// without a job stays so until the next sweep, which is many commits away: every few are enough,
// and all of them would take a tenth of a seed's time.
void Watch::check_driven(sql::Connection& db) {
  constexpr std::uint64_t every = 4;
  if (++commits_ % every != 0) return;
  if (commits_ % (2 * every) == 0) check_shown(db);
  Txn txn(db);
  each(txn,
       "SELECT i.id, i.state FROM intents i WHERE i.state IN ('authorized', 'settling')"
       " AND i.state <> 'settled' AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.intent = i.row)",
       [&](const Row& row) {
         say(3, text(row.fixed<domain::IntentId>(0)),
             "it is " + std::string(row.text(1)) + ", and a commit left it without a job");
       });
}

// An ack leaves the job for it, and a nack returns the job no later than it was due. Each engine
// has a clock of the queue of its own, and returns all jobs as it starts: no time is compared then.
void Watch::check_changes(sql::Connection& db) {
  Txn txn(db);
  for (const auto& [intent, change] : std::exchange(changes_, {})) {
    bool is_there = false;
    bool is_dropped = false;
    each(
        txn, "SELECT receipt, visible_ms, again_ms IS NULL FROM jobs WHERE intent = $1",
        [&](const Row& row) {
          is_there = true;
          const bool is_returned = row.null(0);
          const bool is_out = !is_returned && std::ranges::equal(row.blob(0), change.receipt);
          is_dropped = (is_out && row.flag(2)) ||
                       (is_returned && is_up_ && !has_rival_ && row.number(1) > change.due_ms);
        },
        intent);
    const auto payment = payments_.find(intent);
    if (payment == payments_.end() || (is_there && !is_dropped)) continue;
    if (!is_there && parked_.contains(intent)) continue;
    say(3, text(payment->second.id),
        std::string("it was asked for while its job was out, and its job ") +
            (is_there ? "waits longer" : "is gone"));
  }
  each(txn, "SELECT intent, receipt, again_ms FROM jobs WHERE again_ms IS NOT NULL",
       [&](const Row& row) {
         const ByteView receipt = row.blob(1);
         changes_[row.number(0)] = {Bytes(receipt.begin(), receipt.end()), row.number(2)};
       });
}

void Watch::read_letter(sql::Connection& db, std::int64_t intent, std::int64_t at_ms,
                        std::string_view reason) {
  Txn txn(db);
  if (reason.starts_with("job parked: ")) {
    parked_.insert(intent);
    const auto letters = store::number_of(
        txn, "SELECT count(*) FROM dead_letters WHERE intent = $1 AND at_ms = $2", intent, at_ms);
    if (letters == 0) say(3, "intent row " + std::to_string(intent), "parked, and without letter");
  }
  if (reason.starts_with("dead letter ") && reason.find(" redriven") != std::string_view::npos) {
    const auto jobs = store::number_of(txn, "SELECT count(*) FROM jobs WHERE intent = $1", intent);
    if (jobs == 0) say(3, "intent row " + std::to_string(intent), "redriven, and without a job");
  }
}

void Watch::started() {
  has_started_ = is_up_ = true;
  up_since_s_ = chain_.time_s();
}

}  // namespace holdfast::campaign
