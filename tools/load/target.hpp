// Owns: driving a running holdfast over its own HTTP face: payouts in, and how they stand.
// Must never: see more of it than any client with its key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "books.hpp"
#include "drive.hpp"
#include "http_line.hpp"
#include "options.hpp"
#include "plan.hpp"

namespace holdfast::load {

/// What a running holdfast has ended so far, of its metrics' text; 0 where they do not say.
struct EndedCounts {
  std::uint64_t settled = 0;
  std::uint64_t ended = 0;  ///< settled, failed, canceled, or put before a person
};
EndedCounts ended_counts(std::string_view metrics);

class TargetDrive {
 public:
  using Shown = std::function<void(const Moment&, const Driven&)>;

  TargetDrive(boost::asio::io_context& context, const Options& options, Shown show);
  /// Submits all, and returns when all have ended or nothing moves any more. Throws runtime_error
  /// when the server does not answer.
  boost::asio::awaitable<void> run();
  /// The accounts that pay, as the server lists them.
  boost::asio::awaitable<std::vector<domain::Address>> accounts();
  /// How the payments stand, as the server lists them.
  boost::asio::awaitable<std::vector<Recorded>> records();
  Driven& result() { return out_; }

 private:
  boost::asio::awaitable<void> line();
  boost::asio::awaitable<void> submit(HttpLine& line, std::uint64_t number);
  std::string creation(std::uint64_t number) const;
  boost::asio::awaitable<void> follow(std::string id, std::int64_t accepted_us);
  boost::asio::awaitable<EndedCounts> counts();
  boost::asio::awaitable<void> pause(std::int64_t ms) const;
  bool may_submit() const;
  bool is_over() const;
  void look(const EndedCounts& now);

  boost::asio::io_context& context_;
  Options options_;
  Plan plan_;
  Shown show_;
  HttpPlace place_;
  std::string token_;
  std::string run_;  ///< names this run's requests
  HttpLine watch_;
  Driven out_;
  EndedCounts before_;
  EndedCounts now_;
  std::uint64_t submitted_ = 0;
  std::uint64_t lines_ = 0;  ///< that still submit
  std::uint64_t following_ = 0;  ///< samples that have not ended
  std::int64_t start_us_ = 0;
};

/// A whole run against options.target; the exit code.
int run_target(const Options& options, const std::string& command, const TargetDrive::Shown& show);

}  // namespace holdfast::load
