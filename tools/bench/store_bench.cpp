// holdfast-bench store: what group commit is worth, on the real store and the real disk.
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <holdfast/sqlite/sqlite.hpp>
#include <holdfast/store/store.hpp>

#include "benchmarks.hpp"
#include "payments.hpp"
#include "store/audit.hpp"
#include "store/reads.hpp"
#include "support/folder.hpp"
#include "support/process.hpp"
#include "support/report.hpp"

namespace holdfast::bench {

namespace {

using boost::asio::awaitable;
using Clock = std::chrono::steady_clock;

constexpr std::size_t account_count = 64;

struct Setting {
  std::string file;
  std::size_t in_flight = 0;
  std::chrono::seconds duration{};
  bool commit_per_step = false;
};

struct Measured {
  std::uint64_t payments = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads
  store::StoreStats stats;
  double per_s() const { return static_cast<double>(payments) / seconds; }
  double cpu_us() const { return cpu_seconds / static_cast<double>(payments) * 1e6; }
  double steps_per_commit() const {
    return static_cast<double>(stats.steps) / static_cast<double>(stats.commits);
  }
};

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

awaitable<void> count_settled(store::Store& store, std::uint64_t& settled) {
  const auto counts = co_await store.read([](store::Txn& txn) { return store::state_counts(txn); });
  for (const auto& [state, count] : counts) {
    if (state == domain::IntentState::settled) settled = count;
  }
}

// The store must hold exactly what was counted, and a journal that verifies.
void check(boost::asio::io_context& io, store::Store& store, const std::string& file,
           std::uint64_t expected) {
  std::uint64_t settled = 0;
  co_spawn(io, count_settled(store, settled), rethrow);
  io.restart();
  io.run();
  if (settled != expected) {
    throw std::runtime_error(std::to_string(expected) + " payments were settled, the store has " +
                             std::to_string(settled));
  }
  const auto reader = sqlite::open_sqlite({.path = file})->open_reader();
  store::Txn txn(*reader);
  const auto report = store::verify_ledger(txn, [](std::uint64_t, std::uint64_t) {});
  if (!report.good()) throw std::runtime_error("the journal: " + report.findings[0].sentence);
}

Measured measure(const Setting& setting) {
  boost::asio::io_context io(1);
  store::Store store(sqlite::open_sqlite({.path = setting.file}),
                     {.waiters = io.get_executor(), .commit_per_step = setting.commit_per_step});
  Accounts accounts;
  co_spawn(io, take_over(store, account_count, accounts), rethrow);
  io.run();
  io.restart();

  const store::StoreStats before = store.stats();
  Payments payments(store, accounts);
  for (std::size_t i = 0; i < setting.in_flight; ++i) {
    co_spawn(io, payments.run_line(), rethrow);
  }
  boost::asio::steady_timer timer(io, setting.duration);
  timer.async_wait([&](boost::system::error_code) { payments.stop(); });
  const auto start = Clock::now();
  const double cpu_start = tools::process_use().cpu_seconds;
  io.run();
  Measured out;
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  out.cpu_seconds = tools::process_use().cpu_seconds - cpu_start;
  out.payments = payments.settled();
  out.stats = store.stats();
  out.stats.commits -= before.commits;
  out.stats.steps -= before.steps;
  check(io, store, setting.file, out.payments);
  return out;
}

}  // namespace

int run_store(tools::Arguments arguments) {
  const bool json = arguments.flag("--json");
  const bool keep = arguments.flag("--keep");
  const auto in_flight = arguments.number("--in-flight", 1000, 1, 10'000);
  const auto seconds = arguments.number("--seconds", 5, 1, 3600);
  const std::filesystem::path parent =
      arguments.text("--store", std::filesystem::temp_directory_path().string());
  arguments.finish();

  tools::warn_if_in_memory("holdfast-bench store", parent);
  const tools::Folder folder(parent, "holdfast-bench", keep);
  Setting setting{.file = folder / "per-step.db",
                  .in_flight = in_flight,
                  .duration = std::chrono::seconds(seconds),
                  .commit_per_step = true};
  const Measured single = measure(setting);
  setting.file = folder / "group.db";
  setting.commit_per_step = false;
  const Measured group = measure(setting);

  tools::Report report;
  report.add("in_flight", "payments in flight", in_flight);
  report.add("group_commit_per_s", "group commit: payments/s", group.per_s(), 1);
  report.add("commit_per_step_per_s", "a commit per step: payments/s", single.per_s(), 1);
  report.add("ratio", "group commit is faster by", group.per_s() / single.per_s(), 2);
  report.add("group_payments", "group commit: payments", group.payments);
  report.add("group_seconds", "group commit: seconds", group.seconds, 2);
  report.add("group_commits", "group commit: commits", group.stats.commits);
  report.add("group_steps_per_commit", "group commit: writes a commit", group.steps_per_commit(),
             1);
  report.add("group_cpu_us", "group commit: microseconds of CPU a payment", group.cpu_us(), 1);
  report.add("single_payments", "a commit per step: payments", single.payments);
  report.add("single_seconds", "a commit per step: seconds", single.seconds, 2);
  report.add("single_commits", "a commit per step: commits", single.stats.commits);
  report.add("single_cpu_us", "a commit per step: microseconds of CPU a payment", single.cpu_us(),
             1);
  report.print(json);
  return 0;
}

}  // namespace holdfast::bench
