// holdfast-load: payments through the real engine, as fast as it goes, and what became of them.
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>

#include <holdfast/base/log.hpp>
#include <holdfast/sqlite/sqlite.hpp>

#include "drive.hpp"
#include "figures.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "rig.hpp"
#include "support/folder.hpp"

namespace {

using namespace holdfast;  // NOLINT(google-build-using-namespace): a program, not a header

constexpr int exit_wrong = 1;  // money was lost or doubled, or the run could not go on
constexpr int exit_usage = 2;
constexpr std::int64_t drain_ms = 30'000;

boost::asio::awaitable<void> run_all(load::Rig& rig, load::Drive& drive, load::Used& used) {
  co_await rig.engine().start();
  const store::StoreStats store_before = rig.store().stats();
  const std::uint64_t rows_before = co_await rig.row_writes();
  const std::uint64_t calls_before = rig.chain().calls();
  used.before = tools::process_use();
  co_await drive.run();
  used.after = tools::process_use();
  const store::StoreStats store_after = rig.store().stats();
  used.commits = store_after.commits - store_before.commits;
  used.steps = store_after.steps - store_before.steps;
  used.row_writes = co_await rig.row_writes() - rows_before;
  used.chain_calls = rig.chain().calls() - calls_before;
  used.faults = rig.chain().faults();
  co_await rig.engine().drain(drain_ms);
}

// Shows a line that is written over by the next, to a person only.
class Line {
 public:
  Line() : shown_(::isatty(STDERR_FILENO) == 1) {}
  void show(const load::Moment& now, const load::Driven& driven) {
    if (shown_) std::cerr << '\r' << load::progress_line(now, before_, driven) << "\x1b[K";
    before_ = now;
  }
  void end() const {
    if (shown_) std::cerr << "\r\x1b[K";
  }

 private:
  bool shown_;
  load::Moment before_;
};

int run(const load::Options& options) {
  std::optional<tools::Folder> folder;
  std::string file = options.store;
  if (file.empty()) {
    folder.emplace(std::filesystem::temp_directory_path(), "holdfast-load");
    file = *folder / "load.db";
  }
  load::Rig rig(options, file);
  Line line;
  load::Drive drive(rig, options,
                    [&line](const auto& now, const auto& driven) { line.show(now, driven); });
  load::Used used;
  std::exception_ptr failed;
  co_spawn(rig.context(), run_all(rig, drive, used), [&](const std::exception_ptr& error) {
    failed = error;
    rig.context().stop();
  });
  rig.context().run();
  line.end();
  if (failed) std::rethrow_exception(failed);

  load::Driven& driven = drive.result();
  auto records = rig.records();
  rig.store().close();
  used.db_bytes = std::filesystem::file_size(file);
  auto& moved = rig.chain().books();
  const load::Audit audit = load::audit(driven.owed, moved, records);
  load::figures(driven, moved, audit, used).print(options.json);
  if (driven.stalled)
    std::cerr << "holdfast-load: payments stopped moving, the run was cut short\n";
  if (driven.refused > 0) {
    std::cerr << "holdfast-load: " << driven.refused << " payments were not accepted\n";
  }
  const bool good = audit.lost == 0 && audit.doubled == 0 && driven.refused == 0;
  return good && !driven.stalled ? 0 : exit_wrong;
}

}  // namespace

int main(int argc, char** argv) {
  sqlite::stop_counting_memory();
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  if (words.size() > 1 &&
      (std::string_view(words[1]) == "--help" || words[1] == std::string_view("-h"))) {
    std::cout << load::help();
    return 0;
  }
  try {
    const load::Options options = load::read_options(tools::Arguments(words.subspan(1)));
    log::set_level(log::Level::alarm);
    return run(options);
  } catch (const tools::UsageError& error) {
    std::cerr << "holdfast-load: " << error.what() << '\n';
    return exit_usage;
  } catch (const std::exception& error) {
    std::cerr << "holdfast-load: " << error.what() << '\n';
    return exit_wrong;
  }
}
