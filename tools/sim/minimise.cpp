// What a failing seed needs to fail: everything else is taken away, piece by piece.
#include <algorithm>
#include <iomanip>
#include <iostream>

#include "campaign.hpp"

namespace holdfast::campaign {

namespace {

/// The rule that a seed breaks first: "invariant 7". Less of the seed must still break this one.
std::string first_broken(const Orders& orders, const Cut& cut) {
  Orders with = orders;
  with.cut = cut;
  const Verdict verdict = run_one(with, orders.from);
  if (verdict.broken.empty()) return {};
  return verdict.broken.front().substr(0, verdict.broken.front().find(','));
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
  const std::size_t strokes = setting_of(orders.from, *orders.profile, {}).strokes.size();
  for (std::size_t place = 0; place < strokes; ++place) {
    Cut less = cut;
    less.strokes.insert(place);
    if (still_fails(orders, less, rule)) cut = less;
  }
  fewer_payments(orders, cut, rule);
  const Setting left = setting_of(orders.from, *orders.profile, cut);
  std::cout << "still fails with " << left.payments << " payments and these blows:\n";
  for (const Stroke& stroke : left.strokes) {
    std::cout << "  " << std::setw(7) << stroke.at_ms << " ms  " << to_text(stroke.blow) << '\n';
  }
  std::cout << "tools/simulate --profile " << orders.profile->name << " --seed " << orders.from
            << cut.text() << '\n';
  return 1;
}

}  // namespace holdfast::campaign
