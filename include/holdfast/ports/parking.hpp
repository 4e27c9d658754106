// Owns: how a coroutine frame waits in a list until somebody wakes it: the one place that keeps
// handlers of parked frames. Every wait of the engine and of the simulator's clock is built on it.
// Must never: resume a frame inside the call that wakes it, or outlive its executor with a frame in
// it: a dropped frame is unwound by a post on its executor.
#pragma once

#include <cstddef>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace holdfast::ports {

class WaitList;

/// One waiting frame and its place in a list. It lives in the frame that waits, so waiting
/// allocates nothing of its own and an idle list is two pointers.
///
///     Waiter waiter;
///     co_await waiter.park(list);  // returns when woken, throws operation_aborted when cancelled
class Waiter {
 public:
  Waiter() = default;
  ~Waiter() { leave(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Parks the calling coroutine at the end of `list`, at once: nothing runs in between. Any
  /// cancellation takes it out of the list.
  boost::asio::awaitable<void> park(WaitList& list);
  /// The same, but a cancellation does not end it; it is seen by the next co_await.
  boost::asio::awaitable<void> park_uncancellable(WaitList& list);
  bool parked() const { return list_ != nullptr; }
  /// Leaves the list; the frame goes on in its own turn of its executor. No-op when not parked.
  void wake();
  /// Leaves the list and destroys the frame without resuming it, by way of its executor. No-op
  /// when not parked.
  void drop();

 private:
  friend class WaitList;
  struct Cancel;
  using Handler = boost::asio::async_result<boost::asio::use_awaitable_t<>,
                                            void(boost::system::error_code)>::handler_type;

  void enter(WaitList& list, bool cancellable, Handler handler);
  boost::asio::awaitable<void> start(WaitList& list, bool cancellable);
  void leave();
  void resume(boost::system::error_code error);

  WaitList* list_ = nullptr;
  Waiter* before_ = nullptr;
  Waiter* after_ = nullptr;
  std::optional<Handler> handler_;
  boost::asio::cancellation_slot slot_;
};

/// Waiting frames in order of arrival. One executor: nothing here is locked.
class WaitList {
 public:
  WaitList() = default;
  ~WaitList() { abandon(); }
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  Waiter* first() { return first_; }

  /// Wakes who waits longest; false when nobody does.
  bool wake_one();
  /// Wakes everybody who waits now, in order, each by its own post.
  void wake_all();
  /// Drops everybody: for teardown, while the executor still is there.
  void abandon();

 private:
  friend class Waiter;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace holdfast::ports
