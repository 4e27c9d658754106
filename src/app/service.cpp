#include "app/service.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "app/signers.hpp"
#include "app/verbs.hpp"
#include "evm/methods/payout.hpp"

namespace holdfast::app {
namespace {

constexpr std::int64_t server_stop_ms = 5'000;
/// An engine that broke is noticed after so long; to be told to stop, at once.
constexpr std::int64_t look_ms = 1'000;
constexpr std::int64_t longest_reopen_ms = 30'000;
/// Longer than any call may last.
constexpr std::int64_t retirement_ms = 600'000;

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
    options.wallet_factories = config.wallet_factories;
    parts.methods.push_back(
        std::make_unique<evm::TransferAuthorizationMethod>(std::move(options), *parts.chain));
  }
  if (!config.permit2.empty()) {
    evm::Permit2Options options;
    options.assets = config.permit2;
    parts.methods.push_back(std::make_unique<evm::Permit2Method>(std::move(options), *parts.chain));
  }
  if (!config.payouts.empty()) {
    parts.methods.push_back(
        std::make_unique<evm::Payout>(evm::PayoutOptions{config.payouts}, *parts.chain));
  }
  return parts;
}

/// Opening the store again settles what may be on disk, or names what is damaged.
bool is_in_trouble(const store::Store& store) {
  const auto trouble = store.trouble();
  return !store.usable() || (trouble && trouble->cause == sql::Cause::corrupt);
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

bool Reopenings::may(std::int64_t mono_ms) {
  while (!at_ms_.empty() && mono_ms - at_ms_.front() >= within_ms) at_ms_.pop_front();
  return at_ms_.size() < most;
}

Service::Service(const AppConfig& config, ServiceSeams seams)
    : config_(config), seams_(std::move(seams)) {}

// What the frames of an earlier member use is there until they are gone: engine before chains,
// context last.
Service::~Service() {
  server_.reset();
  if (engine_) engine_->abandon();
  engine_.reset();
  store_.reset();
  retired_.clear();
  chains_.clear();
}

std::unique_ptr<store::Store> Service::open_store() {
  sqlite::SqliteOptions file;
  file.path = config_.store_path;
  file.vfs = seams_.vfs;
  store::StoreOptions options;
  options.waiters = context_.get_executor();
  return std::make_unique<store::Store>(sqlite::open_sqlite(std::move(file)), options);
}

Result<std::unique_ptr<Service>> Service::open(const AppConfig& config, ServiceSeams seams) {
  std::unique_ptr<Service> self(new Service(config, std::move(seams)));
  auto signers = open_signers(config.chains, self->entropy_);
  if (!signers) return signers.error();
  self->signer_ = std::move(signers->signer);
  const auto executor = self->context_.get_executor();
  auto chains = open_chains(config.chains, executor, self->clock_);
  if (!chains) return chains.error();
  self->chains_ = std::move(*chains);

  self->store_ = self->open_store();
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
    co_await warn_without_keys();  // not after "serving": whoever reads that may send a signal
    co_await server_->start();
    log::info("serving", {{"address", config_.http.address}, {"port", server_->port()}});
    co_await serve_until_told();
  } catch (...) {
    failed = std::current_exception();
  }
  if (signals_) signals_->cancel();  // nobody waits for one any more; they are still caught
  // Stop accepting, finish requests, stop workers, close the store.
  log::info("draining", {});
  const bool in_order = !failed && !engine_->broken();
  co_await server_->stop(server_stop_ms);
  co_await engine_->drain(in_order ? config_.drain_ms : 0);
  for (ChainParts& chain : chains_) chain.rpc->close();
  if (failed) std::rethrow_exception(failed);
  if (in_order) co_return exit_done;
  if (gave_up_) {
    std::fprintf(stderr,
                 "holdfast: the store had to be opened again more than %zu times within an hour: "
                 "look at its disk, then start again: what is on disk decides\n",
                 Reopenings::most);
  } else {
    std::fputs(
        "holdfast: the engine stopped itself, see the log; start again: what is on disk "
        "decides\n",
        stderr);
  }
  co_return exit_environment;
}

