#include "http/x402/networks.hpp"

#include <array>
#include <utility>

namespace holdfast::http::x402 {
namespace {

// As @x402/evm lists them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 23> names_of_version_1 = {{
    {"ethereum", "eip155:1"},
    {"sepolia", "eip155:11155111"},
    {"abstract", "eip155:2741"},
    {"abstract-testnet", "eip155:11124"},
    {"base-sepolia", "eip155:84532"},
    {"base", "eip155:8453"},
    {"avalanche-fuji", "eip155:43113"},
    {"avalanche", "eip155:43114"},
    {"iotex", "eip155:4689"},
    {"sei", "eip155:1329"},
    {"sei-testnet", "eip155:1328"},
    {"polygon", "eip155:137"},
    {"polygon-amoy", "eip155:80002"},
    {"peaq", "eip155:3338"},
    {"story", "eip155:1514"},
    {"educhain", "eip155:41923"},
    {"skale-base-sepolia", "eip155:324705682"},
    {"megaeth", "eip155:4326"},
    {"monad", "eip155:143"},
    {"stable", "eip155:988"},
    {"stable-testnet", "eip155:2201"},
    {"celo", "eip155:42220"},
    {"flare", "eip155:14"},
}};

/// Methods speak for themselves; a token that several of them pay with is one token.
void add_asset(std::vector<ports::AssetInfo>& assets, const ports::AssetInfo& info) {
  for (ports::AssetInfo& known : assets) {
    if (known.asset != info.asset) continue;
    known.methods.insert(known.methods.end(), info.methods.begin(), info.methods.end());
    if (known.name.empty()) {
      known.name = info.name;
      known.version = info.version;
    }
    return;
  }
  assets.push_back(info);
}

}  // namespace

std::vector<Network> networks_of(std::span<const engine::ChainStatus> chains) {
  std::vector<Network> out;
  out.reserve(chains.size());
  for (const engine::ChainStatus& chain : chains) {
    Network network;
    network.chain = chain.id.value;
    network.name = chain.network.empty() ? chain.id.value : chain.network;
    network.can_settle = chain.usable && chain.can_send;
    for (const ports::AssetInfo& info : chain.assets) add_asset(network.assets, info);
    network.accounts = chain.accounts;
    out.push_back(std::move(network));
  }
  return out;
}

std::string name_in(int version, const Network& network, const X402Options& options) {
  if (version != 1) return network.name;
  for (const auto& [name, chain] : options.networks) {
    if (chain == network.name) return name;
  }
  for (const auto& [name, chain] : names_of_version_1) {
    if (chain == network.name) return std::string(name);
  }
  return {};
}

const Network* find_network(std::span<const Network> networks, int version, std::string_view name,
                            const X402Options& options) {
  for (const Network& network : networks) {
    if (!name.empty() && name_in(version, network, options) == name) return &network;
  }
  return nullptr;
}

}  // namespace holdfast::http::x402
