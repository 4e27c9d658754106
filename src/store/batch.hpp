// Owns: how one batch of operations runs on the writing connection: its writes in one transaction,
// then its reads.
// Must never: leave an operation without a result or an error, or say that nothing happened when
// COMMIT failed in doubt.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/store/store.hpp>

#include "store/operation_list.hpp"
#include "store/sheet.hpp"

namespace holdfast::store::detail {

struct BatchCounts {
  std::uint64_t commits = 0;
  std::uint64_t steps = 0;
  std::uint64_t reads = 0;
  std::uint64_t rollbacks = 0;
};

/// Used by one thread at a time.
class Batch {
 public:
  /// `name` begins the sentences: "the store FILE".
  Batch(sql::Connection& db, std::string name) : db_(db), name_(std::move(name)) {}

  /// Runs them all; afterwards each holds its result or its error. What cannot be told to a waiter
  /// (no memory for a result, say) stops the process: its store recovers.
  BatchCounts run(OperationList& operations) noexcept;

  /// A COMMIT failed: nothing can be run any more, every operation ends as StoreInDoubt.
  bool in_doubt() const { return in_doubt_ != nullptr; }
  std::exception_ptr doubt() const { return in_doubt_; }
  /// See Store::trouble.
  const std::optional<StoreTrouble>& trouble() const { return trouble_; }

 private:
  using Operations = std::span<Operation* const>;

  void run_writes(Operations writes);
  void run_group(Operations writes);
  bool run_bare(Operations writes);
  bool end_bare(Operation& thrower, Operations writes);
  void run_with_savepoints(Operations writes);
  void run_reads();
  void begin();
  void commit();
  void fail_all(Operations operations, const std::exception_ptr& error);

  sql::Connection& db_;
  std::string name_;
  std::exception_ptr in_doubt_;
  std::optional<StoreTrouble> trouble_;
  std::int64_t changes_before_ = 0;
  BatchCounts counts_;
  Sheet sheet_;  ///< of the commit under way
  std::vector<Operation*> writes_;
  std::vector<Operation*> reads_;
};

}  // namespace holdfast::store::detail
