// Owns: the networks a facilitator can speak of: the engine's chains by their CAIP-2 name, and the
// names that version 1 of the protocol has for them.
// Must never: list a chain as one that settles when the engine says it cannot.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engine/engine.hpp>
#include <holdfast/http/x402_options.hpp>

namespace holdfast::http::x402 {

struct Network {
  std::string chain;  ///< the engine's name of it
  std::string name;   ///< CAIP-2
  bool can_settle = false;
  std::vector<ports::AssetInfo> assets;
  std::vector<std::string> accounts;
};
std::vector<Network> networks_of(std::span<const engine::ChainStatus> chains);

/// What a network is called in this version; empty where it has no name there.
std::string name_in(int version, const Network& network, const X402Options& options);
/// The network that is called so in this version; null: none of ours.
const Network* find_network(std::span<const Network> networks, int version, std::string_view name,
                            const X402Options& options);

}  // namespace holdfast::http::x402
