#include "figures.hpp"

#include <algorithm>

namespace holdfast::load {

namespace {

// Accepted → first posted, of every payment that was.
Latencies broadcast(std::span<const Owed> owed, std::span<const Moved> moved) {
  Latencies out;
  for (const Owed& payment : owed) {
    const auto found = std::ranges::lower_bound(moved, payment.ref, {}, &Moved::ref);
    const bool known = found != moved.end() && found->ref == payment.ref && found->posted_us > 0;
    if (known) {
      out.add(found->posted_us - payment.accepted_us);
    }
  }
  return out;
}

double ratio(double part, std::uint64_t whole) {
  return whole == 0 ? 0 : part / static_cast<double>(whole);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return ratio(static_cast<double>(part), whole);
}

/// Names in their order, with a value or, where the engine ran in another process, none.
class UsedLines {
 public:
  UsedLines(tools::Report& out, bool known) : out_(out), known_(known) {}
  void add(const char* key, const char* label, std::uint64_t value) {
    known_ ? out_.add(key, label, value) : out_.add_unknown(key, label);
  }
  void add(const char* key, const char* label, double value, int decimals) {
    known_ ? out_.add(key, label, value, decimals) : out_.add_unknown(key, label);
  }

 private:
  tools::Report& out_;
  bool known_;
};

void add_used(tools::Report& report, std::uint64_t payments, std::uint64_t most_in_flight,
              const Used& used) {
  UsedLines out(report, used.is_ours);
  const std::uint64_t grown =
      used.after.rss_peak_bytes - std::min(used.after.rss_peak_bytes, used.before.rss_bytes);
  out.add("row_writes_per_payment", "row writes a payment", ratio(used.row_writes, payments), 2);
  out.add("commits", "commits", used.commits);
  out.add("steps_per_commit", "writes a commit", ratio(used.steps, used.commits), 1);
  out.add("rows_per_commit", "rows a commit", ratio(used.row_writes, used.commits), 1);
  out.add("bytes_written_per_payment", "bytes to the disk a payment",
          ratio(used.after.bytes_written - used.before.bytes_written, payments), 0);
  out.add("db_bytes_per_payment", "bytes of the store a payment", ratio(used.db_bytes, payments),
          0);
  out.add("rpc_calls_per_payment", "calls to the chain a payment",
          ratio(used.chain_calls, payments), 2);
  out.add("http_requests_per_payment", "HTTP requests to the chain a payment",
          ratio(used.http_requests, payments), 3);
  out.add("cpu_us_per_payment", "microseconds of CPU a payment",
          ratio((used.after.cpu_seconds - used.before.cpu_seconds) * 1e6, payments), 1);
  out.add("rss_peak_bytes", "most memory, bytes", used.after.rss_peak_bytes);
  out.add("bytes_per_in_flight", "memory grown, bytes for each in flight",
          ratio(grown, most_in_flight), 0);
}

}  // namespace

tools::Report figures(Driven& driven, std::span<const Moved> moved, const Audit& audit,
                      const Used& used) {
  const std::uint64_t payments = driven.owed.size();
  const double seconds = std::max(driven.seconds, 1e-9);
  const Latencies posted = broadcast(driven.owed, moved);
  tools::Report out;
  const auto percentiles = [&](const char* key, const char* label, const Latencies& of) {
    const std::string name(key);
    const std::string text(label);
    out.add(name + "_p50_ms", text + ", p50 ms", of.percentile_ms(0.5), 1);
    out.add(name + "_p99_ms", text + ", p99 ms", of.percentile_ms(0.99), 1);
    out.add(name + "_p999_ms", text + ", p99.9 ms", of.percentile_ms(0.999), 1);
  };
  out.add("payments", "payments accepted", payments);
  out.add("seconds", "seconds", driven.seconds, 2);
  out.add("payments_per_s", "payments/s", static_cast<double>(audit.settled) / seconds, 1);
  out.add("settled", "settled", audit.settled);
  out.add("failed", "failed or canceled", audit.failed);
  out.add("in_review", "in review", audit.in_review);
  out.add("lost", "lost (by the chain's books)", audit.lost);
  out.add("doubled", "doubled (by the chain's books)", audit.doubled);
  out.add("faults", "posts that went wrong on purpose", used.faults);
  percentiles("confirming", "accepted to confirming", driven.confirming);
  percentiles("settled", "accepted to settled", driven.settled);
  const char* const posted_label = "accepted to posted, p99 ms";
  if (posted.count() > 0) {
    out.add("broadcast_p99_ms", posted_label, posted.percentile_ms(0.99), 1);
  } else {
    out.add_unknown("broadcast_p99_ms", posted_label);
  }
  out.add("most_in_flight", "most in flight", driven.most_in_flight);
  add_used(out, payments, driven.most_in_flight, used);
  const char* const restart_label = "restart with these open, ms";
  if (used.restart_ms) {
    out.add("restart_ms", restart_label, *used.restart_ms, 1);
  } else {
    out.add_unknown("restart_ms", restart_label);
  }
  return out;
}

}  // namespace holdfast::load
