// Owns: everything of one configured holdfast, built in order and wired together: the only place
// that names wings. `serve` runs it; `audit --chain` borrows its chains.
// Must never: print a key, a URL's path or credentials.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/http/server.hpp>
#include <holdfast/store/store.hpp>

#include "app/config.hpp"
#include "app/system_clock.hpp"
#include "app/system_entropy.hpp"
#include "evm/endpoint_pool.hpp"

namespace holdfast::app {

/// One configured chain, with what speaks to it.
struct ChainParts {
  std::unique_ptr<evm::EndpointPool> rpc;
  std::unique_ptr<evm::EvmChain> chain;
  std::vector<std::unique_ptr<ports::Method>> methods;
};

/// Opens the clients; asks no node yet. Errors name the chain and what is wrong, never the URL.
Result<std::vector<ChainParts>> open_chains(const std::vector<ChainConfig>& chains,
                                            boost::asio::any_io_executor executor,
                                            ports::Clock& clock);

class Service {
 public:
  /// Reads keys, opens the store (taking its lock) and the chains. Errors: a sentence. Throws
  /// StoreUnavailable when the store cannot be opened.
  static Result<std::unique_ptr<Service>> open(const AppConfig& config);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Serves until SIGTERM or SIGINT, then drains; a second signal then ends the process at
  /// once, which is safe. The exit code: 0 after a drain, 3 when the engine stopped itself or the
  /// port is taken.
  int run();

 private:
  explicit Service(const AppConfig& config);
  boost::asio::awaitable<int> live();
  boost::asio::awaitable<void> until_told_to_stop();

  AppConfig config_;
  boost::asio::io_context context_{1};
  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<ports::Signer> signer_;
  std::vector<ChainParts> chains_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace holdfast::app
