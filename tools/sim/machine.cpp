#include "machine.hpp"

#include <string_view>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "people.hpp"
#include "store/mark.hpp"

namespace holdfast::campaign {

namespace asio = boost::asio;

namespace {

constexpr std::int64_t block_ms = 2'000;
constexpr std::int64_t drain_ms = 5'000;
constexpr std::uint64_t born_here = 8;  ///< one seed in so many makes its own first store

sqlite::SqliteOptions file_on(const sim::SimDisk& disk) {
  sqlite::SqliteOptions out;
  out.path = "pay.db";
  out.vfs = disk.name();
  out.lock = out.mark = false;
  out.checkpoint_pages = 64;
  out.cache_kib = 4'096;
  return out;
}

// A store just made, as most seeds begin with: making it takes a tenth of a seed's time.
const sim::SimDisk::Image& new_store() {
  static const sim::SimDisk::Image image = [] {
    const sim::SimDisk disk("new", 1);
    sqlite::open_sqlite(file_on(disk))->open_writer();
    return disk.image();
  }();
  return image;
}

std::vector<domain::Address> account_names(std::size_t count) {
  std::vector<domain::Address> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back({"relayer" + std::to_string(i)});
  return out;
}

sim::ScriptedChainOptions chain_options(const Setting& setting) {
  sim::ScriptedChainOptions out;
  out.block_ms = block_ms;
  out.latency_ms = setting.latency_ms;
  out.finality_lag = setting.finality_lag;
  out.info.max_unconsumed = setting.max_unconsumed;
  out.info.fee_ceiling = setting.fee_ceiling;
  out.info.poll_ms = block_ms;
  return out;
}

// Everything that waits for a day waits for minutes here.
engine::Config config_of(const Setting& setting) {
  engine::Config out;
  out.expires_after_s = 900;
  out.validity_s = 600;
  out.publish_margin_s = 10;
  out.policy.review_after_ms = 120'000;
  out.policy.grace_s = setting.grace_s;
  out.policy.settle_short = setting.settle_short;
  out.most_steps = setting.most_steps;
  return out;
}

// Each engine's own: whoever signed something is known by it.
class TellingSigner final : public ports::Signer {
 public:
  TellingSigner(ports::Signer& below, Watch& watch, std::string who)
      : below_(below), watch_(watch), who_(std::move(who)) {}

  std::vector<domain::Address> accounts() const override { return below_.accounts(); }
  bool local() const override { return below_.local(); }
  asio::awaitable<ports::Outcome<Bytes>> sign(domain::Address account, Digest digest) override {
    watch_.signed_by(digest, who_);
    return below_.sign(std::move(account), digest);
  }

