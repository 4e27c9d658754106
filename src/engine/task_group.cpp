#include "engine/task_group.hpp"

#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/ports/parking.hpp>

namespace holdfast::engine {

namespace asio = boost::asio;

bool is_cancellation(const std::exception_ptr& error) {
  if (error == nullptr) return false;
  try {
    std::rethrow_exception(error);
  } catch (const boost::system::system_error& failure) {
    return failure.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

/// Shared with the tasks' completions: a task may end after the group's owner is gone.
class TaskGroup::Core {
 public:
  /// One running coroutine. Owned by its completion handler, which is in the coroutine's frame: it
  /// ends with the frame, whichever way that ends.
  struct Task {
    explicit Task(std::shared_ptr<Core> group) : core(std::move(group)) { core->add(*this); }
    ~Task() { core->remove(*this); }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    std::shared_ptr<Core> core;
    asio::cancellation_signal stop;
    Task* before = nullptr;
    Task* after = nullptr;
    bool started = false;
    bool stop_asked = false;  ///< before it started
    bool ended = false;  ///< its completion came; else its frame was destroyed
  };

  Core(asio::any_io_executor on, OnError handler)
      : executor(std::move(on)), on_error(std::move(handler)) {}

  /// Runs `task` between two places where Asio 1.81 lets a cancellation escape from co_spawn as an
  /// exception out of the executor: before the first step, and after a task that never waited.
  static asio::awaitable<void> lead(asio::awaitable<void> task, Task* record) {
    record->started = true;
    std::exception_ptr error;
    try {
      if (record->stop_asked) {
        throw boost::system::system_error(asio::error::operation_aborted, "not started");
      }
      co_await std::move(task);
    } catch (...) {
      error = std::current_exception();
    }
    co_await asio::this_coro::throw_if_cancelled(false);
    if (error != nullptr) std::rethrow_exception(error);
  }

  void complete(Task& task, std::exception_ptr error) {
    task.ended = true;
    if (error == nullptr || is_cancellation(error)) return;
    if (first_error == nullptr) first_error = error;
    if (on_error) on_error(std::move(error));
  }

  asio::any_io_executor executor;
  OnError on_error;
  std::exception_ptr first_error;
  std::size_t size = 0;
  Task* first = nullptr;
  Task* last = nullptr;
  ports::WaitList joiners;

 private:
  void add(Task& task) {
    task.before = last;
    (last != nullptr ? last->after : first) = &task;
    last = &task;
    ++size;
  }
  void remove(Task& task) {
    (task.before != nullptr ? task.before->after : first) = task.after;
    (task.after != nullptr ? task.after->before : last) = task.before;
    --size;
    if (size > 0) return;
    // Where the last task was destroyed, not ended, this is a teardown: whoever joins would be told
    // that all is done, and is dropped instead. Nobody else would ever drop it.
    if (task.ended) {
      joiners.wake_all();
    } else {
      joiners.abandon();
    }
  }
};

TaskGroup::TaskGroup(asio::any_io_executor executor, OnError on_error)
    : core_(std::make_shared<Core>(std::move(executor), std::move(on_error))) {}

TaskGroup::~TaskGroup() { abandon(); }

void TaskGroup::spawn(asio::awaitable<void> task) {
  auto record = std::make_unique<Core::Task>(core_);
  const auto slot = record->stop.slot();
  auto whole = Core::lead(std::move(task), record.get());
  asio::co_spawn(core_->executor, std::move(whole),
                 asio::bind_cancellation_slot(
                     slot, [entry = std::move(record)](std::exception_ptr error) mutable {
                       entry->core->complete(*entry, std::move(error));
                     }));
}

asio::awaitable<void> TaskGroup::join() {
  const auto core = core_;
  while (core->size > 0) {
    ports::Waiter waiter;
    co_await waiter.park(core->joiners);
  }
  if (core->first_error != nullptr) std::rethrow_exception(core->first_error);
}

asio::awaitable<void> TaskGroup::join_quietly() {
  const auto core = core_;
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (core->size > 0) {
    ports::Waiter waiter;
    co_await waiter.park_uncancellable(core->joiners);
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
}

void TaskGroup::cancel() {
  // On the executor, at once when we are there already: outside it, co_spawn would queue each
  // signal's emission with a bare pointer, which dangles when the task ends first.
  asio::dispatch(core_->executor, [core = core_] {
    // A task cannot end inside emit: its completion comes by the executor.
    for (Core::Task* task = core->first; task != nullptr;) {
      Core::Task* const after = task->after;
      if (task->started) {
        task->stop.emit(asio::cancellation_type::terminal);
      } else {
        task->stop_asked = true;
      }
      task = after;
    }
  });
}

std::size_t TaskGroup::size() const { return core_->size; }

std::exception_ptr TaskGroup::first_error() const { return core_->first_error; }

void TaskGroup::abandon() {
  core_->on_error = {};
  core_->joiners.abandon();
}

}  // namespace holdfast::engine
