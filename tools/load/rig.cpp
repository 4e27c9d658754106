#include "rig.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "evm/methods/payout.hpp"
#include "evm/methods/transfer_authorization.hpp"
#include "plan.hpp"
#include "token.hpp"

namespace holdfast::load {

namespace {

// Nothing of the engine's own limits is to be measured: each account may take all of the load, and
// no write is turned away.
engine::Config config_for(const Options& options) {
  const auto in_flight = static_cast<std::uint32_t>(options.in_flight);
  engine::Config out;
  out.instance_name = "holdfast-load";
  out.max_in_flight = std::max(out.max_in_flight, in_flight);
  out.calls_in_flight = std::max(out.calls_in_flight, in_flight);
  return out;
}

store::StoreOptions store_options(const Options& options, boost::asio::any_io_executor waiters) {
  store::StoreOptions out;
  out.waiters = std::move(waiters);
  out.max_queued = std::max<std::size_t>(out.max_queued, 4 * options.in_flight);
  return out;
}

// What a store knows as its chain's newest final block: a chain without it is not the same chain.
std::optional<domain::BlockRef> final_block_of(const Options& options, const std::string& file) {
  if (!options.on_top) return std::nullopt;
  const auto reader = sqlite::open_sqlite({.path = file, .read_only = true})->open_reader();
  sql::Statement& statement =
      reader->prepare("SELECT final_height, final_hash FROM chains WHERE chain = $1");
  statement.bind_text(1, chain_name);
  std::optional<domain::BlockRef> out;
  if (statement.step()) {
    const auto hash = domain::BlockHash::from(statement.get_blob(1));
    const auto height = static_cast<std::uint64_t>(statement.get_int(0));
    if (hash && height > 0) out = domain::BlockRef{height, *hash};
  }
  statement.reset();
  return out;
}

}  // namespace

Rig::Rig(const Options& options, const std::string& file)
    : options_(options),
      file_(file),
      keys_(make_keys(options.seed, options.accounts)),
      world_(make_world(options, context_->get_executor(), clock_, &notes_,
                        final_block_of(options, file))) {
  const domain::AssetId asset{token};
  methods_.push_back(std::make_unique<evm::Payout>(
      evm::PayoutOptions{{domain::native_asset, asset}}, world_->shape()));
  methods_.push_back(std::make_unique<evm::TransferAuthorizationMethod>(
      evm::TransferAuthorizationOptions{.assets = {{asset, token_name, token_version}}},
      world_->shape()));
  open();
  others_to_ = newest_row();
}

Rig::~Rig() {
  if (engine_) engine_->abandon();
  engine_.reset();
  store_.reset();
}

void Rig::open() {
  store_ = std::make_unique<store::Store>(sqlite::open_sqlite({.path = file_}),
                                          store_options(options_, context_->get_executor()));
  engine::Parts parts{*store_, clock_, entropy_, signer_, {&world_->chain()}, {}, {}};
  for (const auto& method : methods_) parts.methods.push_back(method.get());
  for (const domain::Address& account : keys_.accounts) {
    parts.accounts.push_back({world_->chain().info().id, account, {}});
  }
  engine_ = std::make_unique<engine::Engine>(context_->get_executor(), config_for(options_),
                                             std::move(parts));
}

void Rig::run(boost::asio::awaitable<void> work) {
  std::exception_ptr failed;
  boost::asio::co_spawn(*context_, std::move(work), [&](const std::exception_ptr& error) {
    failed = error;
    context_->stop();
  });
  context_->restart();
  context_->run();
  if (failed) std::rethrow_exception(failed);
}

void Rig::reopen() { open(); }

// The frames first, some of which sleep in timers of the context; then what they use.
void Rig::crash() {
  engine_->abandon();
  store_->abandon();
  store_->close();
  context_ = std::make_unique<boost::asio::io_context>(1);
  engine_.reset();
  store_.reset();
}

boost::asio::awaitable<std::uint64_t> Rig::row_writes() {
  co_return co_await store_->read(
      [](store::Txn& txn) { return static_cast<std::uint64_t>(txn.db().total_changes()); });
}

std::int64_t Rig::newest_row() const {
  const auto reader = sqlite::open_sqlite({.path = file_, .read_only = true})->open_reader();
  sql::Statement& statement = reader->prepare("SELECT coalesce(max(row), 0) FROM intents");
  statement.step();
  const std::int64_t out = statement.get_int(0);
  statement.reset();
  return out;
}

std::vector<Recorded> Rig::records() const {
  const auto reader = sqlite::open_sqlite({.path = file_, .read_only = true})->open_reader();
  sql::Statement& statement = reader->prepare("SELECT ref, state FROM intents WHERE row > $1");
  statement.bind_int(1, others_to_);
  std::vector<Recorded> out;
  while (statement.step()) {
    const auto state = domain::intent_state_from(statement.get_text(1));
    out.push_back({head_of(statement.get_blob(0)), state.value_or(domain::IntentState::created)});
  }
  statement.reset();
  return out;
}

}  // namespace holdfast::load
