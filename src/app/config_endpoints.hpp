// Owns: reading where a chain's nodes are.
// Must never: print a URL, or one of two that are the same: credentials may be in it.
#pragma once

#include "app/config.hpp"

namespace holdfast::app {

/// Either the one node of `rpc_url` or `rpc_url_env`, or each `[[chain.endpoint]]`; and the limits
/// that all of them share.
void read_endpoints(ConfigReader& in, ChainConfig& chain);

}  // namespace holdfast::app
