// Owns: the checks of domain.md sections 5 and 7 on a store, for `ledger verify` and `audit`.
// Must never: write, or read without a bound: it walks in pages up to a fixed journal sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <holdfast/store/store.hpp>
#include "store/model.hpp"

namespace holdfast::store {

struct Finding {
  int invariant = 0;    ///< its number in domain.md section 7; 0: the journal's chain
  std::string subject;  ///< intent id, account, or "journal entry N"
  std::string sentence;
  /// Nothing was done wrong here: the chain took back the final transaction that had proved it.
  bool is_taken_back = false;
};

struct AuditReport {
  std::uint64_t intents = 0;
  std::uint64_t entries = 0;
  std::uint64_t attempts = 0;
  std::uint64_t slots = 0;
  std::vector<Finding> findings;  ///< at most 1000
  bool good() const { return findings.empty(); }
};

using Progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Walks the hash chain and the projection; names the first broken sequence number.
AuditReport verify_ledger(Txn& txn, const Progress& progress);
/// Everything of section 7 that a store alone can show.
AuditReport audit(Txn& txn, const Progress& progress);

}  // namespace holdfast::store