// Nobody can add the first key through a server that answers only to keys.
boost::asio::awaitable<void> Service::warn_without_keys() {
  if (!config_.http.require_keys) co_return;
  const auto keys = co_await engine_->api_keys();
  const auto is_live = [](const engine::ApiKey& key) { return !key.revoked_ms; };
  if (std::ranges::any_of(keys, is_live)) co_return;
  log::warn("no_api_key", {{"why",
                            "nothing under /v1 will be answered: stop, add the first key with "
                            "`holdfast keys add NAME --scope ops --config FILE`, start again"}});
}

boost::asio::awaitable<void> Service::serve_until_told() {
  signals_.emplace(context_, SIGTERM, SIGINT);
  signals_->async_wait([this](boost::system::error_code error, int) {
    if (!error) tell();
  });
  for (;;) {
    while (!told_ && !engine_->broken()) co_await wait_to_look(look_ms);
    // An engine that broke for another reason than its store would only break again.
    if (told_ || !is_in_trouble(*store_) || !co_await reopen()) co_return;
  }
}

void Service::tell() {
  told_ = true;
  look_.cancel();
}

boost::asio::awaitable<void> Service::wait_to_look(std::int64_t ms) {
  boost::system::error_code told;
  look_.expires_after(std::chrono::milliseconds(ms));
  co_await look_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, told));
}

boost::asio::awaitable<void> Service::until_told(std::int64_t most_ms) {
  const std::int64_t until_ms = clock_.mono_ms() + most_ms;
  for (std::int64_t left = most_ms; !told_ && left > 0; left = until_ms - clock_.mono_ms()) {
    co_await wait_to_look(left);
  }
}

// The engine that stood on it is gone, but for calls in progress: they are answered by a store that
// refuses everything.
boost::asio::awaitable<void> Service::retire_store() {
  co_await engine_->drain(0);
  store_->close();
  const std::int64_t now_ms = clock_.mono_ms();
  std::erase_if(retired_, [&](const Retired& old) { return now_ms - old.at_ms > retirement_ms; });
  retired_.push_back({now_ms, std::move(store_)});
}

// False when it was tried too often. Whoever told us to stop meanwhile is listened to.
boost::asio::awaitable<bool> Service::reopen() {
  for (std::int64_t wait_ms = seams_.reopen_ms;;
       wait_ms = std::min(wait_ms * 2, longest_reopen_ms)) {
    if (!reopenings_.may(clock_.mono_ms())) {
      gave_up_ = true;
      co_return false;
    }
    if (store_) co_await retire_store();
    log::alarm("store_reopening", {{"in_ms", wait_ms}});
    co_await until_told(wait_ms);
    if (told_ || co_await try_to_reopen()) co_return true;
  }
}

// A store that is damaged is not tried again: its sentence ends the process.
boost::asio::awaitable<bool> Service::try_to_reopen() {
  std::string why;
  bool counts = true;
  try {
    store_ = open_store();
    engine_->renew(*store_);
    reopenings_.count(clock_.mono_ms());
    co_await engine_->start();
    log::info("store_reopened", {});
    co_return true;
  } catch (const store::StoreUnavailable& what) {
    if (what.cause() == sql::Cause::corrupt) throw;
    // Waiting for room, or for whoever holds the file, is not the disk's failing us.
    counts = what.cause() == sql::Cause::io || what.cause() == sql::Cause::in_doubt;
    why = what.what();
  } catch (const store::StoreInDoubt& what) {
    why = what.what();
  }
  if (counts && !store_) reopenings_.count(clock_.mono_ms());
  log::alarm("store_not_reopened", {{"why", why}});
  co_return false;
}

void Service::stop() {
  boost::asio::post(context_, [this] { tell(); });
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
  const auto unset = unset_variables(checked->config.chains);  // reading a key unsets its variable
  const auto keys =
      checked->problems.empty() ? key_problems(checked->config.chains) : std::vector<std::string>{};
  for (const std::string& one : keys) {
    std::fprintf(stderr, "%s: %s\n", config_path.c_str(), one.c_str());
  }
  if (checked->problems.empty() && keys.empty()) {
    std::printf("%s: all well\n", config_path.c_str());
    for (const std::string& name : unset) {
      std::printf("note: the variable %s, which serve needs, is not set here\n", name.c_str());
    }
    return exit_done;
  }
  if (!checked->problems.empty()) {
    std::fputs(problems_as_text(config_path, checked->problems).c_str(), stderr);
  }
  return exit_usage;
}

}  // namespace holdfast::app
