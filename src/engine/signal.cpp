#include "engine/signal.hpp"

#include <boost/asio/this_coro.hpp>

namespace holdfast::engine {

namespace asio = boost::asio;

asio::awaitable<void> Signal::wait() {
  ports::Waiter waiter;
  co_await waiter.park(waiters_);
}

asio::awaitable<bool> Signal::wait_for(ports::Clock& clock, std::int64_t ms) {
  return wait_for(clock, ms, [] { return true; });
}

asio::awaitable<bool> Signal::wait_for(ports::Clock& clock, std::int64_t ms,
                                       std::function<bool()> is_enough) {
  ports::Waiter waiter;
  bool rang = false;
  const auto alarm = clock.alarm(co_await asio::this_coro::executor, ms, [&waiter, &rang] {
    rang = true;
    waiter.wake();
  });
  do {
    co_await waiter.park(waiters_);
  } while (!rang && !is_enough());
  co_return !rang;
}

void Signal::notify_one() { waiters_.wake_one(); }

void Signal::notify_all() { waiters_.wake_all(); }

}  // namespace holdfast::engine
