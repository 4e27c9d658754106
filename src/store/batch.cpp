#include "store/batch.hpp"

#include <exception>

namespace holdfast::store::detail {

namespace {

// A failure of the environment ends the whole batch; any other is its own step's.
bool of_environment(sql::Cause cause) {
  switch (cause) {
    case sql::Cause::busy:
    case sql::Cause::full:
    case sql::Cause::read_only:
    case sql::Cause::corrupt:
    case sql::Cause::io:
    case sql::Cause::in_doubt: return true;
    case sql::Cause::constraint:
    case sql::Cause::misuse: return false;
  }
  return true;
}

}  // namespace

BatchCounts Batch::run(OperationList& operations) noexcept {
  counts_ = {};
  writes_.clear();
  reads_.clear();
  operations.each([this](Operation& operation) {
    (operation.writes() ? writes_ : reads_).push_back(&operation);
  });
  counts_.steps = writes_.size();
  counts_.reads = reads_.size();
  if (!writes_.empty()) run_writes(writes_);
  // After the commit, so that a read sees each write queued before it.
  if (!reads_.empty()) run_reads();
  return counts_;
}

void Batch::run_writes(Operations writes) {
  if (in_doubt()) return fail_all(writes, in_doubt_);
  try {
    run_group(writes);
  } catch (const sql::Failure& failure) {
    db_.rollback();
    if (failure.cause() == sql::Cause::in_doubt) {
      in_doubt_ = std::make_exception_ptr(StoreInDoubt(
          name_ + " does not know whether its newest commit is on disk: " + failure.what()));
      return fail_all(writes, in_doubt_);
    }
    if (failure.cause() != sql::Cause::busy) {
      trouble_ = StoreTrouble{failure.cause(), failure.what()};
    }
    fail_all(writes, std::make_exception_ptr(
                         StoreUnavailable(failure.cause(), name_ + ": " + failure.what())));
  }
}

// Ends each operation, or throws a failure that is all of theirs.
void Batch::run_group(Operations writes) {
  try {
    if (!run_bare(writes)) run_with_savepoints(writes);
  } catch (const sql::Failure& failure) {
    if (of_environment(failure.cause())) throw;
    // A deferred constraint refused the commit, and which step broke it cannot be seen from here.
    db_.rollback();
    ++counts_.rollbacks;
    if (writes.size() == 1) return writes.front()->fail(std::current_exception());
    for (std::size_t i = 0; i < writes.size(); ++i) run_writes(writes.subspan(i, 1));
  }
}

// Without savepoints: they cost an eighth to a quarter of a batch, and steps rarely throw. False,
// with everything rolled back, when a step threw and it was not alone.
bool Batch::run_bare(Operations writes) {
  Txn txn(db_, &sheet_);
  sheet_.clear();
  begin();
  for (Operation* operation : writes) {
    try {
      operation->run(txn);
    } catch (const sql::Failure& failure) {
      if (of_environment(failure.cause())) throw;
      return end_bare(*operation, writes);
    } catch (...) {
      return end_bare(*operation, writes);
    }
  }
  sheet_.write(txn);
  commit();
  return true;
}

bool Batch::end_bare(Operation& thrower, Operations writes) {
  db_.rollback();
  ++counts_.rollbacks;
  if (writes.size() > 1) return false;
  thrower.fail(std::current_exception());
  return true;
}

void Batch::run_with_savepoints(Operations writes) {
  Txn txn(db_);
  begin();
  for (Operation* operation : writes) {
    db_.savepoint();
    try {
      operation->run(txn);
    } catch (const sql::Failure& failure) {
      if (of_environment(failure.cause())) throw;
      operation->fail(std::current_exception());
      db_.rollback_to_savepoint();
    } catch (...) {
      operation->fail(std::current_exception());
      db_.rollback_to_savepoint();
    }
    db_.release_savepoint();
  }
  commit();
}

void Batch::begin() {
  db_.begin_write();
  changes_before_ = db_.total_changes();
}

// A commit of nothing needs no room, so it says nothing about the disk.
void Batch::commit() {
  const bool wrote = db_.total_changes() != changes_before_;
  db_.commit();
  if (wrote) trouble_.reset();
  ++counts_.commits;
}

void Batch::run_reads() {
  Txn txn(db_);
  for (Operation* operation : reads_) {
    if (in_doubt()) {
      operation->fail(in_doubt_);
      continue;
    }
    try {
      operation->run(txn);
    } catch (const sql::Failure& failure) {
      operation->fail(of_environment(failure.cause())
                          ? std::make_exception_ptr(
                                StoreUnavailable(failure.cause(), name_ + ": " + failure.what()))
                          : std::current_exception());
    } catch (...) {
      operation->fail(std::current_exception());
    }
  }
  db_.rollback();  // no transaction: lets go of the snapshot of a read that stopped half way
}

void Batch::fail_all(Operations operations, const std::exception_ptr& error) {
  for (Operation* operation : operations) operation->fail(error);
}

}  // namespace holdfast::store::detail
