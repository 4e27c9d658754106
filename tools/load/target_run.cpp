// One run against a running holdfast: submit, read the chain's own books, compare, report.
#include <algorithm>
#include <exception>
#include <iostream>

#include <boost/asio/co_spawn.hpp>

#include "app/system_clock.hpp"
#include "figures.hpp"
#include "page.hpp"
#include "target.hpp"
#include "world.hpp"

namespace holdfast::load {

namespace {

struct Seen {
  Used used;
  std::vector<Moved> moved;
  std::vector<Recorded> records;
};

boost::asio::awaitable<void> run_all(TargetDrive& drive, World& world, Seen& seen) {
  co_await world.prepare(co_await drive.accounts());
  seen.used.is_ours = false;
  co_await drive.run();
  seen.records = co_await drive.records();
  seen.moved = co_await world.close();
}

// Other payments of the server's may have moved meanwhile, and are none of this run's business.
void keep_own(std::vector<Moved>& moved, std::vector<Owed> owed) {
  std::ranges::sort(owed, {}, &Owed::ref);
  std::erase_if(moved, [&](const Moved& each) {
    return !std::ranges::binary_search(owed, each.ref, {}, &Owed::ref);
  });
}

}  // namespace

int run_target(const Options& options, const std::string& command, const TargetDrive::Shown& show) {
  boost::asio::io_context context(1);
  app::SystemClock clock;
  const auto world = make_world(options, context.get_executor(), clock);
  TargetDrive drive(context, options, show);
  Seen seen;
  std::exception_ptr failed;
  boost::asio::co_spawn(context, run_all(drive, *world, seen),
                        [&](const std::exception_ptr& error) {
                          failed = error;
                          context.stop();
                        });
  context.run();
  if (failed) std::rethrow_exception(failed);

  Driven& driven = drive.result();
  keep_own(seen.moved, driven.owed);
  const Audit found = audit(driven.owed, seen.moved, seen.records);
  const tools::Report report = figures(driven, seen.moved, found, seen.used);
  report.print(options.json);
  if (!options.report.empty()) write_page(options.report, page(command, driven, report));
  if (driven.refused > 0) {
    std::cerr << "holdfast-load: " << driven.refused << " payments were turned away (429, 503)\n";
  }
  if (driven.stalled) std::cerr << "holdfast-load: payments stopped moving\n";
  return found.lost == 0 && found.doubled == 0 && !driven.stalled ? 0 : 1;
}

}  // namespace holdfast::load
