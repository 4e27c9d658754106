// Owns: what `holdfast serve` is told by its file, checked whole before anything starts.
// Must never: print a value of it: URLs and paths may be secrets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/log.hpp>
#include <holdfast/engine/config.hpp>

#include <holdfast/http/server.hpp>
#include "app/config_reader.hpp"
#include "evm/chain.hpp"
#include "evm/http_rpc.hpp"
#include "evm/methods/permit2.hpp"
#include "evm/methods/transfer_authorization.hpp"

namespace holdfast::app {

/// Where a sending account's key is.
struct AccountConfig {
  std::string key_file;  ///< one of the two
  std::string key_env;
  std::optional<domain::Sequence> adopt;
};

/// One node of a chain.
struct EndpointConfig {
  std::string url;  ///< one of the two
  std::string url_env;
  std::uint32_t weight = 1;
};

struct ChainConfig {
  evm::EvmOptions evm;
  evm::HttpRpcOptions rpc;  ///< for every endpoint, without its URL
  std::vector<EndpointConfig> endpoints;
  std::vector<evm::Eip3009Asset> eip3009;  ///< for transfer_authorization
  std::vector<evm::Permit2Asset> permit2;  ///< for permit2
  std::vector<evm::Address20> wallet_factories;  ///< that transfer_authorization may run
  std::vector<domain::AssetId> payouts;    ///< for payout
  std::vector<AccountConfig> accounts;
};

struct AppConfig {
  std::string store_path;
  http::Options http;
  engine::Config engine;
  std::vector<ChainConfig> chains;
  log::Level log_level = log::Level::info;
  std::int64_t drain_ms = 20'000;
};

struct Checked {
  AppConfig config;
  Problems problems;  ///< none: the configuration is good
};

/// Every problem in one go. Asks no node and opens no key file.
Checked read_config(std::string_view toml);
/// As above, from a file of at most 1 MiB. `unreadable` with a sentence.
Result<Checked> read_config_file(const std::string& path);

/// "FILE:line: key sentence", one line each.
std::string problems_as_text(const std::string& file, const Problems& problems);

}  // namespace holdfast::app
