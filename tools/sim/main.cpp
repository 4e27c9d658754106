// holdfast-sim: years of crashes before breakfast. Each seed is a life of some thirty payments,
// with everything that can go wrong; the same seed is the same life.
#include <charconv>
#include <iostream>

#include <CLI/CLI.hpp>

#include <holdfast/domain/ids.hpp>
#include <holdfast/sqlite/sqlite.hpp>

#include "campaign.hpp"
#include "teeth.hpp"

namespace {

/// Digits alone, and few enough: what the parser makes of others is another seed.
std::string no_count(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return {};
  return "'" + text + "' is no whole number from 0 to 2^64 - 1";
}

// That is no range's business: it compares with nothing.
std::string no_number(const std::string& text) {
  return text.find_first_of("nN") == std::string::npos ? "" : "'" + text + "' is no number";
}

/// Two options that say different things, or that have no meaning together.
std::string contradiction(const CLI::App& app) {
  constexpr std::pair<const char*, const char*> pairs[] = {
      // NOLINT(*-avoid-c-arrays): a table
      {"--seed", "--seeds"},      {"--seed", "--from"},      {"--seed", "--hours"},
      {"--seed", "--teeth"},      {"--minimise", "--trace"}, {"--minimise", "--json"},
      {"--minimise", "--hashes"}, {"--minimise", "--teeth"}};
  for (const auto& [one, other] : pairs) {
    if (app.count(one) > 0 && app.count(other) > 0) {
      return std::string(one) + " and " + other + " do not go together";
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace holdfast::campaign;
  Orders orders;
  CLI::App app{"Runs the engine through simulated trouble, seed by seed, and checks every commit."};
  app.name("holdfast-sim");
  app.set_help_flag("-h,--help", "this text");
  std::string profile = "rough";
  std::vector<std::string> without;
  std::optional<std::uint64_t> one;
  std::string tooth;
  bool all_teeth = false;
  app.add_option("--seeds", orders.seeds, "how many seeds (100)")
      ->check(CLI::Range(1U, 100'000'000U));
  app.add_option("--from", orders.from, "the first of them (1)")->check(no_count);
  app.add_option("--hours", orders.hours, "end after so many hours, whatever is left")
      ->check(no_number)
      ->check(CLI::Range(0.0, 1'000.0));
  app.add_option("--profile", profile, profile_names() + " (rough)");
  app.add_option("--jobs", orders.jobs, "processes at once (1)")->check(CLI::Range(1U, 256U));
  app.add_option("--seed", one, "this seed only")->check(no_count);
  app.add_option("--trace", orders.tell, "with --seed: the life of this payment (pi_…), or all");
  app.add_option("--payments", orders.cut.payments, "at most so many a seed")->check(no_count);
  app.add_option("--without", without, "a blow of the seed by its place, or a mishap by its name");
  app.add_flag("--minimise", orders.minimises, "with --seed: find the least that still fails");
  app.add_flag("--hashes", orders.hashes, "print each seed's trace hash");
  app.add_option("--tooth", tooth, "in a build with teeth: with this fault planted, or of all");
  app.add_flag("--teeth", all_teeth, "in a build with teeth: how many seeds each takes to be seen");
  app.add_flag("--json", orders.json, "one object on standard output; a trace goes to the other");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "holdfast-sim: " << error.what() << " (see --help)\n";
    return 2;
  }
  if (const std::string wrong = contradiction(app); !wrong.empty()) {
    std::cerr << "holdfast-sim: " << wrong << ".\n";
    return 2;
  }
  holdfast::sqlite::expect_one_thread();
  orders.profile = find_profile(profile);
  if (orders.profile == nullptr) {
    std::cerr << "holdfast-sim: there is no profile '" << profile << "'; there are "
              << profile_names() << ".\n";
    return 2;
  }
  if (const std::string wrong = take_away(orders.cut, without); !wrong.empty()) {
    std::cerr << "holdfast-sim: --without " << wrong << " is neither a number nor a mishap.\n";
    return 2;
  }
  if (!tooth.empty() || all_teeth) {
    if (const std::string wrong = no_tooth(tooth); !wrong.empty()) {
      std::cerr << "holdfast-sim: " << wrong << '\n';
      return 2;
    }
    if (!all_teeth) plant(tooth);
  }
  if (one) {
    orders.from = *one;
    orders.seeds = 1;
    orders.jobs = 1;
  } else if (!orders.tell.empty() || orders.minimises) {
    std::cerr << "holdfast-sim: --trace and --minimise need --seed.\n";
    return 2;
  }
  if (!orders.tell.empty() && orders.tell != "all" &&
      !holdfast::domain::intent_id_from(orders.tell)) {
    std::cerr << "holdfast-sim: --trace is all, or a payment's id: \"pi_\" and 32 hex digits.\n";
    return 2;
  }
  try {
    if (all_teeth) return try_teeth(orders, tooth);
    return orders.minimises ? minimise(orders) : run_campaign(orders);
  } catch (const std::exception& error) {
    std::cerr << "holdfast-sim: " << error.what() << '\n';
    return 1;
  }
}
