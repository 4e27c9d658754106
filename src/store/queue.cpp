#include "store/queue.hpp"

#include <algorithm>

#include "base/teeth.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

Error stale() {
  return refuse(StoreError::stale_receipt, "the job was handed to somebody else, or is gone");
}

/// A job picked for a lease, with its intent.
struct Picked {
  Payment payment;
  std::uint32_t deliveries = 0;
  std::uint32_t lapsed_leases = 0;
};

Picked picked_from(const Row& row) {
  Picked out;
  out.payment.row.row = row.number(0);
  out.payment.row.has_job = true;
  out.deliveries = row.small_count(1) + 1;
  // It is visible and yet leased: that lease ran out.
  const bool lapsed = row.flag(3) || planted(Tooth::budget_by_nacks);
  out.lapsed_leases = row.small_count(2) + (lapsed ? 1 : 0);
  out.payment.row.has_ref_found = row.flag(4);
  out.payment.row.intent = intent_from(row, 5);
  return out;
}

std::string pick_sql(std::size_t paused) {
  std::string sql = std::string("SELECT i.row, j.deliveries, j.lapsed_leases,")
                        .append(" j.receipt IS NOT NULL, ")
                        .append(has_ref_found_column)
                        .append(intent_columns)
                        .append(" FROM jobs j JOIN intents i ON i.row = j.intent")
                        .append(" WHERE j.visible_ms <= $1");
  for (std::size_t i = 0; i < paused; ++i) {
    sql.append(i == 0 ? " AND j.chain NOT IN ($" : ", $").append(std::to_string(i + 3));
  }
  return sql.append(paused > 0 ? ")" : "").append(" ORDER BY j.visible_ms, j.intent LIMIT $2");
}

std::vector<Picked> pick(Txn& txn, const LeaseRequest& wanted) {
  std::vector<Picked> out;
  detail::Running running(txn, pick_sql(wanted.paused.size()));
  running.bind_all(wanted.now_ms, wanted.receipts.size());
  int at = 2;
  for (const domain::ChainId& chain : wanted.paused) detail::bind(running.statement(), ++at, chain);
  const Row row(running.statement());
  while (running.statement().step()) out.push_back(picked_from(row));
  return out;
}

}  // namespace

void enqueue_for_change(Txn& txn, const IntentRow& row, std::int64_t visible_ms) {
  execute(
      txn,
      "INSERT INTO jobs (intent, kind, chain, visible_ms, deliveries, lapsed_leases, nacks, why)"
      " VALUES ($1, 'settle', $2, $3, 0, 0, 0, '') ON CONFLICT (intent, kind)"
      " DO UPDATE SET again_ms = excluded.visible_ms WHERE jobs.receipt IS NOT NULL",
      row.row, row.intent.terms.chain, visible_ms);
}

void hasten_for_change(Txn& txn, const IntentRow& row, std::int64_t now_ms) {
  enqueue_for_change(txn, row, now_ms);
  execute(txn,
          "UPDATE jobs SET visible_ms = $2"
          " WHERE intent = $1 AND kind = 'settle' AND receipt IS NULL AND visible_ms > $2",
          row.row, now_ms);
}

bool end_lease(Txn& txn, const domain::Receipt& receipt) {
  if (planted(Tooth::change_acked))
    execute(txn, "UPDATE jobs SET again_ms = NULL WHERE receipt = $1", receipt);
  if (execute(txn, "DELETE FROM jobs WHERE receipt = $1 AND again_ms IS NULL", receipt) == 1) {
    return true;
  }
  const auto again = execute(
      txn,
      "UPDATE jobs SET receipt = NULL, instance = NULL, visible_ms = again_ms, again_ms = NULL,"
      " deliveries = 0, lapsed_leases = 0, nacks = 0, why = '' WHERE receipt = $1",
      receipt);
  return again == 1;
}

