// What the watch holds of the queue: what is to be driven has a job at every few commits, after a
// drain every lease is of a delivery cut short, and a start takes back what others had leased.
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
  Txn txn(db);
  each(txn,
       "SELECT i.id, i.state FROM intents i WHERE i.state IN ('authorized', 'settling')"
       " AND i.state <> 'settled' AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.intent = i.row)",
       [&](const Row& row) {
         say(3, text(row.fixed<domain::IntentId>(0)),
             "it is " + std::string(row.text(1)) + ", and a commit left it without a job");
       });
}

}  // namespace holdfast::campaign
