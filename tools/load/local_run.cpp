#include "local_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "figures.hpp"
#include "page.hpp"
#include "restart.hpp"
#include "rig.hpp"
#include "support/folder.hpp"

namespace holdfast::load {

namespace {

constexpr std::int64_t drain_ms = 30'000;

/// What a run leaves behind.
struct Ran {
  Used used;
  std::vector<Moved> moved;
  std::vector<Owed> restarted;  ///< those that were open in a crash
};

boost::asio::awaitable<void> measure(Rig& rig, Drive& drive, Used& used) {
  World& world = rig.world();
  co_await world.prepare(rig.accounts());
  co_await rig.engine().start();
  const store::StoreStats store_before = rig.store().stats();
  const std::uint64_t rows_before = co_await rig.row_writes();
  const std::uint64_t calls_before = world.calls();
  const std::uint64_t requests_before = world.requests();
  used.before = tools::process_use();
  co_await drive.run();
  used.after = tools::process_use();
  const store::StoreStats store_after = rig.store().stats();
  used.commits = store_after.commits - store_before.commits;
  used.steps = store_after.steps - store_before.steps;
  used.row_writes = co_await rig.row_writes() - rows_before;
  used.chain_calls = world.calls() - calls_before;
  used.http_requests = world.requests() - requests_before;
}

boost::asio::awaitable<void> finish(Rig& rig, Ran& out) {
  co_await rig.engine().drain(drain_ms);
  out.moved = co_await rig.world().close();
  out.used.faults = rig.world().faults();
}

// The payments of a restart are held to the same books, and not counted among the measured ones.
Audit audit_of(const Driven& driven, Ran& ran, std::vector<Recorded>& records) {
  std::vector<Owed> owed = driven.owed;
  owed.insert(owed.end(), ran.restarted.begin(), ran.restarted.end());
  Audit out = audit(owed, ran.moved, records);
  out.settled -= std::min<std::uint64_t>(out.settled, ran.restarted.size());
  return out;
}

// The file is the newest of what `--store` names, or one in a folder of its own.
Ran run_on_file(const Options& options, const std::string& file, Rig& rig, Drive& drive,
                std::vector<Recorded>& records) {
  Ran out;
  const std::uint64_t bytes_before = options.on_top ? std::filesystem::file_size(file) : 0;
  rig.run(measure(rig, drive, out.used));
  const Driven& driven = drive.result();
  if (options.restart && !driven.stalled) {
    Restarted again = restart(rig, options, driven.owed.size() + driven.refused);
    out.used.restart_ms = again.restart_ms;
    out.restarted = std::move(again.owed);
  }
  rig.run(finish(rig, out));
  records = rig.records();
  rig.store().close();
  const std::uint64_t bytes = std::filesystem::file_size(file);
  out.used.db_bytes = bytes - std::min(bytes, bytes_before);
  return out;
}

}  // namespace

int run_local(const Options& options, const std::string& command, const Drive::Shown& show) {
  std::optional<tools::Folder> folder;
  std::string file = options.store;
  if (file.empty()) {
    folder.emplace(std::filesystem::temp_directory_path(), "holdfast-load");
    file = *folder / "load.db";
  }
  tools::warn_if_in_memory("holdfast-load", std::filesystem::absolute(file).parent_path());
  Rig rig(options, file);
  Drive drive(rig, options, show);
  std::vector<Recorded> records;
  Ran ran = run_on_file(options, file, rig, drive, records);

  Driven& driven = drive.result();
  const Audit found = audit_of(driven, ran, records);
  const tools::Report report = figures(driven, ran.moved, found, ran.used);
  report.print(options.json);
  if (!options.report.empty()) write_page(options.report, page(command, driven, report));
  if (driven.stalled) {
    std::cerr << "holdfast-load: payments stopped moving, the run was cut short";
    std::cerr << (driven.why.empty() ? "" : ": " + driven.why) << '\n';
  }
  if (driven.refused > 0) {
    std::cerr << "holdfast-load: " << driven.refused << " payments were not accepted\n";
  }
  const bool good = found.lost == 0 && found.doubled == 0 && driven.refused == 0;
  return good && !driven.stalled ? 0 : 1;
}

}  // namespace holdfast::load
