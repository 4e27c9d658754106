// Owns: the queue between the waiters' executor and the runner, and the writing connection.
// Must never: hold its mutex while a step runs, a waiter is resumed or a handler is destroyed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <holdfast/store/store.hpp>

#include "store/batch.hpp"
#include "store/mark.hpp"
#include "store/operation_list.hpp"

namespace holdfast::store {

class Store::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::unique_ptr<sql::Driver> driver, StoreOptions options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Starts the store's own thread, unless a runner was lent.
  void start();
  void submit(std::unique_ptr<detail::Operation> operation);
  void abandon();
  /// Waits for the batch that runs, fails what waits, closes the database, lets go of its lock.
  void close();

  StoreStats stats() const;
  bool usable() const;
  std::optional<StoreTrouble> trouble() const;
  const std::string& name() const { return name_; }
  const std::optional<std::string>& restored() const { return restored_; }
  /// Null: this store keeps no mark. Used where the writing connection is.
  const std::shared_ptr<Marker>& marker() const { return marker_; }

 private:
  using OperationList = detail::OperationList;
  class Delivery;

  void open();
  void keep_mark_at_end();
  void run_thread();
  void run_turn();
  void linger(std::unique_lock<std::mutex>& lock);
  OperationList take_batch();
  void run_batch(OperationList batch);
  void post_turn();
  void deliver(OperationList done);
  void deliver_failed(std::unique_ptr<detail::Operation> operation, std::exception_ptr error);

  const StoreOptions options_;
  std::unique_ptr<sql::Driver> driver_;
  const std::string name_;

  // The runner's, while a batch runs; before the start and after the end, the waiters'.
  std::unique_ptr<sql::Connection> db_;
  std::unique_ptr<detail::Batch> batch_;
  std::shared_ptr<Marker> marker_;
  std::optional<std::string> restored_;

  // The waiters' executor's: everything submitted and not yet completed.
  detail::Outstanding outstanding_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  OperationList queue_;
  bool scheduled_ = false;  ///< a turn is posted to the lent runner, or its thread is awake
  bool running_ = false;    ///< a batch runs
  std::size_t last_size_ = 0;  ///< of the batch before
  std::size_t awaited_ = 0;    ///< the thread lingers until so many wait; zero: it does not
  bool closed_ = false;
  std::exception_ptr doubt_;
  std::optional<StoreTrouble> trouble_;
  StoreStats stats_;

  std::thread thread_;
};

}  // namespace holdfast::store
