// holdfast-load: payments through the real engine, as fast as it goes, and what became of them.
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

#include <holdfast/base/log.hpp>
#include <holdfast/sqlite/sqlite.hpp>

#include "fake_node.hpp"
#include "local_run.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "target.hpp"

namespace {

using namespace holdfast;  // NOLINT(google-build-using-namespace): a program, not a header

constexpr int exit_wrong = 1;  // money was lost or doubled, or the run could not go on
constexpr int exit_usage = 2;

// Until a signal ends the process: nothing of it is worth keeping.
int run_node(tools::Arguments arguments) {
  const auto port = static_cast<std::uint16_t>(arguments.number("--port", 0, 0, 65'535));
  load::NodeRules rules;
  rules.block_ms = static_cast<std::int64_t>(arguments.number("--block-ms", 0, 0, 60'000));
  rules.fault_rate = arguments.decimal("--fault-rate", 0, 0, 0.9);
  arguments.finish();
  const load::FakeNode node(rules, 1, port);
  std::cout << node.url() << std::endl;  // whoever reads it waits for it
  for (;;) ::pause();
}

int run_load(std::span<const char* const> words) {
  const load::Options options = load::read_options(tools::Arguments(words));
  log::set_level(log::Level::alarm);
  std::string command = "holdfast-load";
  for (const char* const word : words) command += std::string(" ") + word;
  load::Line line;
  const auto show = [&line](const load::Moment& now, const load::Driven& driven) {
    line.show(now, driven);
  };
  if (!options.target.empty()) return load::run_target(options, command, show);
  return load::run_local(options, command, show);
}

}  // namespace

int main(int argc, char** argv) {
  sqlite::stop_counting_memory();
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const std::string_view first = words.size() > 1 ? words[1] : "";
  if (tools::asks_for_help(words)) {
    std::cout << load::help();
    return 0;
  }
  try {
    return first == "node" ? run_node(tools::Arguments(words.subspan(2)))
                           : run_load(words.subspan(1));
  } catch (const tools::UsageError& error) {
    std::cerr << "holdfast-load: " << error.what() << '\n';
    return exit_usage;
  } catch (const std::exception& error) {
    std::cerr << "holdfast-load: " << error.what() << '\n';
    return exit_wrong;
  }
}
