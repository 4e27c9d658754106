#include "store/audit.hpp"

#include <algorithm>

#include "store/findings.hpp"
#include "store/rows.hpp"

namespace holdfast::store {
namespace {

constexpr std::int64_t page_size = 200;

// The unique index forbids it. An index can be damaged too, so the question is put such that only
// the table can answer it.
void audit_numbers(Txn& txn, AuditReport& report) {
  each(txn,
       "SELECT a.chain, a.address, s.sequence, count(*) FROM slots s"
       " JOIN accounts a ON a.row = s.account WHERE s.state || '' <> 'released'"
       " GROUP BY s.account + 0, s.sequence HAVING count(*) > 1 LIMIT 1000",
       [&](const Row& row) {
         add_finding(report, 5, std::string(row.text(1)),
                     "number " + std::to_string(row.count(2)) + " on " + std::string(row.text(0)) +
                         " was given " + std::to_string(row.count(3)) + " times");
       });
}

/// A damaged row is a finding, and the walk goes on behind it.
void audit_one(Txn& txn, AuditReport& report, std::int64_t row) {
  try {
    audit_payment(txn, report, row);
  } catch (const sql::Failure& failure) {
    if (failure.cause() != sql::Cause::corrupt && failure.cause() != sql::Cause::misuse) throw;
    add_finding(report, 8, "intent row " + std::to_string(row), failure.what());
  }
}

std::vector<std::int64_t> page_after(Txn& txn, std::int64_t after, std::int64_t upto) {
  std::vector<std::int64_t> rows;
  each(
      txn, "SELECT row FROM intents WHERE row > $1 AND row <= $2 ORDER BY row LIMIT $3",
      [&](const Row& row) { rows.push_back(row.number(0)); }, after, upto, page_size);
  return rows;
}

// Each page is read in one view, so that a payment on its way is seen at one moment; between pages
// the view is let go. Returns the last row looked at.
std::int64_t audit_page(Txn& txn, AuditReport& report, std::int64_t after, std::int64_t upto) {
  const SteadyView view(txn);
  const auto rows = page_after(txn, after, upto);
  for (const std::int64_t row : rows) audit_one(txn, report, row);
  return rows.empty() ? upto : rows.back();
}

}  // namespace

AuditReport audit(Txn& txn, const Progress& progress) {
  AuditReport report;
  audit_pages(txn, report);
  audit_journal(txn, report, nullptr);
  audit_numbers(txn, report);
  const std::int64_t upto = number_of(txn, "SELECT coalesce(max(row), 0) FROM intents");
  std::int64_t after = 0;
  while (after < upto) {
    after = audit_page(txn, report, after, upto);
    if (progress) progress(static_cast<std::uint64_t>(after), static_cast<std::uint64_t>(upto));
  }
  return report;
}

}  // namespace holdfast::store
