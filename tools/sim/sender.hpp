// Owns: an outside sender beside the chain: it takes orders, keeps no bytes for us, and what it
// answers is one thing, what it does another.
// Must never: be merciful: what it was asked once it may do, whatever it said.
#pragma once

#include <vector>

#include "sim/methods.hpp"
#include "sim/opaque_chain.hpp"
#include "sim/world.hpp"
#include "tally.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

class Sender {
 public:
  Sender(std::uint64_t seed, sim::SimWorld& world, Watch& watch, Tally& tally);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  sim::OpaqueChain chain;
  sim::ScriptedPayout payouts;

  static const domain::ChainId& name();
  /// Its ways, so that one which never happened is seen.
  static void expect(Tally& tally);

 private:
  sim::OpaqueChain::SendAnswer take(const domain::IntentId& id, const domain::Terms& terms);

  sim::Chance chance_;
  Watch& watch_;
  Tally& tally_;
};

}  // namespace holdfast::campaign
