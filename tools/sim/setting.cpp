#include "setting.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

namespace holdfast::campaign {

namespace {

constexpr std::array<std::string_view, blow_count> names{
    "process_killed",    "power_cut",      "killed_in_write", "power_cut_in_write",
    "drained",           "rival_engine",   "disk_full",       "sync_failed",
    "process_slept",     "wall_clock_set", "backup_restored", "node_down",
    "wrong_chain",       "pool_lost",      "tx_forgotten",    "pool_held",
    "fee_moved",         "reorg_kept",     "reorg_dropped",   "finality_broken",
    "token_paused",      "account_poor",   "foreign_use",     "used_by_other",
    "canceled_by_payer", "abandoned",      "reconciled",      "signer_down",
    "number_used",       "killed_again",   "fee_spiked",      "receipt_invented"};

// The odds are by mishap, the hundredths by blow, in the order of their enums.
constexpr Profile profiles[] = {
                                  // NOLINT(*-avoid-c-arrays): a table
    {"calm",
     {2, 5, 5, 5, 2, 2, 2, 2, 1, 2, 1},
     {50,  20, 10, 10, 50, 5, 10, 5,  10, 10, 0,  20, 5, 10, 20, 20,
      100, 30, 20, 0,  5,  5, 2,  10, 10, 30, 20, 5,  1, 10, 10, 5},
     0},
    {"rough",
     {20, 40, 20, 40, 20, 20, 15, 15, 10, 20, 10},
     {70,  40, 40, 40, 40, 15, 25, 15, 30, 30,  1,  60, 20, 50, 80, 60,
      200, 80, 60, 4,  20, 20, 8,  50, 40, 100, 50, 20, 4,  50, 40, 40},
     10},
    {"hell",
     {80, 100, 60, 90, 60, 40, 50, 40, 40, 60, 40},
     {150, 120, 120, 120, 80, 40, 80, 60,  80,  60,  10,  150, 60, 150, 200, 150,
      400, 200, 200, 10,  60, 60, 30, 100, 100, 200, 100, 60,  15, 60,  80,  80},
     0},
};

std::uint64_t mixed(std::uint64_t seed, std::uint64_t with) {
  return sim::Chance(seed * 0x100'0000'01b3ULL ^ with).next();
}

// Each blow has a stream of its own, so that taking one away moves no other.
void add_strokes(Setting& setting, Blow blow, std::uint32_t hundredths) {
  sim::Chance chance(mixed(setting.seed, 1'000 + static_cast<std::uint64_t>(blow)));
  // So many on the average, spread as widely as their count allows.
  std::uint64_t count = hundredths / 100;
  if (chance.below(100) < hundredths % 100) ++count;
  count = count > 1 ? 1 + chance.below(2 * count - 1) : count;
  for (; count > 0; --count) {
    const auto at =
        static_cast<std::int64_t>(chance.below(static_cast<std::uint64_t>(setting.span_ms)));
    setting.strokes.push_back({at, blow, chance.next()});
  }
}

// Two or three, and the first of them is never behind: what was given to it is the chain's.
std::vector<sim::Endpoint> endpoints_of(std::uint64_t seed) {
  sim::Chance chance(mixed(seed, 33));  // a stream that leaves the seeds kept as tests alone
  std::vector<sim::Endpoint> out;
  if (chance.below(4) != 0) return out;
  out.resize(2 + chance.below(2));
  for (std::size_t at = 1; at < out.size(); ++at) {
    out[at] = {chance.below(5), static_cast<std::int64_t>(chance.below(4'000))};
  }
  return out;
}

}  // namespace

std::string_view to_text(Blow blow) { return names[static_cast<std::size_t>(blow)]; }

const Profile* find_profile(std::string_view name) {
  const auto* const at = std::find_if(std::begin(profiles), std::end(profiles),
                                      [&](const Profile& one) { return one.name == name; });
  return at == std::end(profiles) ? nullptr : at;
}

std::string profile_names() {
  std::string out;
  for (const Profile& one : profiles) out += (out.empty() ? "" : ", ") + std::string(one.name);
  return out;
}

std::string Cut::text() const {
  std::string out;
  if (payments) out += " --payments " + std::to_string(*payments);
  for (const std::size_t stroke : strokes) out += " --without " + std::to_string(stroke);
  for (const sim::Mishap mishap : mishaps) out += " --without " + std::string(to_text(mishap));
  if (workload != newest_workload) out += " --workload " + std::to_string(workload);
  return out;
}

Setting setting_of(std::uint64_t seed, const Profile& profile, const Cut& cut) {
  Setting out;
  out.seed = seed;
  sim::Chance chance(mixed(seed, 1));
  out.payments = 20 + chance.below(21);
  out.span_ms = 60'000 + static_cast<std::int64_t>(chance.below(120'000));
  out.accounts = 1 + chance.below(2);
  out.max_unconsumed = chance.below(4) == 0 ? 1 + static_cast<std::uint32_t>(chance.below(3)) : 8;
  out.finality_lag = 1 + chance.below(4);
  out.latency_ms = static_cast<std::int64_t>(chance.below(3) * chance.below(400));
  out.settle_short = chance.below(4) == 0;
  if (chance.below(100) < profile.impatient) out.most_steps = 6 + static_cast<int>(chance.below(6));
  out.desk_ms = 2'000 + static_cast<std::int64_t>(chance.below(30'000));
  if (chance.below(8) == 0) out.grace_s = 2 + static_cast<std::int64_t>(chance.below(20));
  out.has_sender = chance.below(10) == 0;
  sim::Chance clock(mixed(seed, 2));
  if (clock.below(4) == 0) out.drift_ppm = static_cast<std::int64_t>(clock.below(40'001)) - 20'000;
  out.endpoints = endpoints_of(seed);
  out.odds = profile.odds;
  if (cut.payments) out.payments = std::min(out.payments, *cut.payments);
  for (const sim::Mishap mishap : cut.mishaps) out.odds[static_cast<std::size_t>(mishap)] = 0;
  const bool is_first = cut.workload == 1;
  if (!is_first) {
    sim::Chance later(mixed(seed, 34));
    if (later.below(2) == 0) out.fee_ceiling = domain::Amount(12'000);
    out.repeats_steps = true;
  }
  for (std::size_t blow = 0; blow < (is_first ? first_blow_count : blow_count); ++blow) {
    add_strokes(out, static_cast<Blow>(blow), profile.hundredths[blow]);
  }
  std::sort(out.strokes.begin(), out.strokes.end(), [](const Stroke& a, const Stroke& b) {
    return std::tie(a.at_ms, a.blow, a.chance) < std::tie(b.at_ms, b.blow, b.chance);
  });
  out.places = out.strokes.size();
  std::vector<Stroke> left;
  for (std::size_t place = 0; place < out.strokes.size(); ++place) {
    // What a store that went back has sent by an outsider, nothing can tell: that is for people.
    const bool cannot = out.has_sender && out.strokes[place].blow == Blow::backup_restored;
    if (!cannot && !cut.strokes.contains(place)) left.push_back(out.strokes[place]);
  }
  out.strokes = std::move(left);
  return out;
}

}  // namespace holdfast::campaign
