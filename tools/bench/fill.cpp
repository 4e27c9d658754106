// holdfast-bench fill: a store with many finished payments in it, for runs that come on top of them
// (`holdfast-load --store FILE --on-top`). They go through the named writes, so that it is the
// store that so many payments leave behind.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <holdfast/sqlite/sqlite.hpp>
#include <holdfast/store/store.hpp>

#include "benchmarks.hpp"
#include "payments.hpp"
#include "support/report.hpp"

namespace holdfast::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_lines = 4'000;
constexpr std::size_t account_count = 64;

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

// One line that is written over by the next, to a person only.
boost::asio::awaitable<void> show_progress(const Payments& payments, std::uint64_t count) {
  const bool is_watched = ::isatty(STDERR_FILENO) == 1;
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (payments.settled() < count) {
    timer.expires_after(std::chrono::milliseconds(250));
    co_await timer.async_wait(boost::asio::use_awaitable);
    if (is_watched) std::cerr << "\r" << payments.settled() << " of " << count << "\x1b[K";
  }
  if (is_watched) std::cerr << "\r\x1b[K";
}

}  // namespace

int run_fill(tools::Arguments arguments) {
  const bool json = arguments.flag("--json");
  const auto count = arguments.number("--payments", 100'000, 1, 100'000'000);
  const std::string file = arguments.text("--store", "");
  arguments.finish();
  if (file.empty() || std::filesystem::exists(file)) {
    throw tools::UsageError("--store names a new file");
  }

  const auto began = Clock::now();
  boost::asio::io_context io(1);
  store::Store store(sqlite::open_sqlite({.path = file}), {.waiters = io.get_executor()});
  Accounts accounts;
  co_spawn(io, take_over(store, account_count, accounts), rethrow);
  io.run();
  io.restart();
  Payments payments(store, accounts);
  payments.end_after(count);
  const std::uint64_t lines = std::min(count, most_lines);
  for (std::uint64_t i = 0; i < lines; ++i) co_spawn(io, payments.run_line(), rethrow);
  co_spawn(io, show_progress(payments, count), rethrow);
  io.run();
  store.close();

  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  tools::Report report;
  report.add("payments", "payments settled", payments.settled());
  report.add("seconds", "seconds", seconds, 1);
  report.add("payments_per_s", "payments/s", static_cast<double>(payments.settled()) / seconds, 1);
  report.add("db_bytes_per_payment", "bytes of the store a payment",
             static_cast<double>(std::filesystem::file_size(file)) / static_cast<double>(count), 0);
  report.print(json);
  return 0;
}

}  // namespace holdfast::bench
