// holdfast-soak: the real binary on a real node behind a proxy that fails, for minutes; see
// tools/soak. Not a test of CTest's.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include <boost/json/serialize.hpp>

#include "cases/rig.hpp"
#include "faults.hpp"
#include "plan.hpp"
#include "support/real_time.hpp"
#include "traffic.hpp"
#include "verdict.hpp"
#include "weather.hpp"

namespace holdfast::soak {
namespace {

namespace json = boost::json;

/// After the faults have ended: until every request is answered; until every payment has ended,
/// which is the longest validity of an authorization and time to see it final; until every number
/// is used up.
constexpr std::int64_t answers_ms = 60'000;
constexpr std::int64_t endings_ms = 240'000;
constexpr std::int64_t numbers_ms = 60'000;
constexpr std::int64_t progress_every_ms = 5'000;

// Without its payer's signature a payment has nothing to end, and may stay as it is.
const std::string open_payments =
    "SELECT count(*) FROM intents WHERE state = 'authorized' OR state = 'settling' OR"
    " state = 'confirming'";
const std::string open_numbers =
    "SELECT count(*) FROM slots s LEFT JOIN intents i ON i.row = s.item"
    " WHERE s.standing = 'open' AND coalesce(i.state, '') <> 'needs_review'";
const std::string settled_payments = "SELECT count(*) FROM intents WHERE state = 'settled'";

struct Wanted {
  Settings settings;
  bool as_json = false;
  bool plan_only = false;
  std::string log_level = "info";
};

constexpr const char* usage =
    "usage: holdfast-soak [--minutes N] [--seed S] [--payments-per-second R]\n"
    "                     [--send-faults PERCENT] [--read-faults PERCENT]\n"
    "                     [--log-level debug|info|warn] [--json] [--plan]\n";

template <class Number>
bool read(const std::string& text, Number low, Number high, Number& into) {
  const char* const end = text.data() + text.size();
  Number value{};
  const auto got = std::from_chars(text.data(), end, value);
  if (got.ec != std::errc() || got.ptr != end || value < low || value > high) return false;
  into = value;
  return true;
}

std::optional<Wanted> options_from(const std::vector<std::string>& words) {
  Wanted out;
  out.settings.seed = static_cast<std::uint64_t>(test::wall_ms()) % 1'000'000;
  Settings& settings = out.settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    if (name == "--json") {
      out.as_json = true;
      continue;
    }
    if (name == "--plan") {
      out.plan_only = true;
      continue;
    }
    const std::string value = i + 1 < words.size() ? words[++i] : "";
    bool good = false;
    if (name == "--minutes") good = read<std::int64_t>(value, 1, 1'440, settings.minutes);
    if (name == "--seed") good = read<std::uint64_t>(value, 0, ~0ULL, settings.seed);
    if (name == "--payments-per-second") {
      good = read<double>(value, 0.1, 100, settings.payments_per_second);
    }
    if (name == "--send-faults") good = read<unsigned>(value, 0, 90, settings.send_fault_percent);
    if (name == "--read-faults") good = read<unsigned>(value, 0, 90, settings.read_fault_percent);
    if (name == "--log-level") {
      good = value == "debug" || value == "info" || value == "warn";
      out.log_level = value;
    }
    if (!good) {
      std::cerr << "holdfast-soak: " << name << " '" << value << "' is no option, or out of range\n"
                << usage;
      return std::nullopt;
    }
  }
  return out;
}

class Soak {
 public:
  explicit Soak(const Wanted& wanted)
      : wanted_(wanted),
        out_(wanted.as_json ? std::cerr : std::cout),
        rig_(options_of(wanted)),
        faults_(wanted.settings, rig_),
        traffic_(wanted.settings, rig_),
        weather_(wanted.settings, rig_, faults_) {}

  /// The exit code.
  int run();

 private:
  static cases::Options options_of(const Wanted& wanted);