 private:
  ports::Signer& below_;
  Watch& watch_;
  std::string who_;
};

}  // namespace

Machine::Machine(const Setting& setting, Tally& counts)
    : tally(counts),
      world(setting.seed),
      first_(setting.seed % born_here == 0 ? sim::SimDisk::Image{} : new_store()),
      disk("sim", sim::Chance(setting.seed ^ 0x6469736bULL).next()),
      weather(sim::Chance(setting.seed ^ 0x77656174ULL).next()),
      endpoints(sim::Chance(setting.seed ^ 0x656e6473ULL).next(), setting.endpoints),
      chain(world.clock(), chain_options(setting)),
      accounts(account_names(setting.accounts)),
      watch(chain, {accounts.begin(), accounts.end()}, setting.settle_short, tally),
      setting_(setting),
      payouts_(chain),
      authorizations_(chain),
      signer_(accounts) {
  disk.put_back(first_);
  Sender::expect(tally);
  for (const std::string_view name :
       {"backup kept", "commit not looked at", "crash: killed", "crash: power lost", "drained",
        "engine stopped itself", "old engine noticed", "start failed"}) {
    tally.expect("machine", name);
  }
  if (setting.has_sender) {
    sender = std::make_unique<Sender>(sim::Chance(setting.seed ^ 0x6f7574ULL).next(), world, watch,
                                      tally);
    watch.also_on(sender->chain);
  }
  const U256 plenty = *U256::from_decimal("1000000000000000000");
  std::vector<domain::Address> owners = accounts;
  owners.push_back(payer);
  owners.push_back(thief);
  for (const domain::Address& owner : owners) {
    chain.give(owner, domain::native_asset, plenty);
    for (const Token& token : tokens()) chain.give(owner, token.asset, plenty);
  }
  for (const Token& token : tokens()) chain.set_token(token.asset, token.kind);
  chain.stand_in(&weather);
  if (!setting.endpoints.empty()) chain.stand_behind(&endpoints);
  chain.on_post(
      [this](const domain::TxHash& hash) { watch.posted(hash, world.clock().wall_ms() / 1'000); });
}

Machine::~Machine() {
  if (has_process()) end_by(End::process);
}

std::string Machine::boot() {
  store::StoreOptions options;
  options.waiters = world.executor();
  options.runner = world.executor();
  failed_syncs_ = disk.counts().failed_syncs;
  full_ = disk.counts().full;
  had_rival_ = false;
  try {
    store_ = std::make_unique<store::Store>(watch.over(sqlite::open_sqlite(file_on(disk)), disk),
                                            options);
  } catch (const store::StoreUnavailable& error) {
    if (error.cause() == sql::Cause::corrupt) watch.say(2, "the store", error.what());
    return error.what();
  }
  engine_ = make_engine();
  spawn_start(*engine_);
  return {};
}

std::unique_ptr<engine::Engine> Machine::make_engine() {
  const std::string name = "engine " + std::to_string(signers_.size() + 1);
  signers_.push_back(std::make_unique<TellingSigner>(signer_, watch, name));
  engine::Parts parts{*store_,
                      world.clock(),
                      world.entropy(),
                      *signers_.back(),
                      {&chain},
                      {&payouts_, &authorizations_},
                      {}};
  for (const domain::Address& account : accounts) {
    parts.accounts.push_back({chain.info().id, account, std::nullopt});
  }
  if (sender) {
    parts.chains.push_back(&sender->chain);
    parts.methods.push_back(&sender->payouts);
    parts.accounts.push_back({Sender::name(), accounts.front(), std::nullopt});
  }
  engine::Config config = config_of(setting_);
  config.instance_name = name;
  return std::make_unique<engine::Engine>(world.executor(), std::move(config), std::move(parts));
}

void Machine::spawn_start(engine::Engine& engine) {
  up_ = failed_ = false;
  asio::co_spawn(world.executor(), engine.start(),
                 [this, life = life_](const std::exception_ptr& error) {
                   if (life != life_) return;
                   failed_ = error != nullptr;
                   up_ = error == nullptr;
                   if (up_) watch.started();
                 });
}

// Also of those who asked, and were not answered: frames first, then what they use.
void Machine::end_frames() {
  ++life_;
  for (const auto& gone : gone_) gone->abandon();
  if (old_) old_->abandon();
  if (engine_) engine_->abandon();
  store_->abandon();
  world.crash();
  gone_.clear();
  old_.reset();
  watch.rival_ends();
  engine_.reset();
  store_.reset();
  up_ = failed_ = stopping_ = stopped_ = old_stopping_ = old_stopped_ = false;
}

void Machine::die(End end) {
  ++crashes_;
  tally.count("machine", end == End::power ? "crash: power lost" : "crash: killed");
  end_by(end);
}

void Machine::end_by(End end) {
  disk.freeze();
  end_frames();
  if (end == End::power) {
    disk.cut_power();
  } else {
    disk.restart();
  }
}

bool Machine::drain() {
  if (!up_ || stopping_) return false;
  stopping_ = true;
  up_ = false;
  asio::co_spawn(world.executor(), engine_->drain(drain_ms),
                 [this, life = life_](const std::exception_ptr& error, std::size_t cut_short) {
                   if (life != life_) return;
                   stopped_ = true;
                   cut_short_ = error ? std::nullopt : std::optional(cut_short);
                 });
  return true;
}

bool Machine::start_rival() {
  if (!up_ || old_ || stopping_) return false;
  watch.rival_starts();
  had_rival_ = true;
  old_ = std::move(engine_);
  watch.forgive_halt();  // what only the first knew, the second does not
  old_stopping_ = old_stopped_ = false;
  engine_ = make_engine();
  spawn_start(*engine_);
  return true;
}

bool Machine::look_after() {
  if (!has_process()) return true;
  died_in_write_ = disk.frozen();
  if (died_in_write_) {
    die(end_in_write_);
    return true;
  }
  if (old_ && old_->broken() && !old_stopping_) {
    old_stopping_ = true;
    tally.count("machine", "old engine noticed");
    asio::co_spawn(world.executor(), old_->drain(drain_ms),
                   [this, life = life_](const std::exception_ptr&, std::size_t) {
                     if (life == life_) old_stopped_ = true;
                   });
  }
  if (old_ && old_stopped_) {
    gone_.push_back(std::move(old_));
    watch.rival_ends();
  }
  // As the server does: what has stopped itself is drained, and begun again from what is on disk.
  if (up_ && engine_->broken()) {
    tally.count("machine", "engine stopped itself");
    if (disk.counts().failed_syncs == failed_syncs_) {
      watch.say(0, "the engine", "it stopped itself, and nothing was wrong with its store");
    }
    drain();
  }
  if (failed_) {
    tally.count("machine", "start failed");
    end_by(End::process);
    return true;
  }
  if (stopped_) {
    if (old_) {
      end_by(End::process);
      return true;
    }
    tally.count("machine", "drained");
    // Where the store took no writes for a while, what was delivered may not be acked.
    if (cut_short_ && disk.counts().full == full_ && disk.counts().failed_syncs == failed_syncs_ &&
        !had_rival_) {
      watch.drained(*cut_short_);
    }
    end_frames();
    disk.restart();
    return true;
  }
  return false;
}

void Machine::keep_backup() { backup_ = {disk.image(), watch.last_event()}; }

// A store that went back no further than to its newest mark cannot be told from one that did not,
// and a mark is some seconds old at most: backups are older.
bool Machine::restore_backup() {
  const auto mark = store::decode_mark(disk.side_content().value_or(""));
  const bool is_marked = mark && mark->event > backup_.event;
  if (watch.last_event() != backup_.event && !is_marked) return false;
  watch.store_went_back();
  disk.put_back(backup_.image);
  return true;
}

}  // namespace holdfast::campaign
