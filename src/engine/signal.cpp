#include "engine/signal.hpp"

#include <exception>
#include <memory>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "engine/task_group.hpp"

namespace holdfast::engine {

namespace asio = boost::asio;

namespace {

/// Between a wait and its time-out. Shared: in a teardown the sleep may be the last to go.
struct Bell {
  ports::Waiter* waiter = nullptr;  ///< null: the wait is over
  bool rang = false;
};

// Rings also when the clock fails; once the wait is over, and the sleep cancelled, nobody hears it.
asio::awaitable<void> ring(ports::Clock& clock, std::int64_t ms, std::shared_ptr<Bell> bell) {
  std::exception_ptr error;
  try {
    co_await clock.sleep(ms);
  } catch (...) {
    error = std::current_exception();
  }
  bell->rang = true;
  if (bell->waiter != nullptr) bell->waiter->wake();
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace

asio::awaitable<void> Signal::wait() {
  ports::Waiter waiter;
  co_await waiter.park(waiters_);
}

asio::awaitable<bool> Signal::wait_for(ports::Clock& clock, std::int64_t ms) {
  co_return co_await wait_for(clock, ms, [] { return true; });
}

// Not a parallel_group of two co_spawns: where it cancels the one that has not started yet, Asio
// 1.81 throws out of the executor.
asio::awaitable<bool> Signal::wait_for(ports::Clock& clock, std::int64_t ms,
                                       std::function<bool()> is_enough) {
  struct Parked {
    std::shared_ptr<Bell> bell = std::make_shared<Bell>();
    ports::Waiter waiter;
    Parked() { bell->waiter = &waiter; }
    ~Parked() { bell->waiter = nullptr; }
    Parked(const Parked&) = delete;
    Parked& operator=(const Parked&) = delete;
  } parked;
  TaskGroup sleep(co_await asio::this_coro::executor);
  sleep.spawn(ring(clock, ms, parked.bell));
  std::exception_ptr why;
  bool notified = false;
  try {
    do {
      co_await parked.waiter.park(waiters_);
      notified = !parked.bell->rang;
    } while (notified && !is_enough());
  } catch (...) {
    why = std::current_exception();
  }
  sleep.cancel();
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await sleep.join_quietly();
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (why == nullptr) why = sleep.first_error();  // the clock failed
  if (why != nullptr) std::rethrow_exception(why);
  co_return notified;
}

void Signal::notify_one() { waiters_.wake_one(); }

void Signal::notify_all() { waiters_.wake_all(); }

}  // namespace holdfast::engine
