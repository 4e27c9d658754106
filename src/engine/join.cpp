#include "engine/join.hpp"

#include <exception>

namespace holdfast::engine::detail {

namespace asio = boost::asio;

asio::awaitable<void> join_or_cancel(TaskGroup& group) {
  std::exception_ptr why;
  try {
    co_await group.join();
    co_return;
  } catch (...) {
    why = std::current_exception();
  }
  // Tasks left: it was this wait that was cancelled. They are seen out, then it is said.
  group.cancel();
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await group.join_quietly();
  co_await asio::this_coro::throw_if_cancelled(throws);
  std::rethrow_exception(why);
}

}  // namespace holdfast::engine::detail
