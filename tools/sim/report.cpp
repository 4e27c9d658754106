#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "coverage.hpp"
#include "transport.hpp"

namespace holdfast::campaign {

namespace json = boost::json;

namespace {

std::string thousands(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

void print_tables(const Sum& sum) {
  if (sum.seeds == 0) {
    std::cout << "no seed was run to its end: nothing is known\n";
    return;
  }
  const Tally& tally = sum.tally;
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

constexpr std::size_t most_shown = 20;

void print_failures(const Orders& orders, const Sum& sum) {
  std::size_t shown = 0;
  for (const auto& [seed, broken] : sum.failed) {
    if (++shown > most_shown) break;
    std::cout << "seed " << seed << ": " << broken.front();
    if (broken.size() > 1) std::cout << " (and " << broken.size() - 1 << " more)";
    std::cout << "\n  " << again(orders, seed, orders.cut) << " --trace all\n";
  }
  if (sum.failed.size() > most_shown) {
    std::cout << "and " << sum.failed.size() - most_shown
              << " more seeds that failed; --json names them all\n";
  }
}

}  // namespace

double seconds_since(Time::time_point then) {
  return std::chrono::duration<double>(Time::now() - then).count();
}

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

void Progress::show(const Sum& sum, bool last) {
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

// At once: who waits for a long run may look at it meanwhile.
void Progress::tell_failed(const Sum& sum) {
  for (const auto& [seed, broken] : sum.failed) {
    if (told_.insert(seed).second) {
      std::cerr << "seed " << seed << " failed: " << broken.front() << '\n';
    }
  }
}

std::string again(const Orders& orders, std::uint64_t seed, const Cut& cut) {
  std::string out = "tools/simulate --profile " + std::string(orders.profile->name);
  if (!orders.tooth.empty()) out += " --tooth " + orders.tooth;
  return out + " --seed " + std::to_string(seed) + cut.text();
}

void report(const Orders& orders, const Sum& sum, double seconds) {
  const double rate = static_cast<double>(sum.seeds) / std::max(0.001, seconds);
  if (orders.json) {
    json::object failed;
    for (const auto& [seed, broken] : sum.failed) {
      failed[std::to_string(seed)] = json::array(broken.begin(), broken.end());
    }
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
  if (orders.tell.empty()) print_tables(sum);
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

}  // namespace holdfast::campaign
