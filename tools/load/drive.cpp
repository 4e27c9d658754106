#include "drive.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "support/process.hpp"

namespace holdfast::load {

namespace {

using boost::asio::awaitable;

constexpr std::int64_t look_every_us = 250'000;
constexpr std::int64_t stalled_after_us = 60'000'000;
constexpr std::int64_t fill_within_us = 600'000'000;
constexpr std::int64_t turn_ms = 1;
/// In one turn of the loop: whoever submits a hundred thousand at once measures nothing else.
constexpr std::uint64_t most_in_a_turn = 2'000;
constexpr std::int64_t follow_ms = 3'600'000;

/// Whoever waits for a payment costs the engine a look at it for each of its steps.
constexpr std::uint64_t sampled = 16;

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void rethrow(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

}  // namespace

Drive::Drive(Rig& rig, const Options& options, Shown show, std::uint64_t first)
    : rig_(rig), options_(options), plan_(options), show_(std::move(show)), first_(first) {}

std::uint64_t Drive::ended() const {
  const engine::Stats now = rig_.engine().stats();
  return (now.settled - before_.settled) + (now.failed - before_.failed) +
         (now.canceled - before_.canceled) + (now.reviews - before_.reviews) + out_.refused;
}

std::uint64_t Drive::may_submit_now() const {
  const std::int64_t run_us = now_us() - start_us_;
  const bool over = options_.duration_s > 0 &&
                    run_us >= static_cast<std::int64_t>(options_.duration_s) * 1'000'000;
  if (over) return 0;
  const std::uint64_t in_flight = submitted_ - std::min(submitted_, ended());
  std::uint64_t out = options_.payments - submitted_;
  out = std::min(out, options_.in_flight - std::min(options_.in_flight, in_flight));
  if (options_.rate > 0) {
    const double due = static_cast<double>(run_us) / 1e6 * static_cast<double>(options_.rate);
    const auto whole = static_cast<std::uint64_t>(due) + 1;
    out = std::min(out, whole - std::min(whole, submitted_));
  }
  return std::min(out, most_in_a_turn);
}

void Drive::submit(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    ++asking_;
    boost::asio::co_spawn(rig_.context(), one(first_ + submitted_++), rethrow);
  }
}

awaitable<void> Drive::one(std::uint64_t number) {
  const engine::NewPayment payment = plan_.payment(number);
  auto answer = co_await rig_.engine().create(plan_.caller(number), payment);
  if (answer && plan_.is_signed()) {
    Bytes signature = plan_.signature(number, answer->intent.validity, answer->intent.ref);
    answer = co_await rig_.engine().authorize(plan_.signer(number), answer->intent.id,
                                              std::move(signature));
  }
  --asking_;
  // One that is known already is another run's, with the same seed.
  if (!answer || answer->replayed) {
    ++out_.refused;
    co_return;
  }
  const domain::Intent& intent = answer->intent;
  const std::int64_t accepted_us = now_us();
  const auto payee = from_hex(intent.terms.payee.value);
  out_.owed.push_back({head_of(intent.ref.view()), head_of(*payee), number + 1, accepted_us});
  if (first_ == 0 && number % sampled == 0) {
    ++following_;
    co_await follow(intent.id, accepted_us);
    --following_;
  }
}

awaitable<void> Drive::follow(domain::IntentId id, std::int64_t accepted_us) {
  using engine::WaitFor;
  using enum domain::IntentState;
  auto seen = co_await rig_.engine().wait({}, id, WaitFor::confirming, follow_ms);
  if (!seen || (seen->state != confirming && seen->state != settled)) co_return;
  out_.confirming.add(now_us() - accepted_us);
  seen = co_await rig_.engine().wait({}, id, WaitFor::settled, follow_ms);
  if (seen && seen->state == settled) out_.settled.add(now_us() - accepted_us);
}

void Drive::look() {
  const std::int64_t at_us = now_us();
  looked_us_ = at_us;
  const store::StoreStats store = rig_.store().stats();
  Moment moment;
  moment.at_s = static_cast<double>(at_us - start_us_) / 1e6;
  moment.submitted = submitted_;
  moment.settled = rig_.engine().stats().settled - before_.settled;
  moment.in_flight = submitted_ - std::min(submitted_, ended());
  moment.commits = store.commits - store_before_.commits;
  moment.steps = store.steps - store_before_.steps;
  moment.calls = rig_.world().calls();
  moment.rss_bytes = tools::process_use().rss_bytes;
  out_.moments.push_back(moment);
  show_(moment, out_);
}

awaitable<void> Drive::fill() {
  start_us_ = now_us();
  while (submitted_ < options_.payments || asking_ > 0 ||
         rig_.world().waiting() + out_.refused < submitted_) {
    submit(std::min(options_.payments - submitted_, most_in_a_turn));
    if (now_us() - start_us_ > fill_within_us || rig_.engine().broken()) {
      throw std::runtime_error("the payments of --restart do not reach the chain");
    }
    co_await rig_.clock().sleep(turn_ms);
  }
}

awaitable<void> Drive::run() {
  before_ = rig_.engine().stats();
  store_before_ = rig_.store().stats();
  start_us_ = now_us();
  look();
  out_.owed.reserve(std::min<std::uint64_t>(options_.payments, 1'000'000));
  std::uint64_t ended_before = 0;
  std::int64_t moved_us = start_us_;
  for (bool all_submitted = false;;) {
    const std::uint64_t ended_now = ended();
    const std::uint64_t in_flight = submitted_ - std::min(submitted_, ended_now);
    out_.most_in_flight = std::max(out_.most_in_flight, in_flight);
    const std::int64_t at_us = now_us();
    if (std::exchange(ended_before, ended_now) != ended_now) moved_us = at_us;
    const bool over =
        options_.duration_s > 0 &&
        at_us - start_us_ >= static_cast<std::int64_t>(options_.duration_s) * 1'000'000;
    all_submitted = over || submitted_ == options_.payments;
    if (all_submitted && in_flight == 0 && asking_ == 0) break;
    out_.stalled = at_us - moved_us > stalled_after_us || rig_.engine().broken();
    if (out_.stalled) {
      out_.why = rig_.engine().chains().front().why;
      break;
    }
    submit(may_submit_now());
    if (at_us - looked_us_ >= look_every_us) look();
    co_await rig_.clock().sleep(turn_ms);
  }
  out_.seconds = static_cast<double>(now_us() - start_us_) / 1e6;
  look();
  while (following_ > 0 && !out_.stalled) co_await rig_.clock().sleep(turn_ms);
}

}  // namespace holdfast::load
