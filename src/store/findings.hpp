// Owns: the list of findings while an audit walks, with its bound, and a steady view of the store.
// Must never: stop at the first finding, or grow without bound.
#pragma once

#include <string>
#include <utility>

#include <holdfast/base/log.hpp>

#include "store/audit.hpp"

namespace holdfast::store {

inline constexpr std::size_t most_findings = 1000;

inline void add_finding(AuditReport& report, int invariant, std::string subject,
                        std::string sentence, bool is_taken_back = false) {
  if (report.findings.size() >= most_findings) return;
  report.findings.push_back({invariant, std::move(subject), std::move(sentence), is_taken_back});
}

/// While it lives, every read sees the store as it was at the first of them. Works on a reader's
/// connection (where it is a read transaction of its own) and inside a write.
class SteadyView {
 public:
  explicit SteadyView(Txn& txn) : txn_(txn) { txn_.db().prepare("SAVEPOINT steady_view").step(); }
  ~SteadyView() {
    try {
      txn_.db().prepare("RELEASE steady_view").step();
    } catch (const sql::Failure& failure) {
      // Only reads stood in it. A connection that cannot end them fails its next call.
      log::warn("store_view_not_ended", {{"why", failure.what()}});
    }
  }
  SteadyView(const SteadyView&) = delete;
  SteadyView& operator=(const SteadyView&) = delete;

 private:
  Txn& txn_;
};

/// What the database says of its own pages. A damaged one may also end the audit: said before.
inline void audit_pages(Txn& txn, AuditReport& report) {
  for (const std::string& line : txn.db().own_check()) {
    add_finding(report, 0, "the database", "its own check says: " + line);
  }
}
/// What the journal adds up to, and where its chain breaks.
void audit_journal(Txn& txn, AuditReport& report, const Progress& progress);
/// One intent with all that belongs to it. Inside a SteadyView.
void audit_payment(Txn& txn, AuditReport& report, std::int64_t intent_row);

}  // namespace holdfast::store
