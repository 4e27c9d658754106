// Owns: the one way a call to the outside world gets a deadline: `with_deadline`.
// Must never: be put around something that cannot be cancelled (name resolution, a store write): it
// returns only when the operation has ended. Nor around each payment: it costs some 4 µs and 2 KB,
// so it belongs on the exchange that many payments share.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/ports/clock.hpp>

namespace holdfast::ports {

/// Awaits `operation` for at most `ms` milliseconds of the clock's monotonic time (none for
/// ms <= 0, though an operation that never waits still ends). Empty when the time ran out: the
/// operation was then cancelled and has ended, and what it did before is for the caller to know.
/// Throws what the operation throws; when the caller itself is cancelled, operation_aborted.
/// `T` must be default-constructible (Asio's co_spawn asks for it). `clock` must outlive the call.
///
/// Not `operation || clock.sleep(ms)`: in Boost 1.81 that waits for the first *success*, so an
/// operation that fails fast would be held until the deadline and its failure lost.
template <class T>
boost::asio::awaitable<std::optional<T>> with_deadline(Clock& clock, std::int64_t ms,
                                                       boost::asio::awaitable<T> operation) {
  namespace asio = boost::asio;
  const auto executor = co_await asio::this_coro::executor;
  auto [order, failure, value, clock_failure] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, std::move(operation), asio::deferred),
          asio::co_spawn(executor, clock.sleep(ms), asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  // An operation that ended well counts, even if the time ran out in the same turn: throwing away
  // an answer that is there would make an unknown of it.
  if (!failure) co_return std::optional<T>(std::move(value));
  const bool time_ran_out = order[0] == 1 && !clock_failure;
  if (!time_ran_out) std::rethrow_exception(failure);
  co_return std::nullopt;
}

}  // namespace holdfast::ports
