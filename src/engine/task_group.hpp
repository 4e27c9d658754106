// Owns: coroutines that run beside their starter, until each has ended.
// Must never: lose one: every coroutine of the engine is in a group that is joined.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace holdfast::engine {

/// True for the exception that a cancelled co_await throws (operation_aborted).
bool is_cancellation(const std::exception_ptr& error);

class TaskGroup {
 public:
  /// Told, on the executor, of an exception that ended a task and is not a cancellation.
  using OnError = std::function<void(std::exception_ptr)>;

  explicit TaskGroup(boost::asio::any_io_executor executor, OnError on_error = {});
  /// Drops joiners. Tasks still running go on; whoever destroys what they use ends them first.
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Starts `task`; on the executor's own thread it runs at once up to its first wait.
  void spawn(boost::asio::awaitable<void> task);
  /// Returns when no task is left (those spawned meanwhile included), then throws the first
  /// exception that was not a cancellation. Cancelled itself: throws, and the tasks go on.
  boost::asio::awaitable<void> join();
  /// `join` that cancellation cannot interrupt, and that throws nothing: for the end of a life. A
  /// caller that may be cancelled already sets this_coro::throw_if_cancelled(false) first, or its
  /// own co_await throws before this begins.
  boost::asio::awaitable<void> join_quietly();
  /// Asks every task there is now to end: its next co_await throws operation_aborted.
  void cancel();

  std::size_t size() const;
  /// The first exception that was not a cancellation, if any.
  std::exception_ptr first_error() const;
  /// Drops joiners and forgets the error handler: for teardown. The tasks' own frames are dropped
  /// by whatever they are parked in.
  void abandon();

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::engine
