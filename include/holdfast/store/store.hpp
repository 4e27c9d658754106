// Owns: the one way to the database: steps that run inside group commits, and reads between them.
// Must never: wake a writer before its commit is on disk, or say "nothing happened" when it may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <holdfast/ports/sql.hpp>

namespace holdfast::store {

/// Nothing happened; the same write may be tried again once the store says it is usable.
class StoreUnavailable : public std::runtime_error {
 public:
  StoreUnavailable(sql::Cause cause, const std::string& what)
      : std::runtime_error(what), cause_(cause) {}
  sql::Cause cause() const { return cause_; }

 private:
  sql::Cause cause_;
};

/// COMMIT itself failed: what the batch wrote may come back after a crash. The store takes nothing
/// more; the engine stops, reopens and recovers.
class StoreInDoubt : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The queue of writes is full: nothing happened, try again later (HTTP 429).
class StoreBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Sheet;

/// An open write transaction, lent to a step. Repositories take it first.
class Txn {
 public:
  explicit Txn(sql::Connection& db, Sheet* sheet = nullptr) : db_(db), sheet_(sheet) {}
  sql::Connection& db() { return db_; }
  /// What the steps of one commit share and is written once, at its end; null: nothing is put off.
  Sheet* sheet() { return sheet_; }

 private:
  sql::Connection& db_;
  Sheet* sheet_;
};

struct StoreOptions {
  /// Where the writers wait: completions are posted here, all of a batch with one post.
  boost::asio::any_io_executor waiters = {};
  /// Where the steps run, one batch at a time. Empty: a thread of the store's own.
  boost::asio::any_io_executor runner = {};
  std::size_t max_queued = 20'000;  ///< over this, StoreBusy
  std::size_t max_batch = 2'000;  ///< steps in one commit
  /// How long a commit waits, under load, for those whom the last one woke. Zero: never. A lent
  /// runner never waits.
  std::int64_t linger_us = 1'000;
  /// For comparison in the benchmark only: every step gets a commit of its own.
  bool commit_per_step = false;
};

struct StoreStats {
  std::uint64_t commits = 0;
  std::uint64_t steps = 0;
  std::uint64_t reads = 0;
  std::uint64_t rollbacks = 0;  ///< batches run again because a step threw
  std::uint64_t queued = 0;  ///< now
};

/// Why writes failed when the last one was tried.
struct StoreTrouble {
  sql::Cause cause = sql::Cause::io;  ///< full, read_only, io or corrupt
  std::string what;  ///< for the log
};

namespace detail {
class Operation;
}

/// Threads: constructed, awaited and destroyed on the waiters' executor; steps run on the runner.
/// A step is const-callable with (Txn&), owns its captures, refuses *before* it writes (a returned
/// Result error after a change is a broken promise and stops the process), and may run again after
/// a rollback. What it returns can be default-constructed. Whatever it throws reaches its own
/// waiter only, except a sql::Failure of the environment (busy, full, read_only, corrupt, io): that
/// ends its whole batch as StoreUnavailable.
class Store {
 public:
  /// Opens the writer. Throws StoreUnavailable with a sentence (locked by pid N, from the future,
  /// damaged, read-only, its mark is another store's).
  Store(std::unique_ptr<sql::Driver> driver, StoreOptions options);
  /// Finishes the batch that runs, fails what waits with StoreUnavailable, joins the thread.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Runs the step in the next batch; resumes when its commit is durable. Never cancelled: a
  /// cancellation before the call throws operation_aborted and nothing happens, a later one is seen
  /// by the next co_await. Throws StoreUnavailable, StoreBusy (nothing happened, safe to repeat),
  /// StoreInDoubt, and what the step throws (its changes are taken back).
  template <class Step>
  boost::asio::awaitable<std::invoke_result_t<const Step&, Txn&>> write(Step step);

  /// Runs the step between batches, on the writing connection, seeing every commit before it and
  /// every write queued before it. For bounded reads; it must not write. Throws as write() does.
  template <class Step>
  boost::asio::awaitable<std::invoke_result_t<const Step&, Txn&>> read(Step step);

  StoreStats stats() const;
  bool usable() const;  ///< false after StoreInDoubt
  /// Since a batch of writes ended as StoreUnavailable because the disk is full, read-only, failing
  /// or damaged, until one is committed. Not for a database that is merely busy.
  std::optional<StoreTrouble> trouble() const;
  /// Why this store, as it was opened, is not the one it was: behind its watermark, put back from a
  /// backup. Empty when it is, when an operator has answered for it (store::acknowledge_restored),
  /// and where no mark is kept. Fixed at opening.
  const std::optional<std::string>& restored() const;
  /// Writes the watermark when the store has moved since. Closing does so too. Throws as `read`
  /// does.
  boost::asio::awaitable<void> keep_mark();
  std::string name() const;

  /// Finishes the batch that runs, fails what waits, closes the database and lets go of its lock.
  /// The object stays, and refuses everything as StoreUnavailable.
  void close();

  /// Drops every waiter without resuming it (its frame is gone or going): for teardown before the
  /// executor ends. Steps already running finish, those still queued never run. Asio unwinds each
  /// dropped frame by a post on its own executor.
  void abandon();

 private:
  class Core;
  template <bool Writes>
  struct Submit;
  void submit(std::unique_ptr<detail::Operation> operation);

  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::store

#include <holdfast/store/store_operation.hpp>
