#include "campaign.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "process.hpp"
#include "report.hpp"
#include "transport.hpp"

namespace holdfast::campaign {

namespace {

// ---- sharing out

bool time_is_up(const Orders& orders, Time::time_point start) {
  return orders.hours > 0 && seconds_since(start) > orders.hours * 3'600;
}

constexpr std::string_view begins = "seed ";

// A line for each seed before it is run, and its verdict. One that hangs is ended by its deadline.
void work(const Orders& orders, std::uint64_t from, int out, Time::time_point start) {
  for (std::uint64_t at = from; at < orders.seeds; at += orders.jobs) {
    if (at >= orders.jobs && time_is_up(orders, start)) break;
    say(out, std::string(begins) + std::to_string(at) + "\n");
    ::alarm(orders.deadline_s);
    const Verdict verdict = run_one(orders, orders.from + at);
    ::alarm(0);
    say(out, to_line(verdict));
  }
}

struct Worker {
  Child child;
  std::optional<std::uint64_t> at;  ///< the seed under way, by its place
};

Worker start_worker(const Orders& orders, std::uint64_t from, Time::time_point start) {
  return {Child([&](int out) { work(orders, from, out, start); }), std::nullopt};
}

void take_line(Worker& worker, std::string_view line, Sum& sum) {
  if (line.starts_with(begins)) {
    worker.at = std::stoull(std::string(line.substr(begins.size())));
  } else {
    worker.at.reset();
    add(sum, from_line(line));
  }
}

// A process that dies takes its seed with it and no other: that one has failed, and another process
// goes on behind it. False: one died between its seeds.
bool share_out(const Orders& orders, Sum& sum, Progress& progress, Time::time_point start) {
  std::vector<Worker> workers;
  workers.reserve(orders.jobs);
  for (unsigned job = 0; job < orders.jobs; ++job) {
    workers.push_back(start_worker(orders, job, start));
  }
  bool well = true;
  heed_interrupts();
  while (!workers.empty() && !is_interrupted()) {
    std::vector<int> ins;
    ins.reserve(workers.size());
    for (const Worker& worker : workers) ins.push_back(worker.child.in());
    const std::vector<bool> speak = wait_for_any(ins);
    for (std::size_t at = workers.size(); at-- > 0;) {
      Worker& worker = workers[at];
      const auto take = [&](std::string_view line) { take_line(worker, line, sum); };
      if (!speak[at] || worker.child.read(take)) continue;
      if (worker.child.was_interrupted()) {
        note_interrupt();
      } else if (worker.at) {
        Verdict died;
        died.seed = orders.from + *worker.at;
        const std::string& why = worker.child.why();
        died.broken.push_back(why.empty() ? "the process ended in the middle of it" : why);
        add(sum, died);
        worker = start_worker(orders, *worker.at + orders.jobs, start);
        continue;
      }
      well = well && (worker.child.why().empty() || worker.child.was_interrupted());
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(at));
    }
    progress.show(sum, false);
  }
  for (Worker& worker : workers) worker.child.stop();
  return well;
}

}  // namespace

Verdict run_one(const Orders& orders, std::uint64_t seed) {
  return run_seed(setting_of(seed, *orders.profile, orders.cut), orders.tell);
}

namespace {

/// False: none of the seed's payments is the one asked for.
bool tell(const Orders& orders, const Verdict& verdict) {
  std::ostream& out = orders.json ? std::cerr : std::cout;
  const bool known = std::ranges::any_of(verdict.story, [&](const std::string& line) {
    return line.find(orders.tell) != std::string::npos;
  });
  if (!known && !orders.tell.empty() && orders.tell != "all") {
    std::cerr << "holdfast-sim: --trace: seed " << verdict.seed << " has no payment " << orders.tell
              << ".\n";
    return false;
  }
  for (const std::string& line : verdict.story) out << line << '\n';
  for (std::size_t more = 1; more < verdict.broken.size(); ++more) {
    out << "also: " << verdict.broken[more] << '\n';
  }
  return true;
}

}  // namespace

int run_campaign(const Orders& orders) {
  const auto start = Time::now();
  Sum sum;
  Progress progress(orders, start);
  bool well = true;
  if (orders.one) {
    const Verdict verdict = run_one(orders, orders.from);
    if (!tell(orders, verdict)) return 2;
    add(sum, verdict);
  } else {
    well = share_out(orders, sum, progress, start);
  }
  progress.show(sum, true);
  report(orders, sum, seconds_since(start));
  if (!well) std::cerr << "holdfast-sim: a process ended between two of its seeds.\n";
  if (is_interrupted()) {
    std::cerr << "holdfast-sim: interrupted: this is of the seeds that were run.\n";
  }
  return well && !is_interrupted() && sum.failed.empty() ? 0 : 1;
}

}  // namespace holdfast::campaign
