// holdfast-bench: benchmarks of the real parts, each a verb of its own.
//
//   holdfast-bench <verb> [options]        --json prints one JSON object
#include <exception>
#include <iostream>
#include <span>
#include <string_view>

#include <holdfast/sqlite/sqlite.hpp>

#include "benchmarks.hpp"
#include "support/arguments.hpp"

namespace {

using holdfast::tools::Arguments;
using holdfast::tools::asks_for_help;

struct Verb {
  std::string_view name;
  std::string_view help;
  int (*run)(Arguments arguments);
};

constexpr Verb verbs[] = {
    {"store", holdfast::bench::store_help, holdfast::bench::run_store},
    {"floor", holdfast::bench::floor_help, holdfast::bench::run_floor},
    {"fill", holdfast::bench::fill_help, holdfast::bench::run_fill},
    {"queue", holdfast::bench::queue_help, holdfast::bench::run_queue},
    {"micro", holdfast::bench::micro_help, holdfast::bench::run_micro},
};

void print_help(std::ostream& out) {
  out << "usage: holdfast-bench <verb> [options]\n\n";
  for (const Verb& verb : verbs) out << verb.name << '\n' << verb.help << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  holdfast::sqlite::stop_counting_memory();
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const std::string_view wanted = words.size() > 1 ? words[1] : "";
  if (wanted == "--help" || wanted == "-h") {
    print_help(std::cout);
    return 0;
  }
  try {
    for (const Verb& verb : verbs) {
      if (verb.name != wanted) continue;
      if (!asks_for_help(words)) return verb.run(Arguments(words.subspan(2)));
      std::cout << "usage: holdfast-bench " << verb.name << " [options]\n\n" << verb.help;
      return 0;
    }
    print_help(std::cerr);
    return 2;
  } catch (const holdfast::tools::UsageError& error) {
    std::cerr << "holdfast-bench " << wanted << ": " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "holdfast-bench " << wanted << ": " << error.what() << '\n';
    return 1;
  }
}