  void bad_times();
  void heal();
  bool wait_for(const std::string& name, std::int64_t ms, const std::function<bool()>& is_so);
  void show_progress(bool at_once = false);
  std::int64_t count(const std::string& sql) const;
  void tell();
  void keep();

  const Wanted& wanted_;
  std::ostream& out_;
  cases::Rig rig_;
  Faults faults_;
  Traffic traffic_;
  Weather weather_;
  Verdict verdict_;
  std::string kept_;
  std::int64_t began_ms_ = test::mono_ms();
  std::int64_t shown_ms_ = 0;
};

cases::Options Soak::options_of(const Wanted& wanted) {
  cases::Options out;
  out.blocks = cases::Blocks::every_second;
  out.relayers = 3;
  // Often killed: with the usual 10 s hardly a lost transaction would be missed between two kills.
  out.stuck_after_ms = 4'000;
  // Half of the seeds put many calls into one exchange, where one call's fault is that call's.
  out.rpc_batch = wanted.settings.seed % 2 == 0 ? 1 : 100;
  out.log_level = wanted.log_level;
  out.more_engine = "gap_after_ms = 15000\n";
  return out;
}

int Soak::run() {
  rig_.start();
  // What is asked later must be a question that the store understands.
  for (const std::string& sql : {open_payments, open_numbers}) rig_.store().number(sql);
  began_ms_ = test::mono_ms();
  bad_times();
  heal();
  traffic_.stop();
  judge_payments(rig_, traffic_.asked(), verdict_);
  judge_store(rig_, traffic_.asked(), verdict_);
  std::string wrong;
  for (const std::string& one : weather_.complaints()) wrong += one + "\n";
  verdict_.checks.push_back({"the engine ended only when it was made to", wrong.empty(), wrong});
  if (verdict_.failed() > 0) keep();
  tell();
  return verdict_.failed() == 0 ? 0 : 1;
}

void Soak::bad_times() {
  traffic_.start();
  weather_.start();
  const std::int64_t until_ms = test::mono_ms() + wanted_.settings.minutes * 60'000;
  while (test::mono_ms() < until_ms) {
    test::pause_ms(200);
    show_progress();
  }
}

void Soak::heal() {
  weather_.stop();
  faults_.heal();
  show_progress(true);
  out_ << "healed; waiting for every payment to end\n";
  wait_for("every request was answered", answers_ms, [&] { return traffic_.done(); });
  wait_for("every payment ended in time", endings_ms, [&] { return count(open_payments) == 0; });
  wait_for("every number was used up in time", numbers_ms,
           [&] { return count(open_numbers) == 0; });
  show_progress(true);
}

bool Soak::wait_for(const std::string& name, std::int64_t ms, const std::function<bool()>& is_so) {
  const std::int64_t from_ms = test::mono_ms();
  const bool good = test::within_ms(
      ms,
      [&] {
        show_progress();
        return is_so();
      },
      200);
  const std::string seconds = std::to_string((test::mono_ms() - from_ms) / 1'000);
  verdict_.checks.push_back({name, good, (good ? "" : "not ") + ("after " + seconds) + " s"});
  return good;
}

/// −1 when the store cannot be read just now: it is being recovered after a kill.
std::int64_t Soak::count(const std::string& sql) const {
  try {
    return rig_.store().number(sql);
  } catch (const std::exception&) {
    return -1;
  }
}

void Soak::show_progress(bool at_once) {
  const std::int64_t now_ms = test::mono_ms();
  if (!at_once && now_ms - shown_ms_ < progress_every_ms) return;
  shown_ms_ = now_ms;
  const std::int64_t settled = count(settled_payments);
  const std::int64_t in_flight = count(open_payments);
  std::ostringstream line;
  line << (now_ms - began_ms_) / 1'000 << " s  created " << traffic_.created() << "  settled "
       << settled << "  in flight " << in_flight << "  kills "
       << weather_.count(Blow::kill) + 2 * weather_.count(Blow::kill_again) << "  drains "
       << weather_.count(Blow::drain) << "  reorgs "
       << weather_.count(Blow::reorg) + weather_.count(Blow::reorg_kept) << "  drops "
       << weather_.count(Blow::empty_pool) + weather_.count(Blow::drop_one) << "  faults "
       << faults_.count_all();
  for (std::size_t i = 1; i < ill_count; ++i) {
    const Ill ill = static_cast<Ill>(i);
    if (faults_.count(ill) > 0) line << " " << to_text(ill) << ":" << faults_.count(ill);
  }
  out_ << line.str() << std::endl;
}

void Soak::keep() {
  const std::filesystem::path folder = std::filesystem::path(HOLDFAST_SOURCE_DIR) / "build" /
                                       ("soak-" + std::to_string(wanted_.settings.seed));
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  std::filesystem::create_directories(folder);
  rig_.keep(folder.string());
  std::ofstream blows(folder / "blows");
  for (const BlowAt& one : blows_of(wanted_.settings)) {
    blows << one.at_ms << " " << to_text(one.blow) << " " << one.ms << "\n";
  }
  kept_ = folder.string();
}

void Soak::tell() {
  if (wanted_.as_json) {
    json::object all = verdict_.as_json();
    all["seed"] = wanted_.settings.seed;
    all["minutes"] = wanted_.settings.minutes;
    all["schedule"] = fingerprint(wanted_.settings);
    all["seconds"] = (test::mono_ms() - began_ms_) / 1'000;
    all["requests"] = traffic_.requests();
    all["unanswered"] = traffic_.unanswered();
    all["faults"] = faults_.as_json();
    all["blows"] = weather_.as_json();
    all["folder"] = kept_.empty() ? json::value(nullptr) : json::value(kept_);
    std::cout << json::serialize(all) << "\n";
  }
  out_ << "payments " << verdict_.payments << ", transfers on chain " << verdict_.transfers << "\n";
  for (const auto& [state, count] : verdict_.states) out_ << "  " << state << " " << count << "\n";
  for (const auto& [reason, count] : verdict_.reasons) {
    out_ << "    " << reason << " " << count << "\n";
  }
  for (const auto& [id, what] : verdict_.wrong) out_ << "WRONG " << id << ": " << what << "\n";
  for (const Check& one : verdict_.checks) {
    out_ << (one.good ? "  good  " : "  WRONG ") << one.name
         << (one.detail.empty() ? "" : ": " + one.detail) << "\n";
  }
  if (!kept_.empty()) out_ << "store, log and posted transactions are in " << kept_ << "\n";
  out_ << verdict_.passed() << " passed, " << verdict_.failed() << " failed" << std::endl;
}

int main_with(const std::vector<std::string>& words) {
  const auto wanted = options_from(words);
  if (!wanted) return 2;
  const Settings& settings = wanted->settings;
  std::ostream& out = wanted->as_json ? std::cerr : std::cout;
  out << "seed " << settings.seed << ", schedule " << fingerprint(settings) << ": "
      << plans_of(settings).size() << " payments and " << blows_of(settings).size() << " blows in "
      << settings.minutes << " minutes; " << settings.send_fault_percent << " % of sends and "
      << settings.read_fault_percent << " % of other calls go wrong" << std::endl;
  if (wanted->plan_only) {
    for (const BlowAt& one : blows_of(settings)) {
      out << one.at_ms << " ms  " << to_text(one.blow) << " " << one.ms << "\n";
    }
    return 0;
  }
  listen_to_asserts();
  Soak soak(*wanted);
  return soak.run();
}

}  // namespace
}  // namespace holdfast::soak

int main(int argc, char** argv) {
  try {
    return holdfast::soak::main_with({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "holdfast-soak: " << error.what() << "\n";
  } catch (...) {
    std::cerr << "holdfast-soak: could not go on\n";
  }
  for (const std::string& one : holdfast::soak::failed_asserts()) std::cerr << one << "\n";
  return 3;
}