std::vector<Leased> lease_jobs(Txn& txn, const LeaseRequest& wanted) {
  std::vector<Leased> out;
  if (wanted.receipts.empty()) return out;
  std::vector<Picked> jobs = pick(txn, wanted);
  out.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Picked& job = jobs[i];
    const domain::Receipt& receipt = wanted.receipts[i];
    execute(txn,
            "UPDATE jobs SET receipt = $1, instance = $2, visible_ms = $3, deliveries = $4,"
            " lapsed_leases = $5, again_ms = NULL WHERE intent = $6 AND kind = 'settle'",
            receipt, wanted.instance, wanted.now_ms + wanted.lease_ms, job.deliveries,
            job.lapsed_leases, job.payment.row.row);
    load_rest(txn, job.payment);
    const domain::Intent& intent = job.payment.intent();
    Leased leased;
    leased.lease = {{intent.id, intent.ref}, receipt, job.deliveries, job.lapsed_leases};
    leased.facts = std::move(job.payment).facts();
    out.push_back(std::move(leased));
  }
  return out;
}

Result<void> extend_lease(Txn& txn, const domain::Receipt& receipt, std::int64_t until_ms) {
  const auto changed =
      execute(txn, "UPDATE jobs SET visible_ms = $1 WHERE receipt = $2", until_ms, receipt);
  if (changed != 1) return stale();
  return {};
}

Result<void> ack_job(Txn& txn, const domain::Receipt& receipt) {
  if (!end_lease(txn, receipt)) return stale();
  return {};
}

Result<void> nack_job(Txn& txn, const domain::Receipt& receipt, std::int64_t visible_ms,
                      std::string_view why) {
  if (planted(Tooth::change_delayed))
    execute(txn, "UPDATE jobs SET again_ms = NULL WHERE receipt = $1", receipt);
  // A change that came while the job was out is not made to wait for the delay.
  const auto changed =
      execute(txn,
              "UPDATE jobs SET receipt = NULL, instance = NULL, nacks = nacks + 1, why = $1,"
              " visible_ms = CASE WHEN again_ms < $2 THEN again_ms ELSE $2 END, again_ms = NULL"
              " WHERE receipt = $3",
              why, visible_ms, receipt);
  if (changed != 1) return stale();
  return {};
}

std::size_t return_leases(Txn& txn, std::int64_t now_ms) {
  const auto returned =
      execute(txn,
              "UPDATE jobs SET receipt = NULL, instance = NULL, again_ms = NULL, visible_ms = $1"
              " WHERE receipt IS NOT NULL",
              now_ms);
  // The queue's time starts anew with an engine and may stand earlier than it did before: what
  // waits for a time that is not near is looked at now rather than when that time comes again.
  execute(txn, "UPDATE jobs SET visible_ms = $1 WHERE visible_ms > $1", now_ms);
  return static_cast<std::size_t>(returned);
}

bool enqueue_job(Txn& txn, const domain::Job& job, std::int64_t visible_ms) {
  const auto added = execute(
      txn,
      "INSERT INTO jobs (intent, kind, chain, visible_ms, deliveries, lapsed_leases, nacks, why)"
      " SELECT row, $1, chain, $2, 0, 0, 0, '' FROM intents WHERE id = $3 AND ref = $4"
      " ON CONFLICT (intent, kind) DO NOTHING",
      domain::to_text(job.kind), visible_ms, job.intent, job.ref);
  return added == 1;
}

// ---- the sweep
// ----------------------------------------------------------------------------------------

