#include "app/service.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "app/signers.hpp"
#include "app/verbs.hpp"
#include "evm/methods/payout.hpp"

namespace holdfast::app {
namespace {

constexpr std::int64_t server_stop_ms = 5'000;
constexpr std::int64_t look_ms = 200;

std::string text_of(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::string{} : std::string(value);
}

Result<std::unique_ptr<evm::HttpRpc>> open_endpoint(const ChainConfig& chain,
                                                    const EndpointConfig& endpoint,
                                                    boost::asio::any_io_executor executor,
                                                    ports::Clock& clock) {
  evm::HttpRpcOptions options = chain.rpc;
  options.url = endpoint.url;
  if (!endpoint.url_env.empty()) {
    options.url = text_of(endpoint.url_env.c_str());
    if (options.url.empty()) {
      return refuse(ConfigError::unreadable,
                    chain.evm.id.value + ": the variable " + endpoint.url_env + " is not set");
    }
  }
  auto client = evm::HttpRpc::open(std::move(executor), clock, std::move(options));
  if (!client) {
    return Error{client.error().code, chain.evm.id.value + ": " + client.error().detail};
  }
  return client;
}

Result<ChainParts> open_chain(const ChainConfig& config,
                              const boost::asio::any_io_executor& executor, ports::Clock& clock) {
  ChainParts parts;
  std::vector<evm::PoolMember> members;
  for (const EndpointConfig& endpoint : config.endpoints) {
    auto client = open_endpoint(config, endpoint, executor, clock);
    if (!client) return client.error();
    members.push_back({std::move(*client), endpoint.weight});
  }
  parts.rpc = std::make_unique<evm::EndpointPool>(
      executor, clock, *evm::chain_number(config.evm.id), std::move(members));
  parts.chain = std::make_unique<evm::EvmChain>(config.evm, *parts.rpc, clock);
  if (!config.eip3009.empty()) {
    evm::TransferAuthorizationOptions options;
    options.assets = config.eip3009;
    parts.methods.push_back(
        std::make_unique<evm::TransferAuthorizationMethod>(std::move(options), *parts.chain));
  }
  if (!config.payouts.empty()) {
    parts.methods.push_back(
        std::make_unique<evm::Payout>(evm::PayoutOptions{config.payouts}, *parts.chain));
  }
  return parts;
}

}  // namespace

Result<std::vector<ChainParts>> open_chains(const std::vector<ChainConfig>& chains,
                                            boost::asio::any_io_executor executor,
                                            ports::Clock& clock) {
  std::vector<ChainParts> out;
  for (const ChainConfig& config : chains) {
    auto parts = open_chain(config, executor, clock);
    if (!parts) return parts.error();
    out.push_back(std::move(*parts));
  }
  return out;
}

Service::Service(const AppConfig& config) : config_(config) {}

// What the frames of an earlier member use is there until they are gone: engine before chains,
// context last.
Service::~Service() {
  server_.reset();
  if (engine_) engine_->abandon();
  engine_.reset();
  store_.reset();
  chains_.clear();
}

Result<std::unique_ptr<Service>> Service::open(const AppConfig& config) {
  std::unique_ptr<Service> self(new Service(config));
  auto signers = open_signers(config.chains, self->entropy_);
  if (!signers) return signers.error();
  self->signer_ = std::move(signers->signer);
  const auto executor = self->context_.get_executor();
  auto chains = open_chains(config.chains, executor, self->clock_);
  if (!chains) return chains.error();
  self->chains_ = std::move(*chains);

  sqlite::SqliteOptions file;
  file.path = config.store_path;
  store::StoreOptions options;
  options.waiters = executor;
  self->store_ = std::make_unique<store::Store>(sqlite::open_sqlite(std::move(file)), options);

  engine::Parts parts{*self->store_,
                      self->clock_,
                      self->entropy_,
                      *self->signer_,
                      {},
                      {},
                      std::move(signers->accounts)};
  for (const ChainParts& chain : self->chains_) {
    parts.chains.push_back(chain.chain.get());
    for (const auto& method : chain.methods) parts.methods.push_back(method.get());
  }
  self->engine_ = std::make_unique<engine::Engine>(executor, config.engine, std::move(parts));
  self->server_ = std::make_unique<http::Server>(executor, *self->engine_, self->clock_,
                                                 self->entropy_, config.http);
  return self;
}

int Service::run() {
  int code = exit_environment;
  boost::asio::co_spawn(context_, live(), [&](const std::exception_ptr& error, int ended) {
    code = ended;
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& what) {
      std::fprintf(stderr, "holdfast: %s\n", what.what());
      code = exit_environment;
    }
    context_.stop();
  });
  context_.run();
  return code;
}

boost::asio::awaitable<int> Service::live() {
  std::exception_ptr failed;
  try {
    co_await engine_->start();
    co_await server_->start();
    log::info("serving", {{"address", config_.http.address}, {"port", server_->port()}});
    co_await until_told_to_stop();
  } catch (...) {
    failed = std::current_exception();
  }
  // Stop accepting, finish requests, stop workers, close the store.
  log::info("draining", {});
  const bool in_order = !failed && !engine_->broken();
  co_await server_->stop(server_stop_ms);
  co_await engine_->drain(in_order ? config_.drain_ms : 0);
  for (ChainParts& chain : chains_) chain.rpc->close();
  if (failed) std::rethrow_exception(failed);
  if (in_order) co_return exit_done;
  std::fputs(
      "holdfast: the engine stopped itself, see the log; start again: what is on disk "
      "decides\n",
      stderr);
  co_return exit_environment;
}

boost::asio::awaitable<void> Service::until_told_to_stop() {
  boost::asio::signal_set signals(context_, SIGTERM, SIGINT);
  const auto told = std::make_shared<bool>(false);
  signals.async_wait([told](boost::system::error_code error, int) { *told = !error; });
  while (!*told && !engine_->broken()) co_await clock_.sleep(look_ms);
}

int serve(const std::string& config_path) {
  const auto checked = read_config_file(config_path);
  if (!checked) {
    std::fprintf(stderr, "%s: %s\n", config_path.c_str(), checked.error().detail.c_str());
    return exit_usage;
  }
  if (!checked->problems.empty()) {
    std::fputs(problems_as_text(config_path, checked->problems).c_str(), stderr);
    return exit_usage;
  }
  // No core of this process: it holds keys.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  log::set_level(checked->config.log_level);
  try {
    auto service = Service::open(checked->config);
    if (!service) {
      std::fprintf(stderr, "holdfast: %s\n", service.error().detail.c_str());
      return exit_usage;
    }
    return (*service)->run();
  } catch (const store::StoreUnavailable& what) {
    std::fprintf(stderr, "holdfast: %s\n", what.what());
    return exit_environment;
  }
}

int check_config(const std::string& config_path) {
  const auto checked = read_config_file(config_path);
  if (!checked) {
    std::fprintf(stderr, "%s: %s\n", config_path.c_str(), checked.error().detail.c_str());
    return exit_usage;
  }
  if (checked->problems.empty()) {
    std::printf("%s: all well\n", config_path.c_str());
    return exit_done;
  }
  std::fputs(problems_as_text(config_path, checked->problems).c_str(), stderr);
  return exit_usage;
}

}  // namespace holdfast::app
