// Owns: everything of one configured holdfast, built in order and wired together: the only place
// that names wings. `serve` runs it; `audit --chain` borrows its chains.
// Must never: print a key, a URL's path or credentials.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

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

/// How often a store may be opened again in one process: after that a disk is not to be trusted.
class Reopenings {
 public:
  static constexpr std::size_t most = 5;
  static constexpr std::int64_t within_ms = 3'600'000;

  /// False: as many as may be lie within the last hour.
  bool may(std::int64_t mono_ms);
  void count(std::int64_t mono_ms) { at_ms_.push_back(mono_ms); }

 private:
  std::deque<std::int64_t> at_ms_;
};

/// What a test may set otherwise.
struct ServiceSeams {
  std::string vfs = {};              ///< SQLite's name of the disk
  std::int64_t reopen_ms = 1'000;    ///< before the store is opened again; longer each time
};

class Service {
 public:
  /// Reads keys, opens the store (taking its lock) and the chains. Errors: a sentence. Throws
  /// StoreUnavailable when the store cannot be opened.
  static Result<std::unique_ptr<Service>> open(const AppConfig& config, ServiceSeams seams = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Serves until SIGTERM or SIGINT, then drains; a second signal then ends the process at
  /// once, which is safe. A store in doubt is closed and opened again: the engine starts anew from
  /// what is on disk, and until then every request is answered 503. The exit code: 0 after a
  /// drain, 3 when the engine stopped itself, the port is taken, or the store cannot be relied on.
  int run();
  /// As a signal does. From any thread.
  void stop();

 private:
  Service(const AppConfig& config, ServiceSeams seams);
  std::unique_ptr<store::Store> open_store();
  boost::asio::awaitable<int> live();
  boost::asio::awaitable<void> warn_without_keys();
  boost::asio::awaitable<void> serve_until_told();
  void tell();
  /// Returns after `ms`, or when it is told to stop.
  boost::asio::awaitable<void> wait_to_look(std::int64_t ms);
  boost::asio::awaitable<void> until_told(std::int64_t most_ms);
  boost::asio::awaitable<bool> reopen();
  boost::asio::awaitable<bool> try_to_reopen();
  boost::asio::awaitable<void> retire_store();

  /// Closed; calls that began with it may not have ended.
  struct Retired {
    std::int64_t at_ms = 0;
    std::unique_ptr<store::Store> store;
  };

  AppConfig config_;
  ServiceSeams seams_;
  Reopenings reopenings_;
  bool told_ = false;
  bool gave_up_ = false;
  boost::asio::io_context context_{1};
  boost::asio::steady_timer look_{context_};
  // To the end, not only until it was told: without it a second signal would kill in the drain.
  std::optional<boost::asio::signal_set> signals_;
  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<ports::Signer> signer_;
  std::vector<ChainParts> chains_;
  std::vector<Retired> retired_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace holdfast::app
