#include "restart.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "drive.hpp"

namespace holdfast::load {

namespace {

using boost::asio::awaitable;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds within{600};

bool all_driven(Rig& rig, std::uint64_t open) {
  const engine::Stats now = rig.engine().stats();
  const auto chains = rig.engine().chains();
  return chains.front().usable && now.in_flight_now + now.watched_now >= open;
}

awaitable<void> drive_again(Rig& rig, std::uint64_t open, Clock::time_point start, double& ms) {
  co_await rig.engine().start();
  while (!all_driven(rig, open)) {
    if (Clock::now() - start > within) throw std::runtime_error("not all are driven again");
    co_await rig.clock().sleep(1);
  }
  ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  rig.world().hold(false);
  while (rig.engine().stats().settled < open) {
    if (Clock::now() - start > within) throw std::runtime_error("not all settle after the crash");
    co_await rig.clock().sleep(10);
  }
}

}  // namespace

Restarted restart(Rig& rig, const Options& options, std::uint64_t first) {
  Options more = options;
  more.payments = options.in_flight;
  more.rate = more.duration_s = 0;
  rig.world().hold(true);
  Drive drive(rig, more, [](const Moment&, const Driven&) {}, first);
  rig.run(drive.fill());
  rig.crash();

  Restarted out;
  out.owed = std::move(drive.result().owed);
  const auto start = Clock::now();
  rig.reopen();
  rig.run(drive_again(rig, out.owed.size(), start, out.restart_ms));
  return out;
}

}  // namespace holdfast::load