namespace {

struct LookedAt {
  IntentRow row;
  bool is_driven = false;
};

std::vector<LookedAt> look(Txn& txn, std::string_view state, std::int64_t after,
                           std::size_t limit) {
  std::vector<LookedAt> out;
  each(
      txn,
      "SELECT i.row, i.id, i.chain, j.intent IS NOT NULL FROM intents i"
      " LEFT JOIN jobs j ON j.intent = i.row AND j.kind = 'settle'"
      " WHERE i.state = $1 AND i.state <> 'settled' AND i.row > $2 ORDER BY i.row LIMIT $3",
      [&](const Row& row) {
        LookedAt at;
        at.row.row = row.number(0);
        at.row.intent.id = row.fixed<domain::IntentId>(1);
        at.row.intent.terms.chain = {std::string(row.text(2))};
        at.is_driven = row.flag(3);
        out.push_back(std::move(at));
      },
      state, after, limit);
  return out;
}

/// One turn of a state's rotation; the cursor remembers where the next one goes on.
std::size_t sweep_state(Txn& txn, domain::IntentState state, std::int64_t now_ms, std::size_t limit,
                        std::vector<domain::IntentId>& found) {
  const std::string name = "sweep/" + std::string(domain::to_text(state));
  const auto cursor = first(
      txn, "SELECT value FROM cursors WHERE name = $1",
      [](const Row& row) { return row.number(0); }, name);
  const auto rows = look(txn, domain::to_text(state), cursor.value_or(0), limit);
  for (const LookedAt& at : rows) {
    if (at.is_driven) continue;
    enqueue_for_change(txn, at.row, now_ms);
    found.push_back(at.row.intent.id);
  }
  const std::int64_t next = rows.size() < limit ? 0 : rows.back().row.row;
  if (next != cursor.value_or(0)) {
    execute(txn,
            "INSERT INTO cursors (name, value) VALUES ($1, $2)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name, next);
  }
  return rows.size();
}

}  // namespace

std::vector<domain::IntentId> sweep_undriven(Txn& txn, std::int64_t now_ms, std::size_t limit) {
  std::vector<domain::IntentId> found;
  if (limit == 0) return found;
  const std::size_t half = (limit + 1) / 2;
  const auto looked = sweep_state(txn, domain::IntentState::settling, now_ms, half, found);
  const std::size_t rest = limit - looked;
  if (rest > 0) sweep_state(txn, domain::IntentState::authorized, now_ms, rest, found);
  return found;
}

Unsigned expired_unsigned(Txn& txn, std::int64_t now_s, std::int64_t after, std::size_t limit) {
  static const std::string sql = std::string("SELECT i.row, ")
                                     .append(intent_columns)
                                     .append(
                                         " FROM intents i WHERE i.state = 'created'"
                                         " AND i.state <> 'settled' AND i.row > $1"
                                         " AND NOT EXISTS (SELECT 1 FROM refs_found f"
                                         " WHERE f.chain = i.chain AND f.ref = i.ref)"
                                         " ORDER BY i.row LIMIT $2");
  Unsigned out;
  std::size_t looked = 0;
  each(
      txn, sql,
      [&](const Row& row) {
        domain::Intent intent = intent_from(row, 1);
        ++looked;
        out.next = row.number(0);
        if (intent.publish_before_s <= now_s) out.expired.push_back(std::move(intent));
      },
      after, limit);
  if (looked < limit) out.next = 0;
  return out;
}

// ---- reads
// ----------------------------------------------------------------------------------------------

std::optional<JobRow> find_job(Txn& txn, const domain::IntentId& id) {
  return first(
      txn,
      "SELECT i.ref, j.visible_ms, j.receipt IS NOT NULL, j.deliveries, j.lapsed_leases, j.nacks,"
      " j.why FROM intents i JOIN jobs j ON j.intent = i.row AND j.kind = 'settle'"
      " WHERE i.id = $1",
      [&](const Row& row) {
        JobRow out;
        out.job = {id, row.fixed<domain::Ref>(0)};
        out.visible_ms = row.number(1);
        out.leased = row.flag(2);
        out.deliveries = row.small_count(3);
        out.lapsed_leases = row.small_count(4);
        out.nacks = row.small_count(5);
        out.why = row.text(6);
        return out;
      },
      id);
}

QueueCounts queue_counts(Txn& txn) {
  const auto counts =
      first(txn,
            "SELECT (SELECT count(*) FROM jobs),"
            " (SELECT count(*) FROM jobs WHERE receipt IS NOT NULL)",
            [](const Row& row) { return QueueCounts{row.count(0) - row.count(1), row.count(1)}; });
  ensure(counts.has_value(), "a statement that always has a row has none");
  return *counts;
}

std::optional<std::int64_t> next_visible_ms(Txn& txn) {
  return first(txn, "SELECT visible_ms FROM jobs ORDER BY visible_ms LIMIT 1",
               [](const Row& row) { return row.number(0); });
}

}  // namespace holdfast::store
