// Owns: what can be set about an engine, with the values it has when nothing is said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/domain/decide.hpp>
#include <holdfast/domain/ids.hpp>

namespace holdfast::engine {

struct Config {
  std::string instance_name = "holdfast";  ///< who, in the audit trail
  std::uint32_t max_in_flight = 2'000;     ///< jobs leased at once
  std::int64_t lease_ms = 30'000;          ///< extended while its coroutine lives
  std::uint32_t calls_in_flight = 256;     ///< send slots: payments between claim and answer
  std::uint32_t calls_per_second = 0;      ///< send slots given per second; 0: no limit
  std::int64_t sweep_ms = 60'000;
  int most_steps = 40;  ///< of one delivery: more go round in circles, and the job is poison
  std::int64_t gap_after_ms = 60'000;  ///< a number nobody will use, below others, is filled
  std::int64_t expires_after_s = 86'400;  ///< a created intent nobody signs; a payout not posted
  std::int64_t validity_s = 3'600;  ///< proposed window of a bearer authorization
  std::int64_t publish_margin_s = 30;  ///< nothing is posted so close to the window's end
  /// `ordered`, `opaque` are the chain's own and overwritten from its ChainInfo.
  domain::Policy policy = {};
};

/// A sending account the engine may use on a chain.
struct Account {
  domain::ChainId chain;
  domain::Address address;
  /// For an account used before this store was new: its next sequence, as the operator knows it.
  std::optional<domain::Sequence> adopt;
};

}  // namespace holdfast::engine
