// holdfast-bench floor: what the database and a signature alone take for a payment. The SQL is not
// copied here: it is taped from the named writes of a few payments and then run for the others, so
// it is always theirs.
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/sqlite/sqlite.hpp>
#include <holdfast/store/store.hpp>

#include "benchmarks.hpp"
#include "evm/secp.hpp"
#include "payments.hpp"
#include "replay.hpp"
#include "support/folder.hpp"
#include "support/process.hpp"
#include "support/report.hpp"
#include "tape.hpp"

namespace holdfast::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t writes_a_payment = 6;
constexpr std::uint64_t taped = 5;  // the first ones also make what all share

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

Pattern tape_payments(const std::string& file) {
  boost::asio::io_context io(1);
  Tape tape;
  store::Store store(taping(sqlite::open_sqlite({.path = file}), tape),
                     {.waiters = io.get_executor()});
  Accounts accounts;
  co_spawn(io, take_over(store, 1, accounts), rethrow);
  io.run();
  Payments payments(store, accounts);
  for (std::uint64_t i = 0; i < taped; ++i) {
    io.restart();
    co_spawn(io, payments.run_one(), rethrow);
    io.run();
  }
  // Closing may write as well.
  Pattern out(tape, writes_a_payment);
  store.close();
  return out;
}

struct Measured {
  std::uint64_t payments = 0;
  std::uint64_t commits = 0;
  std::uint64_t rows = 0;
  double seconds = 0;
  double cpu_seconds = 0;
};

Measured measure(sql::Connection& db, Pattern& pattern, std::uint64_t batch, double seconds) {
  const auto key = evm::SecretKey::from(sha256(as_bytes("holdfast-bench/floor")));
  pattern.prepare(db);
  Measured out;
  const std::int64_t rows = db.total_changes();
  const double cpu = tools::process_use().cpu_seconds;
  const auto start = Clock::now();
  do {
    for (std::size_t write = 0; write < pattern.writes(); ++write) {
      db.begin_write();
      for (std::uint64_t i = 1; i <= batch; ++i) pattern.run(write, out.payments + i);
      db.commit();
      ++out.commits;
    }
    evm::Hash32 digest;
    for (std::uint64_t i = 0; i < batch; ++i) {
      digest.value[0] = static_cast<Byte>(i);
      digest.value[1] = static_cast<Byte>(out.commits);
      (void)evm::sign(digest, *key);
    }
    out.payments += batch;
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (out.seconds < seconds);
  out.cpu_seconds = tools::process_use().cpu_seconds - cpu;
  out.rows = static_cast<std::uint64_t>(db.total_changes() - rows);
  return out;
}

// Every payment that was run must be there, and settled.
void check(sql::Connection& db, std::uint64_t expected) {
  sql::Statement& count = db.prepare("SELECT count(*) FROM intents WHERE state = 'settled'");
  count.step();
  const auto settled = static_cast<std::uint64_t>(count.get_int(0));
  count.reset();
  if (settled != expected) {
    throw std::runtime_error(std::to_string(expected) + " payments were run, and " +
                             std::to_string(settled) + " are settled");
  }
}

}  // namespace

int run_floor(tools::Arguments arguments) {
  const bool json = arguments.flag("--json");
  const auto batch = arguments.number("--batch", 256, 1, 10'000);
  const auto seconds = arguments.number("--seconds", 5, 1, 3600);
  const std::filesystem::path parent =
      arguments.text("--folder", std::filesystem::temp_directory_path().string());
  arguments.finish();

  tools::warn_if_in_memory("holdfast-bench floor", parent);
  const tools::Folder folder(parent, "holdfast-bench");
  const std::string file = folder / "floor.db";
  Pattern pattern = tape_payments(file);
  const auto driver = sqlite::open_sqlite({.path = file});
  const auto db = driver->open_writer();
  const Measured out = measure(*db, pattern, batch, static_cast<double>(seconds));
  check(*db, out.payments + taped);

  const auto payments = static_cast<double>(out.payments);
  tools::Report report;
  report.add("payments_per_s", "payments/s", payments / out.seconds, 1);
  report.add("row_writes_per_payment", "row writes a payment",
             static_cast<double>(out.rows) / payments, 2);
  report.add("statements_per_payment", "statements a payment",
             static_cast<std::uint64_t>(pattern.statements()));
  report.add("payments", "payments", out.payments);
  report.add("batch", "payments in one commit", batch);
  report.add("commits", "commits", out.commits);
  report.add("seconds", "seconds", out.seconds, 2);
  report.add("cpu_us_per_payment", "microseconds of CPU a payment",
             out.cpu_seconds / payments * 1e6, 1);
  report.print(json);
  return 0;
}

}  // namespace holdfast::bench
