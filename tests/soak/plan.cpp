#include "plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/sha256.hpp>

namespace holdfast::soak {
namespace {

/// SplitMix64: a good number from any number, so that the n-th of anything needs none before it.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111eb;
  return x ^ (x >> 31U);
}

std::uint64_t mix(std::uint64_t seed, std::string_view text) {
  std::uint64_t out = mix(seed);
  for (const char c : text) out = mix(out ^ static_cast<unsigned char>(c));
  return out;
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  /// 0 … bound − 1.
  std::int64_t below(std::int64_t bound) {
    state_ = mix(state_);
    return static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(bound));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low); }
  bool percent(std::int64_t chance) { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

constexpr std::string_view send = "eth_sendRawTransaction";

/// Which methods an ill is for.
enum class For { any, sends, records, moments };

struct Row {
  Ill ill;
  For methods;
  unsigned weight;
};
constexpr std::array<Row, ill_count - 1> ills{{
    {Ill::delay, For::any, 4},
    {Ill::hold, For::any, 4},
    {Ill::drop_reply, For::any, 5},
    {Ill::swallow, For::any, 2},
    {Ill::cut, For::any, 5},
    {Ill::duplicate, For::any, 3},
    {Ill::drip, For::any, 2},
    {Ill::rate_limit, For::any, 1},
    {Ill::unavailable, For::any, 3},
    {Ill::web_page, For::any, 2},
    {Ill::limit_error, For::any, 1},
    {Ill::node_error, For::any, 3},
    {Ill::false_error, For::sends, 6},
    {Ill::early_error, For::sends, 3},
    {Ill::garbage, For::any, 2},
    {Ill::no_result, For::records, 6},
    {Ill::lagging, For::moments, 8},
}};

bool is_for(For methods, std::string_view method) {
  switch (methods) {
    case For::any: return true;
    case For::sends: return method == send;
    case For::records:
      return method == "eth_getTransactionReceipt" || method == "eth_getTransactionByHash" ||
             method == "eth_getBlockReceipts" || method == "eth_getBlockByNumber";
    case For::moments:
      return method == "eth_getTransactionCount" || method == "eth_getBlockByNumber";
  }
  return false;
}

struct Rhythm {
  Blow blow;
  std::int64_t every_ms;
  std::int64_t low_ms;
  std::int64_t high_ms;
};
constexpr std::array<Rhythm, blow_count> rhythms{{
    {Blow::kill, 25'000, 0, 3'000},
    {Blow::kill_again, 40'000, 0, 400},
    {Blow::drain, 55'000, 0, 2'000},
    {Blow::sleep, 50'000, 500, 7'000},
    {Blow::outage, 30'000, 500, 6'000},
    {Blow::empty_pool, 15'000, 0, 1},
    {Blow::drop_one, 7'000, 0, 1},
    {Blow::reorg, 12'000, 0, 1},
    {Blow::reorg_kept, 17'000, 0, 1},
}};

constexpr std::int64_t ms_of(std::int64_t minutes) { return minutes * 60'000; }

}  // namespace

std::string_view to_text(Ill ill) {
  static constexpr std::array<std::string_view, ill_count> names{
      "none",       "delay",       "hold",        "drop_reply", "swallow",   "cut",
      "duplicate",  "drip",        "429",         "503",        "web_page",  "limit_error",
      "node_error", "false_error", "early_error", "garbage",    "no_result", "lagging"};
  return names.at(static_cast<std::size_t>(ill));
}

std::string_view to_text(Blow blow) {
  static constexpr std::array<std::string_view, blow_count> names{
      "kill",       "kill_again", "drain", "sleep",     "outage",
      "empty_pool", "drop_one",   "reorg", "reorg_kept"};
  return names.at(static_cast<std::size_t>(blow));
}

PickedIll ill_of(const Settings& settings, std::string_view method, std::uint64_t call) {
  Draws draws(mix(settings.seed, method) ^ mix(call));
  const auto chance = method == send ? settings.send_fault_percent : settings.read_fault_percent;
  if (!draws.percent(chance)) return {};
  unsigned all = 0;
  for (const Row& row : ills) all += is_for(row.methods, method) ? row.weight : 0;
  auto at = draws.below(all);
  for (const Row& row : ills) {
    if (!is_for(row.methods, method)) continue;
    if (at < row.weight) return {row.ill, mix(mix(call) ^ mix(settings.seed))};
    at -= row.weight;
  }
  return {};
}

// One of each kind in each of its periods, somewhere in it: none is left out of a short run.
std::vector<BlowAt> blows_of(const Settings& settings) {
  std::vector<BlowAt> out;
  for (const Rhythm& one : rhythms) {
    Draws draws(mix(settings.seed, to_text(one.blow)));
    for (std::int64_t begin = 0; begin < ms_of(settings.minutes); begin += one.every_ms) {
      const std::int64_t at = begin + draws.below(one.every_ms);
      const std::int64_t ms = draws.between(one.low_ms, one.high_ms);
      if (at < ms_of(settings.minutes)) out.push_back({at, one.blow, ms});
    }
  }
  std::ranges::sort(out, [](const BlowAt& a, const BlowAt& b) {
    return a.at_ms != b.at_ms ? a.at_ms < b.at_ms : a.blow < b.blow;
  });
  return out;
}

std::vector<Plan> plans_of(const Settings& settings) {
  const auto count = static_cast<std::int64_t>(
      std::ceil(settings.payments_per_second * static_cast<double>(settings.minutes) * 60.0));
  std::vector<Plan> out;
  Draws draws(mix(settings.seed, "payments"));
  for (std::int64_t i = 0; i < count; ++i) {
    Plan plan;
    plan.at_ms = draws.below(ms_of(settings.minutes));
    plan.payout = draws.percent(50);
    plan.amount = static_cast<std::uint64_t>(1'000'000 + i);
    if (!plan.payout) {
      const bool soon = draws.percent(15);
      plan.validity_s = soon ? 60 : draws.between(75, 120);
      // Nothing is posted for the first time in the last half minute.
      if (!draws.percent(4)) {
        plan.sign_ms = soon ? draws.between(5'000, 31'000) : draws.between(0, 4'000);
      }
    }
    if (draws.percent(25)) plan.again_ms = draws.percent(40) ? 0 : draws.between(100, 20'000);
    if (draws.percent(5)) plan.cancel_ms = draws.between(0, 5'000);
    if (draws.percent(10)) plan.abandon_ms = draws.between(0, 15'000);
    out.push_back(plan);
  }
  std::ranges::sort(out, [](const Plan& a, const Plan& b) {
    return a.at_ms != b.at_ms ? a.at_ms < b.at_ms : a.amount < b.amount;
  });
  return out;
}

std::string fingerprint(const Settings& settings) {
  std::string text;
  const auto add = [&](std::int64_t number) { text += std::to_string(number) + " "; };
  for (const BlowAt& one : blows_of(settings)) {
    add(one.at_ms);
    add(static_cast<std::int64_t>(one.blow));
    add(one.ms);
  }
  for (const Plan& one : plans_of(settings)) {
    for (const std::int64_t number :
         {one.at_ms, std::int64_t{one.payout}, static_cast<std::int64_t>(one.amount),
          one.validity_s, one.sign_ms, one.again_ms, one.cancel_ms, one.abandon_ms}) {
      add(number);
    }
  }
  for (const std::string_view method : {send, std::string_view("eth_getTransactionReceipt")}) {
    for (std::uint64_t call = 1; call <= 1'000; ++call) {
      const PickedIll picked = ill_of(settings, method, call);
      add(static_cast<std::int64_t>(picked.ill));
      add(static_cast<std::int64_t>(picked.draw >> 1U));
    }
  }
  return to_hex(sha256(as_bytes(text))).substr(0, 16);
}

}  // namespace holdfast::soak
