// Owns: the engine's life (start, drain, abandon) and the reads of its public face.
#include <holdfast/engine/engine.hpp>

#include <algorithm>

#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/requests.hpp"
#include "engine/shown.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

constexpr std::int64_t drain_look_ms = 20;

ApiKey key_of(store::ApiKey row) {
  ApiKey out{std::move(row.name), row.sha256,     std::move(row.scopes),
             row.created_ms,      row.revoked_ms, {}};
  if (row.salt) out.salt = KeySalt{row.salt->value};
  return out;
}

Error no_such_intent() { return refuse(EngineError::not_found, "no such payment intent"); }

bool is_theirs(const domain::Intent& intent, const std::optional<domain::CallerId>& caller) {
  return !caller || intent.caller == *caller;
}

}  // namespace

Engine::Engine(boost::asio::any_io_executor executor, Config config, Parts parts)
    : core_(std::make_shared<Core>(std::move(executor), std::move(config), std::move(parts))) {}

Engine::~Engine() = default;

Awaitable<void> Engine::start() {
  const auto core = core_;
  ensure(!core->started, "an engine starts once");
  core->started = true;
  co_await recover(*core);
  for (const auto& unit : core->units) core->listeners.spawn(listen(*core, *unit));
  core->loops.spawn(dispatch(*core));
  core->loops.spawn(keep_leases(*core));
  core->loops.spawn(sweep(*core));
  for (const auto& unit : core->units) {
    if (unit->chain.info().ordered) core->loops.spawn(keep_accounts(*core, *unit));
  }
}

Awaitable<std::size_t> Engine::drain(std::int64_t deadline_ms) {
  const auto core = core_;
  core->draining = true;
  core->wake();
  const std::int64_t until_ms = core->parts.clock.mono_ms() + deadline_ms;
  core->waiters.changed_all();
  while ((core->leasing || core->deliveries.size() > 0) && core->parts.clock.mono_ms() < until_ms) {
    co_await core->parts.clock.sleep(drain_look_ms);
  }
  // The loops first: a lease on its way still starts deliveries.
  core->loops.cancel();
  co_await core->loops.join_quietly();
  const std::size_t cut_short = core->deliveries.size();
  core->deliveries.cancel();
  co_await core->deliveries.join_quietly();
  core->listeners.cancel();
  co_await core->listeners.join_quietly();
  log::info("drained", {{"cut_short", cut_short}});
  co_return cut_short;
}

void Engine::abandon() {
  core_->loops.abandon();
  core_->deliveries.abandon();
  core_->listeners.abandon();
  core_->turns.abandon();
  core_->waiters.abandon();
  core_->work.abandon();
  for (const auto& unit : core_->units) {
    unit->broadcaster.abandon();
    unit->handed_over.abandon();
    unit->account_turns.abandon();
  }
}

void Engine::renew(store::Store& store) {
  ensure(core_->draining && !core_->leasing && core_->deliveries.size() == 0,
         "an engine is renewed after its drain");
  const Parts& from = core_->parts;
  auto fresh = std::make_shared<Core>(core_->executor, core_->config,
                                      Parts{store, from.clock, from.entropy, from.signer,
                                            from.chains, from.methods, from.accounts});
  fresh->stats = core_->stats;
  core_ = std::move(fresh);
}

bool Engine::broken() const { return core_->broken || !core_->parts.store.usable(); }

std::string Engine::trouble() const {
  const auto trouble = core_->parts.store.trouble();
  if (!trouble) return {};
  switch (trouble->cause) {
    case sql::Cause::full: return "the store cannot be written: its disk is full";
    case sql::Cause::read_only: return "the store cannot be written: it is read-only";
    case sql::Cause::corrupt: return "the store is damaged";
    default: return "the store cannot be written: its disk fails";
  }
}

bool Engine::draining() const { return core_->draining; }
boost::asio::any_io_executor Engine::executor() const { return core_->executor; }

Awaitable<Result<domain::Intent>> Engine::find(std::optional<domain::CallerId> caller,
                                               domain::IntentId id) {
  const auto core = core_;
  auto intent = co_await core->parts.store.read(
      [id](store::Txn& txn) { return store::find_intent(txn, id); });
  if (!intent || !is_theirs(*intent, caller)) co_return no_such_intent();
  co_return std::move(*intent);
}

Awaitable<Result<domain::Intent>> Engine::find_ref(std::optional<domain::CallerId> caller,
                                                   domain::Ref ref) {
  const auto core = core_;
  auto intent = co_await core->parts.store.read(
      [ref](store::Txn& txn) { return store::find_by_ref(txn, ref); });
  if (!intent || !is_theirs(*intent, caller)) co_return no_such_intent();
  co_return std::move(*intent);
}

