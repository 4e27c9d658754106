#include "engine/signal.hpp"

#include <array>
#include <exception>
#include <tuple>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>

namespace holdfast::engine {

namespace asio = boost::asio;

asio::awaitable<void> Signal::wait() {
  ports::Waiter waiter;
  co_await waiter.park(waiters_);
}

asio::awaitable<void> Signal::wait_unless_notified(std::uint64_t since) {
  if (notified_ != since) co_return;
  ports::Waiter waiter;
  co_await waiter.park(waiters_);
}

asio::awaitable<bool> Signal::wait_for(ports::Clock& clock, std::int64_t ms) {
  const auto executor = co_await asio::this_coro::executor;
  // Both sides start by way of the executor; what is notified before they do is not missed.
  auto both = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, wait_unless_notified(notified_), asio::deferred),
      asio::co_spawn(executor, clock.sleep(ms), asio::deferred));
  const auto [order, notified, slept] =
      co_await both.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  if (!notified) co_return true;
  if (!slept) co_return false;
  // Neither came to its end: this wait was cancelled, or the clock failed.
  std::rethrow_exception(order[0] == 0 ? notified : slept);
}

void Signal::notify_one() {
  ++notified_;
  waiters_.wake_one();
}

void Signal::notify_all() {
  ++notified_;
  waiters_.wake_all();
}

}  // namespace holdfast::engine
