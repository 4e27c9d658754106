#include "app/config_endpoints.hpp"

#include <algorithm>
#include <utility>

#include "evm/http_rpc_endpoint.hpp"

namespace holdfast::app {
namespace {

constexpr std::size_t most_endpoints = 16;

/// One URL, by itself or by the variable that holds it.
EndpointConfig read_url(ConfigReader& in, const std::string& url_key, const std::string& env_key) {
  EndpointConfig out;
  out.url = in.text(url_key, "", 4096);
  out.url_env = in.text(env_key, "", 256);
  if (in.has(url_key) == in.has(env_key)) {
    in.problem(url_key, "or " + env_key + " is needed, and not both");
  } else if (!out.url.empty()) {
    const auto endpoint = evm::parse_endpoint(out.url);
    if (!endpoint) in.problem(url_key, "cannot be used: " + endpoint.error().detail);
  }
  return out;
}

void read_endpoint(ConfigReader in, ChainConfig& chain) {
  EndpointConfig one = read_url(in, "url", "url_env");
  one.weight = static_cast<std::uint32_t>(in.number("weight", one.weight, 1, 1'000));
  const auto same = [&](const EndpointConfig& other) {
    return other.url == one.url && other.url_env == one.url_env;
  };
  const bool known = !one.url.empty() || !one.url_env.empty();
  if (known && std::ranges::any_of(chain.endpoints, same)) {
    in.problem(in.has("url") ? "url" : "url_env", "is configured twice on this chain");
  }
  in.refuse_unknown_keys();
  chain.endpoints.push_back(std::move(one));
}

}  // namespace

void read_endpoints(ConfigReader& in, ChainConfig& chain) {
  if (in.has("endpoint")) {
    auto endpoints = in.some_tables("endpoint", "is empty: a chain needs a node to ask");
    if (endpoints.size() > most_endpoints) {
      in.problem("endpoint", "is given more than " + std::to_string(most_endpoints) + " times");
    }
    for (ConfigReader& one : endpoints) read_endpoint(one, chain);
    for (const char* key : {"rpc_url", "rpc_url_env"}) {
      if (in.maybe_text(key, 4096)) {
        in.problem(key, "stands for a chain's only node, and this one has [[chain.endpoint]]");
      }
    }
  } else {
    chain.endpoints.push_back(read_url(in, "rpc_url", "rpc_url_env"));
  }
  evm::HttpRpcOptions& rpc = chain.rpc;
  rpc.deadline_ms = in.number("rpc_deadline_ms", rpc.deadline_ms, 100, 120'000);
  rpc.max_connections = static_cast<std::size_t>(
      in.number("rpc_connections", static_cast<std::int64_t>(rpc.max_connections), 1, 64));
  rpc.max_batch_calls = static_cast<std::size_t>(
      in.number("rpc_batch", static_cast<std::int64_t>(rpc.max_batch_calls), 1, 1'000));
  chain.evm.posts_at_once = rpc.max_batch_calls;
  rpc.ca_file = in.text("rpc_ca_file", "", 4096);
}

}  // namespace holdfast::app
