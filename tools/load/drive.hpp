// Owns: submitting payments, as many at once as asked for, and watching how they fare meanwhile.
// Must never: ask the engine more of a payment than a client would, but for one in `sampled`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "books.hpp"
#include "latencies.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "rig.hpp"

namespace holdfast::load {

/// How things stood at one moment of the run.
struct Moment {
  double at_s = 0;  ///< since the first submission
  std::uint64_t submitted = 0;
  std::uint64_t settled = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t commits = 0;
  std::uint64_t steps = 0;  ///< writes, of which a commit carries many
  std::uint64_t calls = 0;  ///< to the chain
  std::uint64_t rss_bytes = 0;
};

struct Driven {
  std::vector<Owed> owed;
  Latencies confirming;  ///< accepted → confirming, of one payment in `sampled`
  Latencies settled;     ///< accepted → settled, of the same
  std::vector<Moment> moments;
  std::uint64_t most_in_flight = 0;
  std::uint64_t refused = 0;  ///< not accepted
  double seconds = 0;  ///< from the first submission until the last payment had ended
  bool stalled = false;  ///< gave up: nothing moved any more
  std::string why;       ///< what the engine says of that; empty: nothing
};

class Drive {
 public:
  using Shown = std::function<void(const Moment&, const Driven&)>;

  /// `show` is called four times a second. Payments are numbered from `first` on.
  Drive(Rig& rig, const Options& options, Shown show, std::uint64_t first = 0);
  /// Returns when all has ended or nothing moves any more. The engine was started.
  boost::asio::awaitable<void> run();
  /// Instead: submits all and returns when all of them wait in the chain's pool, which is held.
  /// Throws runtime_error when they do not get there.
  boost::asio::awaitable<void> fill();
  Driven& result() { return out_; }

 private:
  std::uint64_t ended() const;
  std::uint64_t may_submit_now() const;
  void submit(std::uint64_t count);
  boost::asio::awaitable<void> one(std::uint64_t number);
  boost::asio::awaitable<void> follow(domain::IntentId id, std::int64_t accepted_us);
  void look();

  Rig& rig_;
  Options options_;
  Plan plan_;
  Shown show_;
  std::uint64_t first_;
  Driven out_;
  engine::Stats before_;
  store::StoreStats store_before_;
  std::int64_t start_us_ = 0;
  std::int64_t looked_us_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t asking_ = 0;     ///< requests without an answer yet
  std::uint64_t following_ = 0;  ///< samples that have not ended
};

}  // namespace holdfast::load
