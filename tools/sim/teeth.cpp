#include "teeth.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
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
};

// ---- in a process of its own: what is planted may well end it

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A line for each seed before it is run, and one for what was seen.
void bite(Orders orders, Tooth tooth, int out) {
  // What it says as it ends is not for the reader of the table.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  for (const std::string_view name : {"rough", "hell"}) {
    orders.profile = find_profile(name);
    for (std::uint64_t at = 0; at < orders.seeds; ++at) {
      say(out, "seed " + std::string(name) + " " + std::to_string(at + 1) + "\n");
      ::alarm(longest_seed_s);
      plant(tooth);
      const Verdict bitten = run_one(orders, orders.from + at);
      if (bitten.broken.empty()) continue;
      plant(Tooth::none);
      if (!run_one(orders, orders.from + at).broken.empty()) continue;
      return say(out, "seen " + one_line(bitten.broken.front()) + "\n");
    }
  }
}

// ---- the process that adds up

struct Trial {
  Child child;
  Bite bite;
};

void take_line(Bite& bite, std::string_view line) {
  if (line.starts_with("seen ")) {
    bite.seen_as = line.substr(5);
  } else if (line.starts_with("seed ")) {
    const std::size_t space = line.rfind(' ');
    bite.profile = line.substr(5, space - 5);
    bite.seeds = std::stoull(std::string(line.substr(space + 1)));
  }
}

/// False when its process has ended.
bool read_some(Trial& trial) {
  if (trial.child.read([&](std::string_view line) { take_line(trial.bite, line); })) return true;
  if (trial.bite.seen_as.empty()) trial.bite.seen_as = trial.child.why();
  return false;
}

std::string_view head_of(const std::string& seen_as) {
  return seen_as.empty() ? std::string_view("NOT SEEN") : std::string_view(seen_as);
}

void print(const Bite& bite) {
  std::cout << std::left << std::setw(22) << bite.tooth->name << std::setw(8) << bite.profile
            << std::right << std::setw(6) << bite.seeds << "  " << head_of(bite.seen_as) << '\n';
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
                                   {"seen_as", one.seen_as}});
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

int try_teeth(const Orders& orders, std::string_view name) {
  const auto started = std::chrono::steady_clock::now();
  std::vector<const ToothRow*> left;
  for (const ToothRow& row : tooth_rows) {
    if (name.empty() || row.name == name) left.push_back(&row);
  }
  std::reverse(left.begin(), left.end());
  std::vector<Trial> running;
  std::vector<Bite> done;
  const std::size_t all = left.size();
  while (!left.empty() || !running.empty()) {
    while (running.size() < orders.jobs && !left.empty()) {
      const ToothRow& row = *left.back();
      running.push_back(
          {Child([&](int out) { bite(orders, row.tooth, out); }), Bite{&row, {}, 0, {}}});
      left.pop_back();
    }
    std::vector<int> ins;
    ins.reserve(running.size());
    for (const Trial& trial : running) ins.push_back(trial.child.in());
    const std::vector<bool> speak = wait_for_any(ins);
    for (std::size_t at = running.size(); at-- > 0;) {
      if (!speak[at] || read_some(running[at])) continue;
      done.push_back(std::move(running[at].bite));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      std::cerr << done.size() << " of " << all << "  " << done.back().tooth->name << ": "
                << head_of(done.back().seen_as) << ", " << done.back().profile << " "
                << done.back().seeds << '\n';
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  report(orders, done, took.count());
  return std::any_of(done.begin(), done.end(), [](const Bite& one) { return one.seen_as.empty(); })
             ? 1
             : 0;
}

}  // namespace holdfast::campaign
