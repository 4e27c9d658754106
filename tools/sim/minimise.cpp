// What a failing seed needs to fail: everything else is taken away, piece by piece.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <unistd.h>

#include "campaign.hpp"
#include "process.hpp"
#include "report.hpp"
#include "transport.hpp"

namespace holdfast::campaign {

namespace {

/// What a seed breaks first, as kind_of() has it; less of the seed must still break this. In a
/// process of its own: what is looked for may end it.
std::string first_broken(const Orders& orders, const Cut& cut) {
  Child child([&](int out) {
    Orders with = orders;
    with.cut = cut;
    ::alarm(orders.deadline_s);
    say(out, to_line(run_one(with, orders.from)));
  });
  Verdict verdict;
  while (child.read([&](std::string_view line) { verdict = from_line(line); })) {
  }
  if (!child.why().empty()) return kind_of(child.why());
  return verdict.broken.empty() ? std::string() : kind_of(verdict.broken.front());
}

bool still_fails(const Orders& orders, const Cut& cut, const std::string& rule) {
  return first_broken(orders, cut) == rule;
}

// Halves, then single payments less.
void fewer_payments(const Orders& orders, Cut& cut, const std::string& rule) {
  const Setting whole = setting_of(orders.from, *orders.profile, cut);
  std::size_t most = whole.payments;
  for (std::size_t step = std::max<std::size_t>(1, most / 2); step > 0; step /= 2) {
    while (most > step) {
      Cut less = cut;
      less.payments = most - step;
      if (!still_fails(orders, less, rule)) break;
      most -= step;
      cut = less;
    }
  }
}

}  // namespace

std::string kind_of(const std::string& broken) {
  if (!broken.starts_with("invariant ")) return broken;
  std::istringstream words(broken.substr(0, broken.find(':')));
  std::string out;
  std::string word;
  words >> out >> word;
  out += " " + word;
  while (words >> word) {
    const bool is_name = word.find_first_of("0123456789") != std::string::npos;
    if (is_name) word = word.starts_with("pi_") ? "pi_" : word.starts_with("0x") ? "0x" : "#";
    out += " " + word;
  }
  return out;
}

int minimise(const Orders& orders) {
  Cut cut = orders.cut;
  const std::string rule = first_broken(orders, cut);
  if (rule.empty()) {
    std::cout << "seed " << orders.from << " does not fail.\n";
    return 0;
  }
  fewer_payments(orders, cut, rule);
  std::cerr << "payments: " << (cut.payments ? std::to_string(*cut.payments) : "all") << '\n';
  for (std::size_t at = 0; at < sim::mishap_count; ++at) {
    Cut less = cut;
    less.mishaps.insert(static_cast<sim::Mishap>(at));
    if (still_fails(orders, less, rule)) cut = less;
  }
  std::cerr << "mishaps taken away: " << cut.mishaps.size() << '\n';
  Cut all;
  all.workload = cut.workload;
  const std::size_t places = setting_of(orders.from, *orders.profile, all).places;
  for (std::size_t place = 0; place < places; ++place) {
    Cut less = cut;
    less.strokes.insert(place);
    if (still_fails(orders, less, rule)) cut = less;
  }
  fewer_payments(orders, cut, rule);
  const Setting left = setting_of(orders.from, *orders.profile, cut);
  const bool is_one = left.payments == 1;
  std::cout << "still fails (" << rule << ") with " << left.payments
            << (is_one ? " payment and " : " payments and ")
            << (left.strokes.empty() ? "no blow\n" : "these blows:\n");
  for (const Stroke& stroke : left.strokes) {
    std::cout << "  " << std::setw(7) << stroke.at_ms << " ms  " << to_text(stroke.blow) << '\n';
  }
  std::cout << again(orders, orders.from, cut) << " --trace all\n";
  return 1;
}

}  // namespace holdfast::campaign
