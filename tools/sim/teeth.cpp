#include "teeth.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <vector>

#include <boost/json.hpp>

#include <holdfast/base/ensure.hpp>

#include "base/teeth.hpp"
#include "process.hpp"

namespace holdfast::campaign {

namespace json = boost::json;

namespace {

constexpr bool has_teeth() {
#ifdef HOLDFAST_TEETH
  return true;
#else
  return false;
#endif
}

void plant(Tooth tooth) {
#ifdef HOLDFAST_TEETH
  planted_tooth = tooth;
#else
  ensure(tooth == Tooth::none, "this build has no teeth");
#endif
}

const ToothRow* find_tooth(std::string_view name) {
  const auto* const at = std::find_if(std::begin(tooth_rows), std::end(tooth_rows),
                                      [&](const ToothRow& row) { return row.name == name; });
  return at == std::end(tooth_rows) ? nullptr : at;
}

/// A seed that takes longer hangs: that is seen too.
constexpr unsigned longest_seed_s = 60;

/// What became of one tooth.
struct Bite {
  const ToothRow* tooth = nullptr;
  std::string profile;
  std::uint64_t seeds = 0;  ///< tried of that profile, the last one saw it
  std::string seen_as;      ///< empty: it was not seen
  std::string trouble;      ///< why it was not tried to the end
};

// ---- in a process of its own: what is planted may well end it

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Verdict run_with(Tooth tooth, const Orders& orders, std::uint64_t at) {
  plant(tooth);
  ::alarm(longest_seed_s);
  Verdict out = run_one(orders, orders.from + at);
  ::alarm(0);
  return out;
}

// What it says as it ends is not for the reader of the table.
void be_quiet() {
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
}

// A line for each seed before it is run, one before it is run without the fault, and one for what
// was seen. Begins behind the first `behind` seeds of `first`, a profile.
void bite(Orders orders, Tooth tooth, std::string_view first, std::uint64_t behind, int out) {
  be_quiet();
  for (const std::string_view name : {"rough", "hell"}) {
    if (first == "hell" && name == "rough") continue;
    orders.profile = find_profile(name);
    for (std::uint64_t at = name == first ? behind : 0; at < orders.seeds; ++at) {
      say(out, "seed " + std::string(name) + " " + std::to_string(at + 1) + "\n");
      const Verdict bitten = run_with(tooth, orders, at);
      if (bitten.broken.empty()) continue;
      say(out, "without\n");
      if (!run_with(Tooth::none, orders, at).broken.empty()) continue;
      return say(out, "seen " + one_line(bitten.broken.front()) + "\n");
    }
  }
}

// Whether a seed whose process died with the fault holds without it.
void look_again(Orders orders, const Bite& bite, int out) {
  be_quiet();
  orders.profile = find_profile(bite.profile);
  say(out, "without\n");
  if (run_with(Tooth::none, orders, bite.seeds - 1).broken.empty()) say(out, "held\n");
}

// ---- the process that adds up

struct Trial {
  Child child;
  Bite bite;
  std::string died{};        ///< how the process of the last seed ended; empty: it did not
  bool is_without = false;  ///< the seed runs without the fault
  bool held = false;
};

Trial start_trial(const Orders& orders, Bite bitten) {
  Child child(
      [&](int out) { bite(orders, bitten.tooth->tooth, bitten.profile, bitten.seeds, out); });
  return {std::move(child), std::move(bitten)};
}

void take_line(Trial& trial, std::string_view line) {
  if (line.starts_with("seen ")) {
    trial.bite.seen_as = line.substr(5);
  } else if (line.starts_with("seed ")) {
    const std::size_t space = line.rfind(' ');
    trial.bite.profile = line.substr(5, space - 5);
    trial.bite.seeds = std::stoull(std::string(line.substr(space + 1)));
    trial.is_without = false;
  } else if (line == "without") {
    trial.is_without = true;
  } else if (line == "held") {
    trial.held = true;
  }
}

/// By its own ensure, by its memory, by its deadline: what a fault does to a process.
bool is_of_a_fault(int signal) {
  return signal == SIGABRT || signal == SIGSEGV || signal == SIGALRM;
}

/// False when nothing is left to try. A process that died is no proof before its seed has held in
/// another one, without the fault.
bool go_on(const Orders& orders, Trial& trial) {
  if (trial.child.read([&](std::string_view line) { take_line(trial, line); })) return true;
  if (!trial.bite.seen_as.empty()) return false;
  const std::string why = trial.child.why();
  const bool was_asked = !trial.died.empty();
  if (was_asked && trial.held) {
    trial.bite.seen_as = trial.died;
    return false;
  }
  if (!was_asked && why.empty()) return false;  // all seeds held
  if (!why.empty() && !is_of_a_fault(trial.child.signal())) {
    trial.bite.trouble = why;
    return false;
  }
  if (trial.is_without) {  // it fails without the fault: the next seed
    trial = start_trial(orders, std::move(trial.bite));
    return true;
  }
  Child again([&](int out) { look_again(orders, trial.bite, out); });
  trial = {std::move(again), std::move(trial.bite), why};
  return true;
}

std::string head_of(const Bite& bite) {
  if (!bite.seen_as.empty()) return bite.seen_as;
  return bite.trouble.empty() ? "NOT SEEN" : "NOT SEEN: " + bite.trouble;
}

void print(const Bite& bite) {
  std::cout << std::left << std::setw(22) << bite.tooth->name << std::setw(8) << bite.profile
            << std::right << std::setw(6) << bite.seeds << "  " << head_of(bite) << '\n';
}

void report(const Orders& orders, std::vector<Bite>& bites, double seconds) {
  std::sort(bites.begin(), bites.end(),
            [](const Bite& a, const Bite& b) { return a.tooth < b.tooth; });
  const auto missed = std::count_if(bites.begin(), bites.end(),
                                    [](const Bite& one) { return one.seen_as.empty(); });
  if (orders.json) {
    json::array teeth;
    for (const Bite& one : bites) {
      teeth.push_back(json::object{{"tooth", one.tooth->name},
                                   {"fault", one.tooth->fault},
                                   {"profile", one.profile},
                                   {"seeds", one.seeds},
                                   {"seen_as", one.seen_as},
                                   {"trouble", one.trouble}});
    }
    std::cout << json::object{{"teeth", std::move(teeth)}, {"missed", missed}, {"seconds", seconds}}
              << '\n';
    return;
  }
  std::cout << std::left << std::setw(22) << "tooth" << std::setw(8) << "profile" << std::right
            << std::setw(6) << "seeds" << "  seen as\n";
  for (const Bite& one : bites) print(one);
  std::cout << bites.size() - static_cast<std::size_t>(missed) << " passed, " << missed
            << " failed\n";
}

}  // namespace

std::string no_tooth(std::string_view name) {
  if (!has_teeth()) {
    return "this build has no teeth; tools/simulate --teeth makes one that has.";
  }
  if (name.empty() || find_tooth(name) != nullptr) return {};
  std::string out = "there is no tooth '" + std::string(name) + "'; there are";
  for (const ToothRow& row : tooth_rows) out.append(" ").append(row.name);
  return out + ".";
}

void plant(std::string_view name) {
  const ToothRow* const row = find_tooth(name);
  ensure(row != nullptr, "a tooth is planted by its name");
  plant(row->tooth);
}

int try_teeth(const Orders& orders) {
  const std::string_view name = orders.tooth;
  const auto started = std::chrono::steady_clock::now();
  std::vector<const ToothRow*> left;
  for (const ToothRow& row : tooth_rows) {
    if (name.empty() || row.name == name) left.push_back(&row);
  }
  std::reverse(left.begin(), left.end());
  std::vector<Trial> running;
  std::vector<Bite> done;
  const std::size_t all = left.size();
  heed_interrupts();
  while ((!left.empty() || !running.empty()) && !is_interrupted()) {
    while (running.size() < orders.jobs && !left.empty()) {
      const ToothRow& row = *left.back();
      running.push_back(start_trial(orders, Bite{&row, "rough", 0, {}, {}}));
      left.pop_back();
    }
    std::vector<int> ins;
    ins.reserve(running.size());
    for (const Trial& trial : running) ins.push_back(trial.child.in());
    const std::vector<bool> speak = wait_for_any(ins);
    for (std::size_t at = running.size(); at-- > 0;) {
      if (!speak[at] || go_on(orders, running[at])) continue;
      done.push_back(std::move(running[at].bite));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      std::cerr << done.size() << " of " << all << "  " << done.back().tooth->name << ": "
                << head_of(done.back()) << ", " << done.back().profile << " " << done.back().seeds
                << '\n';
    }
  }
  for (Trial& trial : running) trial.child.stop();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  report(orders, done, took.count());
  if (is_interrupted()) std::cerr << "holdfast-sim: interrupted: this is of the teeth tried.\n";
  const bool all_seen =
      std::none_of(done.begin(), done.end(), [](const Bite& one) { return one.seen_as.empty(); });
  return all_seen && !is_interrupted() ? 0 : 1;
}

}  // namespace holdfast::campaign
