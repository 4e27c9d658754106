#include "options.hpp"

#include <charconv>
#include <iostream>
#include <iterator>
#include <limits>
#include <utility>

#include <CLI/CLI.hpp>

#include <holdfast/domain/ids.hpp>

#include "teeth.hpp"

namespace holdfast::campaign {

namespace {

constexpr std::uint64_t last_seed = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> digits(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

/// Digits alone, and few enough: what the parser makes of others is another seed.
std::string no_count(const std::string& text) {
  return digits(text) ? "" : "'" + text + "' is no whole number from 0 to 2^64 - 1";
}

std::string not_even_one(const std::string& text) {
  return digits(text).value_or(0) > 0 ? "" : "'" + text + "' is no whole number from 1 up";
}

// What is no number is no range's business: it compares with nothing.
std::string no_hours(const std::string& text) {
  double hours = 0;
  const bool read = CLI::detail::lexical_cast(text, hours);
  return read && hours > 0 && hours <= 1'000 ? ""
                                             : "'" + text + "' is not more than 0 and at most 1000";
}

/// Two options that say different things, or that have no meaning together.
std::string contradiction(const CLI::App& app) {
  constexpr std::pair<const char*, const char*> pairs[] = {
      // NOLINT(*-avoid-c-arrays): a table
      {"--seed", "--seeds"},    {"--seed", "--from"},       {"--seed", "--hours"},
      {"--seed", "--teeth"},    {"--seed", "--jobs"},       {"--minimise", "--trace"},
      {"--minimise", "--json"}, {"--minimise", "--hashes"}, {"--minimise", "--teeth"},
      {"--teeth", "--profile"}, {"--teeth", "--hours"},     {"--teeth", "--hashes"},
      {"--teeth", "--deadline"}};
  for (const auto& [one, other] : pairs) {
    if (app.count(one) > 0 && app.count(other) > 0) {
      return std::string(one) + " and " + other + " do not go together.";
    }
  }
  if (app.count("--seed") > 0) {
    const bool runs_aside = app.count("--minimise") > 0;
    if (app.count("--deadline") > 0 && !runs_aside) {
      return "--deadline is for seeds that have a process of their own; --seed runs in this one.";
    }
    return {};
  }
  for (const char* const name : {"--trace", "--minimise"}) {
    if (app.count(name) > 0) return std::string(name) + " needs --seed.";
  }
  return {};
}

/// A blow that this seed has not, or of a seed that is not named.
std::string no_place(const Orders& orders) {
  if (orders.cut.strokes.empty()) return {};
  const std::size_t last = *orders.cut.strokes.rbegin();
  if (!orders.one) {
    return "--without " + std::to_string(last) +
           ": a blow's place needs --seed; other seeds have others there.";
  }
  Cut whole;
  whole.workload = orders.cut.workload;
  const std::size_t places = setting_of(orders.from, *orders.profile, whole).places;
  if (last < places) return {};
  return "--without " + std::to_string(last) + ": seed " + std::to_string(orders.from) + " of " +
         std::string(orders.profile->name) + " has " + std::to_string(places) +
         " blows, counted from 0.";
}

/// What the words of the options mean, and whether it can be done.
std::string wrong_with(const CLI::App& app, Command& command, const std::string& profile,
                       const std::vector<std::string>& without) {
  Orders& orders = command.orders;
  if (const std::string wrong = contradiction(app); !wrong.empty()) return wrong;
  orders.profile = find_profile(profile);
  if (orders.profile == nullptr) {
    return "there is no profile '" + profile + "'; there are " + profile_names() + ".";
  }
  if (const std::string wrong = take_away(orders.cut, without); !wrong.empty()) {
    return "--without '" + wrong + "' is neither a number nor a mishap.";
  }
  if (const std::string wrong = no_place(orders); !wrong.empty()) return wrong;
  if (orders.seeds - 1 > last_seed - orders.from) {
    return "--from " + std::to_string(orders.from) + " and " + std::to_string(orders.seeds) +
           " seeds: the last seed there is is 2^64 - 1.";
  }
  const bool names_tooth = app.count("--tooth") > 0;
  if (names_tooth && orders.tooth.empty()) return "--tooth needs the name of one.";
  if (names_tooth || command.all_teeth) {
    if (const std::string wrong = no_tooth(orders.tooth); !wrong.empty()) return wrong;
  }
  const bool is_known = orders.tell == "all" || domain::intent_id_from(orders.tell) ||
                        (orders.tell.starts_with("0x") && domain::TxHash::from_text(orders.tell));
  if (app.count("--trace") > 0 && !is_known) {
    return "--trace is all, a payment's id (\"pi_\" and 32 hex digits) or one of its hashes.";
  }
  return {};
}

}  // namespace

std::string take_away(Cut& cut, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (const auto place = digits(word)) {
      cut.strokes.insert(*place);
      continue;
    }
    bool known = false;
    for (std::size_t at = 0; at < sim::mishap_count; ++at) {
      const auto mishap = static_cast<sim::Mishap>(at);
      if (sim::to_text(mishap) != word) continue;
      cut.mishaps.insert(mishap);
      known = true;
    }
    if (!known) return word.empty() ? " " : word;
  }
  return {};
}

std::optional<Command> read_command(int argc, char** argv, int& exit_code) {
  Command out;
  Orders& orders = out.orders;
  CLI::App app{"Runs the engine through simulated trouble, seed by seed, and checks every commit."};
  app.name("holdfast-sim");
  app.set_help_flag("-h,--help", "this text");
  std::string profile = "rough";
  std::vector<std::string> without;
  std::optional<std::uint64_t> one;
  app.add_option("--seeds", orders.seeds, "how many seeds (100)")
      ->check(CLI::Range(1U, 100'000'000U));
  app.add_option("--from", orders.from, "the first of them (1)")->check(no_count);
  app.add_option("--hours", orders.hours, "end after so many hours, whatever is left")
      ->check(no_hours);
  app.add_option("--profile", profile, profile_names() + " (rough)");
  app.add_option("--jobs", orders.jobs, "processes at once (1)")->check(CLI::Range(1U, 256U));
  app.add_option("--deadline", orders.deadline_s, "seconds a seed may take before it failed (120)")
      ->check(CLI::Range(1U, 86'400U));
  app.add_option("--seed", one, "this seed only; in 0, what waits runs first in, first out")
      ->check(no_count);
  app.add_option("--trace", orders.tell,
                 "with --seed: the life of this payment (pi_… or a hash of it), or all");
  app.add_option("--payments", orders.cut.payments, "at most so many a seed")->check(not_even_one);
  app.add_option("--without", without,
                 "with --seed: a blow of it by its place; or a mishap by its name");
  app.add_option("--workload", orders.cut.workload, "as people and blows were in this one (newest)")
      ->check(CLI::Range(1U, newest_workload));
  app.add_flag("--minimise", orders.minimises, "with --seed: find the least that still fails");
  app.add_flag("--hashes", orders.hashes, "print each seed's trace hash");
  app.add_option("--tooth", orders.tooth,
                 "in a build with teeth: with this fault planted, or of all");
  app.add_flag("--teeth", out.all_teeth,
               "in a build with teeth: how many seeds each takes to be seen");
  app.add_flag("--json", orders.json, "one object on standard output; a trace goes to the other");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = 2;
    if (error.get_exit_code() == 0) {
      exit_code = app.exit(error);
    } else {
      std::cerr << "holdfast-sim: " << error.what() << " (see --help)\n";
    }
    return std::nullopt;
  }
  if (one) {
    orders.one = true;
    orders.from = *one;
    orders.seeds = 1;
  }
  if (const std::string wrong = wrong_with(app, out, profile, without); !wrong.empty()) {
    std::cerr << "holdfast-sim: " << wrong << '\n';
    exit_code = 2;
    return std::nullopt;
  }
  return out;
}

}  // namespace holdfast::campaign
