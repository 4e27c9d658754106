#include "campaign.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include <boost/json.hpp>

#include "coverage.hpp"
#include "process.hpp"

namespace holdfast::campaign {

namespace json = boost::json;

namespace {

using Time = std::chrono::steady_clock;

double seconds_since(Time::time_point then) {
  return std::chrono::duration<double>(Time::now() - then).count();
}

/// All that was run so far.
struct Sum {
  std::uint64_t seeds = 0;
  std::uint64_t payments = 0;
  std::uint64_t crashes = 0;
  std::uint64_t steps = 0;
  std::int64_t simulated_ms = 0;
  std::uint64_t reviews_left = 0;
  std::uint64_t needless_reviews = 0;
  Tally tally;
  std::map<std::uint64_t, std::vector<std::string>> failed;  ///< by seed
  std::map<std::uint64_t, std::string> hashes;
};

void add(Sum& sum, const Verdict& verdict) {
  ++sum.seeds;
  sum.payments += verdict.payments;
  sum.crashes += verdict.crashes;
  sum.steps += verdict.steps;
  sum.simulated_ms += verdict.simulated_ms;
  sum.reviews_left += verdict.reviews_left;
  sum.needless_reviews += verdict.needless_reviews;
  sum.tally.add(verdict.tally);
  if (!verdict.broken.empty()) sum.failed[verdict.seed] = verdict.broken;
  sum.hashes[verdict.seed] = verdict.trace_hash;
}

// ---- a verdict on its way from a process to the one that adds up: a line of JSON

json::object to_json(const Tally& tally) {
  json::object tables;
  for (const auto& [table, names] : tally.tables()) {
    json::object entries;
    for (const auto& [name, times] : names) entries[name] = times;
    tables[table] = std::move(entries);
  }
  return tables;
}

std::string to_line(const Verdict& verdict) {
  json::array broken;
  for (const std::string& one : verdict.broken) broken.emplace_back(one);
  const json::object out{{"seed", verdict.seed},
                         {"payments", verdict.payments},
                         {"crashes", verdict.crashes},
                         {"steps", verdict.steps},
                         {"simulated_ms", verdict.simulated_ms},
                         {"reviews_left", verdict.reviews_left},
                         {"needless_reviews", verdict.needless_reviews},
                         {"hash", verdict.trace_hash},
                         {"broken", std::move(broken)},
                         {"tables", to_json(verdict.tally)}};
  return json::serialize(out) + "\n";
}

Verdict from_line(std::string_view line) {
  const json::object in = json::parse(line).as_object();
  const auto number = [&](const char* name) { return in.at(name).to_number<std::uint64_t>(); };
  Verdict out;
  out.seed = number("seed");
  out.payments = number("payments");
  out.crashes = number("crashes");
  out.steps = number("steps");
  out.simulated_ms = static_cast<std::int64_t>(number("simulated_ms"));
  out.reviews_left = number("reviews_left");
  out.needless_reviews = number("needless_reviews");
  out.trace_hash = in.at("hash").as_string();
  for (const json::value& one : in.at("broken").as_array()) {
    out.broken.emplace_back(one.as_string());
  }
  for (const auto& table : in.at("tables").as_object()) {
    for (const auto& entry : table.value().as_object()) {
      out.tally.count(table.key(), entry.key(), entry.value().to_number<std::uint64_t>());
    }
  }
  return out;
}

// ---- progress and report

std::string thousands(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

class Progress {
 public:
  Progress(const Orders& orders, Time::time_point start) : orders_(orders), start_(start) {}

  void show(const Sum& sum, bool last) {
    tell_failed(sum);
    if (!last && seconds_since(shown_) < (isatty(STDERR_FILENO) != 0 ? 1.0 : 15.0)) return;
    shown_ = Time::now();
    const double seconds = std::max(0.001, seconds_since(start_));
    std::cerr << thousands(sum.seeds) << " of " << thousands(orders_.seeds) << " seeds  "
              << std::fixed << std::setprecision(1) << static_cast<double>(sum.seeds) / seconds
              << " seeds/s  payments " << thousands(sum.payments) << "  crashes "
              << thousands(sum.crashes) << "  simulated " << std::setprecision(2)
              << static_cast<double>(sum.simulated_ms) / 3'600'000.0 << " h  failed "
              << sum.failed.size() << '\n';
  }

 private:
  // At once: who waits for a long run may look at it meanwhile.
  void tell_failed(const Sum& sum) {
    for (const auto& [seed, broken] : sum.failed) {
      if (told_.insert(seed).second) {
        std::cerr << "seed " << seed << " failed: " << broken.front() << '\n';
      }
    }
  }

  const Orders& orders_;
  Time::time_point start_;
  Time::time_point shown_ = Time::now();
  std::set<std::uint64_t> told_;
};

void print_tables(const Tally& tally) {
  for (const auto& [table, names] : tally.tables()) {
    std::cout << table << '\n';
    for (const auto& [name, times] : names) {
      std::cout << "  " << std::left << std::setw(44) << name << std::right << std::setw(14)
                << thousands(times);
      const std::string_view why = times == 0 ? why_never(table, name) : std::string_view();
      std::cout << (why.empty() ? "" : "  cannot: ") << why << '\n';
    }
  }
  const std::vector<std::string> never = missing(tally);
  if (never.empty()) std::cout << "every row happened in these seeds\n";
  if (!never.empty()) std::cout << never.size() << " rows have not happened in these seeds\n";
  for (const std::string& row : never) std::cout << "  " << row << '\n';
}

void print_failures(const Orders& orders, const Sum& sum) {
  std::size_t shown = 0;
  for (const auto& [seed, broken] : sum.failed) {
    if (++shown > 20) break;
    std::cout << "seed " << seed << ": " << broken.front() << '\n'
              << "  tools/simulate --profile " << orders.profile->name << " --seed " << seed
              << orders.cut.text() << " --trace all\n";
  }
}

void report(const Orders& orders, const Sum& sum, double seconds) {
  const double rate = static_cast<double>(sum.seeds) / std::max(0.001, seconds);
  if (orders.json) {
    json::object failed;
    for (const auto& [seed, broken] : sum.failed) failed[std::to_string(seed)] = broken.front();
    json::array never;
    for (const std::string& row : missing(sum.tally)) never.emplace_back(row);
    json::object hashes;
    if (orders.hashes) {
      for (const auto& [seed, hash] : sum.hashes) hashes[std::to_string(seed)] = hash;
    }
    std::cout << json::object{{"profile", orders.profile->name},
                              {"seeds", sum.seeds},
                              {"seconds", seconds},
                              {"seeds_per_s", rate},
                              {"jobs", orders.jobs},
                              {"payments", sum.payments},
                              {"crashes", sum.crashes},
                              {"events", sum.steps},
                              {"simulated_hours", static_cast<double>(sum.simulated_ms) / 3.6e6},
                              {"reviews_left", sum.reviews_left},
                              {"needless_reviews", sum.needless_reviews},
                              {"tables", to_json(sum.tally)},
                              {"never", std::move(never)},
                              {"hashes", std::move(hashes)},
                              {"failed", std::move(failed)}}
              << '\n';
    return;
  }
  if (orders.hashes) {
    for (const auto& [seed, hash] : sum.hashes) std::cout << seed << ' ' << hash << '\n';
  }
  // Who reads one seed's story has no use for what the others' tables count.
  if (orders.tell.empty()) print_tables(sum.tally);
  print_failures(orders, sum);
  std::cout << thousands(sum.seeds) << " seeds in " << std::fixed << std::setprecision(1) << seconds
            << " s (" << rate << " a second, " << orders.jobs << " at once), "
            << thousands(sum.payments) << " payments, " << thousands(sum.crashes) << " crashes, "
            << thousands(sum.steps) << " events, " << std::setprecision(2)
            << static_cast<double>(sum.simulated_ms) / 3'600'000.0 << " simulated hours; "
            << sum.reviews_left << " left in review, " << sum.needless_reviews
            << " of them needlessly\n"
            << thousands(sum.seeds - sum.failed.size()) << " passed, " << sum.failed.size()
            << " failed\n";
}

// ---- sharing out

bool time_is_up(const Orders& orders, Time::time_point start) {
  return orders.hours > 0 && seconds_since(start) > orders.hours * 3'600;
}

constexpr std::string_view begins = "seed ";

// A line for each seed before it is run, and its verdict.
void work(const Orders& orders, std::uint64_t from, int out, Time::time_point start) {
  for (std::uint64_t at = from; at < orders.seeds && !time_is_up(orders, start);
       at += orders.jobs) {
    say(out, std::string(begins) + std::to_string(at) + "\n");
    say(out, to_line(run_one(orders, orders.from + at)));
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

// Ctrl-C: what was run so far is reported all the same. The processes have it too, or end when
// nobody reads of them.
volatile std::sig_atomic_t is_interrupted = 0;

void note_interrupt(int) { is_interrupted = 1; }

// A process that dies takes its seed with it and no other: that one has failed, and another process
// goes on behind it. False: one died between its seeds.
bool share_out(const Orders& orders, Sum& sum, Progress& progress, Time::time_point start) {
  std::vector<Worker> workers;
  workers.reserve(orders.jobs);
  for (unsigned job = 0; job < orders.jobs; ++job) {
    workers.push_back(start_worker(orders, job, start));
  }
  bool well = true;
  if (std::signal(SIGINT, note_interrupt) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  while (!workers.empty() && is_interrupted == 0) {
    std::vector<int> ins;
    ins.reserve(workers.size());
    for (const Worker& worker : workers) ins.push_back(worker.child.in());
    const std::vector<bool> speak = wait_for_any(ins);
    for (std::size_t at = workers.size(); at-- > 0;) {
      Worker& worker = workers[at];
      const auto take = [&](std::string_view line) { take_line(worker, line, sum); };
      if (!speak[at] || worker.child.read(take)) continue;
      if (worker.child.was_interrupted()) {
        is_interrupted = 1;
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
  return well;
}

}  // namespace

Verdict run_one(const Orders& orders, std::uint64_t seed) {
  return run_seed(setting_of(seed, *orders.profile, orders.cut), orders.tell);
}

std::string take_away(Cut& cut, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::size_t place = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), place);
    if (error == std::errc() && end == word.data() + word.size()) {
      cut.strokes.insert(place);
      continue;
    }
    bool known = false;
    for (std::size_t at = 0; at < sim::mishap_count; ++at) {
      const auto mishap = static_cast<sim::Mishap>(at);
      if (sim::to_text(mishap) != word) continue;
      cut.mishaps.insert(mishap);
      known = true;
    }
    if (!known) return word;
  }
  return {};
}

namespace {

void tell(const Orders& orders, const Verdict& verdict) {
  std::ostream& out = orders.json ? std::cerr : std::cout;
  const bool known = std::ranges::any_of(verdict.story, [&](const std::string& line) {
    return line.find(orders.tell) != std::string::npos;
  });
  if (!known && !orders.tell.empty() && orders.tell != "all") {
    std::cerr << "seed " << verdict.seed << " has no payment " << orders.tell << '\n';
    return;
  }
  for (const std::string& line : verdict.story) out << line << '\n';
  for (std::size_t more = 1; more < verdict.broken.size(); ++more) {
    out << "also: " << verdict.broken[more] << '\n';
  }
}

}  // namespace

int run_campaign(const Orders& orders) {
  const auto start = Time::now();
  Sum sum;
  Progress progress(orders, start);
  bool well = true;
  if (orders.seeds == 1) {  // in this process: who looks into it wants a debugger on it
    const Verdict verdict = run_one(orders, orders.from);
    tell(orders, verdict);
    add(sum, verdict);
  } else {
    well = share_out(orders, sum, progress, start);
  }
  progress.show(sum, true);
  report(orders, sum, seconds_since(start));
  if (!well) std::cerr << "holdfast-sim: a process ended between two of its seeds.\n";
  if (is_interrupted != 0) {
    std::cerr << "holdfast-sim: interrupted: this is of the seeds that were run.\n";
  }
  return well && is_interrupted == 0 && sum.failed.empty() ? 0 : 1;
}

}  // namespace holdfast::campaign
