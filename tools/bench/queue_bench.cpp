// holdfast-bench queue: what the job queue alone can do, with the named writes and the group
// commits of the engine. tools/bench/compare holds it against other queues.
// A job is a note about a stored payment, so enqueueing one stores its payment, too.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/sqlite/sqlite.hpp>
#include <holdfast/store/store.hpp>

#include "benchmarks.hpp"
#include "payments.hpp"
#include "store/reads.hpp"
#include "support/folder.hpp"
#include "support/process.hpp"
#include "support/report.hpp"

namespace holdfast::bench {

namespace {

using boost::asio::awaitable;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_in_one_lease = 256;  // as the dispatcher's
constexpr std::int64_t lease_ms = 600'000;
// The queue's time. It stands still, behind the times at which the payments became visible.
constexpr std::int64_t now_ms = 1'800'000'000'000;

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

struct Phase {
  double seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t commits = 0;
};

/// Everything lives on one executor, as in the engine.
class Queue {
 public:
  Queue(boost::asio::io_context& io, store::Store& store, std::uint64_t jobs,
        std::uint64_t in_flight)
      : io_(io), store_(store), jobs_(jobs), in_flight_(in_flight) {}

  Phase take_over_accounts() {
    return run([this] { co_spawn(io_, take_over(store_, 64, accounts_), rethrow); });
  }
  Phase enqueue_all() {
    return run([this] {
      const std::uint64_t lines = std::min(jobs_, in_flight_);
      for (std::uint64_t i = 0; i < lines; ++i) co_spawn(io_, enqueue_line(), rethrow);
    });
  }
  Phase work_all() {
    return run([this] { lease_more(); });
  }
  /// Throws unless each job was handed out once, acked, and is gone.
  void check() {
    co_spawn(io_, check_counts(), rethrow);
    io_.restart();
    io_.run();
  }

 private:
  template <class Start>
  Phase run(Start start) {
    const std::uint64_t commits = store_.stats().commits;
    const double cpu = tools::process_use().cpu_seconds;
    const auto began = Clock::now();
    start();
    io_.restart();
    io_.run();
    Phase out;
    out.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    out.cpu_seconds = tools::process_use().cpu_seconds - cpu;
    out.commits = store_.stats().commits - commits;
    return out;
  }

  awaitable<void> enqueue_line() {
    while (enqueued_ < jobs_) {
      const std::uint64_t number = enqueued_++;
      const auto& from = accounts_.addresses[number % accounts_.addresses.size()];
      const auto answer = co_await store_.write([wanted = payout(number, from)](store::Txn& txn) {
        return store::create_intent(txn, wanted);
      });
      if (answer.has_error()) throw std::runtime_error("refused: " + answer.error().detail);
    }
  }

  void lease_more() {
    if (leasing_ || is_empty_ || held_ >= in_flight_) return;
    leasing_ = true;
    co_spawn(io_, lease(std::min<std::size_t>(in_flight_ - held_, most_in_one_lease)), rethrow);
  }

  awaitable<void> lease(std::size_t room) {
    store::LeaseRequest wanted;
    wanted.now_ms = now_ms;
    wanted.lease_ms = lease_ms;
    for (std::size_t i = 0; i < room; ++i) wanted.receipts.push_back(next_receipt());
    const auto leased = co_await store_.write(
        [wanted = std::move(wanted)](store::Txn& txn) { return store::lease_jobs(txn, wanted); });
    leasing_ = false;
    is_empty_ = leased.empty();
    held_ += leased.size();
    leased_ += leased.size();
    for (const store::Leased& job : leased) co_spawn(io_, ack(job.lease.receipt), rethrow);
    lease_more();
  }

  awaitable<void> ack(domain::Receipt receipt) {
    const auto done =
        co_await store_.write([receipt](store::Txn& txn) { return store::ack_job(txn, receipt); });
    if (done.has_error()) throw std::runtime_error("refused: " + done.error().detail);
    --held_;
    ++acked_;
    lease_more();
  }

  domain::Receipt next_receipt() {
    domain::Receipt out;
    const std::uint64_t number = ++receipts_;
    for (std::size_t i = 0; i < sizeof number; ++i) {
      out.value[i] = static_cast<Byte>(number >> (8 * i));
    }
    return out;
  }

  awaitable<void> check_counts() {
    const auto left =
        co_await store_.read([](store::Txn& txn) { return store::queue_counts(txn); });
    if (leased_ == jobs_ && acked_ == jobs_ && left.queued + left.leased == 0) co_return;
    throw std::runtime_error(std::to_string(jobs_) + " jobs were enqueued, " +
                             std::to_string(leased_) + " leased, " + std::to_string(acked_) +
                             " acked, and " + std::to_string(left.queued + left.leased) +
                             " are left");
  }

  boost::asio::io_context& io_;
  store::Store& store_;
  std::uint64_t jobs_;
  std::uint64_t in_flight_;
  Accounts accounts_;
  std::uint64_t enqueued_ = 0;
  std::uint64_t leased_ = 0;
  std::uint64_t acked_ = 0;
  std::uint64_t held_ = 0;
  std::uint64_t receipts_ = 0;
  bool leasing_ = false;
  bool is_empty_ = false;
};

}  // namespace

int run_queue(tools::Arguments arguments) {
  const bool json = arguments.flag("--json");
  const auto jobs = arguments.number("--jobs", 20'000, 1, 10'000'000);
  const auto in_flight = arguments.number("--in-flight", 2000, 1, 10'000);
  const std::filesystem::path parent =
      arguments.text("--folder", std::filesystem::temp_directory_path().string());
  arguments.finish();

  tools::warn_if_in_memory("holdfast-bench queue", parent);
  const tools::Folder folder(parent, "holdfast-bench");
  boost::asio::io_context io(1);
  store::Store store(sqlite::open_sqlite({.path = folder / "queue.db"}),
                     {.waiters = io.get_executor()});
  Queue queue(io, store, jobs, in_flight);
  queue.take_over_accounts();
  const Phase enqueue = queue.enqueue_all();
  const Phase work = queue.work_all();
  queue.check();

  const auto count = static_cast<double>(jobs);
  tools::Report report;
  report.add("jobs_per_s", "enqueue, lease and ack: jobs/s",
             count / (enqueue.seconds + work.seconds), 1);
  report.add("enqueue_per_s", "enqueue: jobs/s", count / enqueue.seconds, 1);
  report.add("lease_ack_per_s", "lease and ack: jobs/s", count / work.seconds, 1);
  report.add("jobs", "jobs", jobs);
  report.add("in_flight", "in flight", in_flight);
  report.add("enqueue_commits", "enqueue: commits", enqueue.commits);
  report.add("lease_ack_commits", "lease and ack: commits", work.commits);
  report.add("cpu_us_per_job", "microseconds of CPU a job",
             (enqueue.cpu_seconds + work.cpu_seconds) / count * 1e6, 1);
  report.print(json);
  return 0;
}

}  // namespace holdfast::bench