Awaitable<Result<Detail>> Engine::detail(std::optional<domain::CallerId> caller,
                                         domain::IntentId id) {
  const auto core = core_;
  struct Rows {
    std::optional<domain::Facts> facts;
    std::vector<store::Event> events;
    std::vector<store::EntryRow> entries;
  };
  Rows rows = co_await core->parts.store.read([id](store::Txn& txn) {
    Rows out;
    out.facts = store::find_facts(txn, id);
    if (!out.facts) return out;
    out.events = store::history_of(txn, id);
    out.entries = store::entries_of(txn, id);
    return out;
  });
  if (!rows.facts || !is_theirs(rows.facts->intent, caller)) co_return no_such_intent();
  co_return shown(std::move(*rows.facts), rows.events, std::move(rows.entries));
}

Awaitable<Page> Engine::list(ListQuery query) {
  const auto core = core_;
  const store::ListFilter filter{std::move(query.caller), query.state,
                                 std::clamp<std::size_t>(query.limit, 1, 500), query.cursor};
  auto found = co_await core->parts.store.read(
      [filter](store::Txn& txn) { return store::list_intents(txn, filter); });
  co_return Page{std::move(found.intents), found.next};
}

Awaitable<std::vector<BalanceItem>> Engine::balances(std::size_t limit) {
  const auto core = core_;
  const auto rows = co_await core->parts.store.read(
      [limit](store::Txn& txn) { return store::balances(txn, limit); });
  std::vector<BalanceItem> out;
  out.reserve(rows.size());
  for (const store::BalanceRow& row : rows) out.push_back({row.key, row.balance});
  co_return out;
}

Awaitable<std::vector<HistoryItem>> Engine::events(std::int64_t after, std::size_t limit) {
  const auto core = core_;
  const auto rows = co_await core->parts.store.read(
      [after, limit](store::Txn& txn) { return store::events_after(txn, after, limit); });
  std::vector<HistoryItem> out;
  out.reserve(rows.size());
  for (const store::Event& event : rows) out.push_back(shown(event));
  co_return out;
}

std::vector<ChainStatus> Engine::chains() const {
  std::vector<ChainStatus> out;
  for (const auto& unit : core_->units) {
    ChainStatus status;
    status.id = unit->id();
    status.network = unit->chain.info().network;
    for (const auto& [name, method] : unit->methods) {
      for (ports::AssetInfo& asset : method->assets()) status.assets.push_back(std::move(asset));
    }
    status.can_send = unit->usable && unit->halted.empty() &&
                      std::ranges::any_of(unit->accounts, [](const AccountState& account) {
                        return account.counts && account.blocked.empty() && !account.is_unfunded;
                      });
    status.usable = unit->usable;
    status.why = unit->why;
    status.latest = unit->view.heights().latest;
    status.finalized = unit->view.heights().finalized;
    status.latest_age_ms = core_->parts.clock.mono_ms() - unit->head_age.since_ms;
    status.endpoints = unit->chain.endpoints();
    if (!unit->unvouched.empty()) status.endpoints.push_back(unit->unvouched);
    for (const auto& [name, method] : unit->methods) status.methods.push_back(name);
    for (const AccountState& account : unit->accounts) {
      status.accounts.push_back(account.address.value);
      if (!account.blocked.empty()) status.why = account.blocked;
    }
    if (!unit->halted.empty()) status.why = unit->halted;
    out.push_back(std::move(status));
  }
  return out;
}

std::string Engine::typed_data(const domain::Intent& intent) const {
  ports::Method* const method = core_->method(intent.terms);
  return method == nullptr ? std::string{} : method->typed_data(intent);
}

Stats Engine::stats() const {
  Stats stats = core_->stats;
  stats.in_flight_now = core_->held.size();
  stats.store_writable = core_->parts.store.usable() && !core_->parts.store.trouble();
  for (const auto& unit : core_->units) stats.watched_now += unit->watch.size();
  return stats;
}

Awaitable<std::vector<ApiKey>> Engine::api_keys() {
  const auto core = core_;
  auto rows = co_await core->parts.store.read([](store::Txn& txn) { return store::api_keys(txn); });
  std::vector<ApiKey> out;
  out.reserve(rows.size());
  for (store::ApiKey& row : rows) out.push_back(key_of(std::move(row)));
  co_return out;
}

Awaitable<Result<AddedKey>> Engine::add_api_key(ApiKey key, std::optional<Caller> who) {
  const auto core = core_;
  store::ApiKey row{
      std::move(key.name), key.sha256, std::move(key.scopes), core->wall_ms(), {}, {}, {}};
  if (key.salt) row.salt = store::KeySalt{key.salt->value};
  if (who) row.request = request_of(*who, "keys");
  auto added = co_await core->parts.store.write(
      [row, by = who ? who->id.value : std::string()](store::Txn& txn) {
        return store::add_api_key(txn, row, by);
      });
  if (!added) co_return at_the_face(added.error());
  co_return AddedKey{key_of(std::move(added->key)), added->replayed};
}

Awaitable<Result<void>> Engine::revoke_api_key(std::string name, std::string who) {
  const auto core = core_;
  auto revoked =
      co_await core->parts.store.write([name, who, now_ms = core->wall_ms()](store::Txn& txn) {
        return store::revoke_api_key(txn, name, now_ms, who);
      });
  if (!revoked) co_return at_the_face(revoked.error());
  co_return revoked;
}

}  // namespace holdfast::engine
