// Owns: what a scripted chain was told to answer, and the record of what it was asked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/base/bytes.hpp>
#include <holdfast/domain/finality.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/ports/outcome.hpp>

namespace holdfast::sim {

enum class ChainCall {
  check,
  head,
  block,
  block_hash,
  find,
  sequences,
  native_balance,
  simulate,
  quote,
  consumer,
  vouch,
  authorization,
  post,
  send_order,
};

using Failure = std::variant<ports::Unknown, ports::Refused, ports::NotSent>;
inline Failure unknown(std::string reason = "no answer") {
  return ports::Unknown{std::move(reason)};
}

/// How one post goes: whether the bytes reach the node, and what the caller hears instead of the
/// node's own answer.
struct NextPost {
  bool reaches = true;
  std::optional<Failure> answer;
  std::int64_t arrives_late_ms = 0;  ///< the bytes reach the node (again) after this time
  std::int64_t answers_late_ms = 0;

  static NextPost accept() { return {}; }
  static NextPost accept_answer_unknown() { return {true, unknown()}; }
  static NextPost drop_answer_unknown() { return {false, unknown()}; }
  /// Says yes and forgets it: a node that lost its pool.
  static NextPost drop_answer_ok() { return {false, std::nullopt}; }
  static NextPost refuse(ports::RefusalKind kind, std::string message = "no") {
    return {false, ports::Refused{kind, std::move(message)}};
  }
  static NextPost not_sent() { return {false, ports::NotSent{"connection refused"}}; }
};

/// One post as it left the engine.
struct PostRecord {
  std::int64_t at_ms = 0;  ///< monotonic
  Bytes bytes;
  domain::TxHash hash;
  bool reached = false;
  std::string answer;  ///< Outcome::text() of what the caller heard
};

class ChainScript {
 public:
  /// The next `times` calls of this kind fail so, before they have any effect.
  void fail_next(ChainCall call, Failure failure, std::size_t times = 1);
  void fail_no_more(ChainCall call) { failures_.erase(call); }
  void next_post(NextPost next) { posts_.push_back(std::move(next)); }
  /// The next head names this block as the newest, whatever else it says: a read of a moment ago.
  void next_latest(domain::BlockRef block) { latest_.push_back(block); }
  /// While down, reads are unknown and posts not sent.
  void set_down(bool down) { down_ = down; }
  /// While set, `check` refuses, and everything else is answered as ever.
  void set_wrong_chain(bool wrong) { wrong_chain_ = wrong; }

  std::uint64_t calls(ChainCall call) const;

  // For the chain that follows it.
  /// Counts a call; the failure that it is to end with, if any.
  std::optional<Failure> enter(ChainCall call);
  bool has_post() const { return !posts_.empty(); }
  NextPost take_post();
  std::optional<domain::BlockRef> take_latest();
  bool wrong_chain() const { return wrong_chain_; }

 private:
  std::map<ChainCall, std::uint64_t> calls_;
  std::map<ChainCall, std::deque<Failure>> failures_;
  std::deque<NextPost> posts_;
  std::deque<domain::BlockRef> latest_;
  bool down_ = false;
  bool wrong_chain_ = false;
};

}  // namespace holdfast::sim
