#include "rig.hpp"

#include <holdfast/base/log.hpp>
#include <holdfast/domain/refs.hpp>

#include <doctest/doctest.h>

namespace holdfast::testing {
namespace {

const domain::AssetId token{"tkn"};
const domain::Address payer{"payer"};
const domain::Address merchant{"merchant"};

std::vector<domain::Address> account_names(std::size_t count) {
  std::vector<domain::Address> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back({"relayer" + std::to_string(i)});
  return out;
}

sim::ScriptedChainOptions chain_options(const RigOptions& options) {
  sim::ScriptedChainOptions out;
  out.block_ms = options.block_ms;
  out.latency_ms = options.latency_ms;
  out.info.max_unconsumed = options.max_unconsumed;
  out.info.posts_at_once = options.posts_at_once;
  return out;
}

}  // namespace

Rig::Rig(RigOptions wanted)
    : options(std::move(wanted)),
      world(options.seed),
      chain(world.clock(), chain_options(options)),
      payouts(chain),
      authorizations(chain),
      accounts(account_names(options.accounts)),
      signer(accounts) {
  log::set_sink([](log::Level, std::string_view) {});  // what matters is in the store
  for (const domain::Address& account : accounts) {
    chain.give(account, domain::native_asset, *U256::from_decimal("1000000000000000000"));
    chain.give(account, token, *U256::from_decimal("1000000000000"));
  }
  chain.give(payer, token, *U256::from_decimal("1000000000000"));
  if (options.with_opaque) {
    opaque = std::make_unique<sim::OpaqueChain>(world.clock());
    opaque_payouts = std::make_unique<sim::ScriptedPayout>(*opaque);
  }
  reopen_store();
}

Rig::~Rig() {
  if (engine) crash_without_restart();
}

void Rig::reopen_store() {
  store.reset();
  if (options.synced_only) disk.keep_synced();
  sqlite::SqliteOptions file;
  file.path = options.on_disk ? folder / "pay.db" : ":memory:";
  file.vfs = options.on_disk ? disk.name() : "";
  file.lock = options.on_disk;
  store::StoreOptions store_options;
  store_options.waiters = world.executor();
  store_options.runner = world.executor();
  store_options.max_queued = options.max_queued;
  store = std::make_unique<store::Store>(sqlite::open_sqlite(file), store_options);
}

void Rig::start() {
  engine::Parts parts{
      *store, world.clock(), world.entropy(), signer, {&chain}, {&payouts, &authorizations}, {}};
  for (const domain::Address& account : accounts) {
    parts.accounts.push_back({chain.info().id, account, std::nullopt});
  }
  if (opaque) {
    parts.chains.push_back(opaque.get());
    parts.methods.push_back(opaque_payouts.get());
    parts.accounts.push_back({opaque->info().id, accounts.front(), std::nullopt});
  }
  engine = std::make_unique<engine::Engine>(world.executor(), options.config, std::move(parts));
  run(engine->start());
}

void Rig::crash_without_restart() {
  engine->abandon();
  store->abandon();
  world.crash();
  engine.reset();
}

void Rig::crash() {
  crash_without_restart();
  start();
}

engine::NewPayment Rig::payout(const std::string& amount) const {
  engine::NewPayment out;
  out.chain = "sim:1";
  out.method = "payout";
  out.asset = token.value;
  out.payee = merchant.value;
  out.amount = *U256::from_decimal(amount);
  return out;
}

engine::NewPayment Rig::from_payer(const std::string& amount) const {
  engine::NewPayment out = payout(amount);
  out.method = "transfer_authorization";
  out.payer = payer.value;
  return out;
}

engine::Caller Rig::caller(const std::string& key) const {
  engine::Caller out;
  out.id = {"shop"};
  out.idempotency_key = key;
  out.fingerprint = sha256(as_bytes(key));
  return out;
}

engine::Caller Rig::by(const std::string& who) {
  engine::Caller out = caller(who + std::to_string(++requests));
  out.id = {who};
  return out;
}

domain::Intent Rig::create(const std::string& key, const engine::NewPayment& payment) {
  auto answer = run(engine->create(caller(key), payment));
  REQUIRE_MESSAGE(answer.has_value(), answer.error().detail);
  return answer->intent;
}

domain::Intent Rig::create_authorized(const std::string& key, const engine::NewPayment& payment) {
  const domain::Intent intent = create(key, payment);
  auto answer =
      run(engine->authorize(caller(key + "-sign"), intent.id, sim::authorize(intent).signature));
  REQUIRE_MESSAGE(answer.has_value(), answer.error().detail);
  return answer->intent;
}

domain::Intent Rig::find(const domain::IntentId& id) {
  auto found = run(engine->find(std::nullopt, id));
  REQUIRE(found.has_value());
  return *found;
}

engine::Detail Rig::detail(const domain::IntentId& id) {
  auto found = run(engine->detail(std::nullopt, id));
  REQUIRE(found.has_value());
  return *found;
}

std::optional<store::JobRow> Rig::job(const domain::IntentId& id) {
  return read([id](store::Txn& txn) { return store::find_job(txn, id); });
}

void Rig::mine_for(int seconds) {
  for (int i = 0; i < seconds; ++i) {
    chain.mine();
    world.run_for(1'000);
  }
}

bool Rig::reaches(const domain::IntentId& id, domain::IntentState wanted, std::int64_t limit_ms) {
  const std::int64_t until_ms = world.clock().mono_ms() + limit_ms;
  while (state(id) != wanted) {
    if (world.clock().mono_ms() >= until_ms) return false;
    world.run_for(50);
  }
  return true;
}

store::AuditReport Rig::audit() {
  return read([](store::Txn& txn) { return store::audit(txn, {}); });
}

domain::SignedAmount Rig::pending_hold(const std::string& on) {
  const std::string account = domain::hold_account({on});
  for (const engine::BalanceItem& item : run(engine->balances(500))) {
    if (item.key.account == account) return item.balance.pending;
  }
  return {};
}

void check_paid_once(Rig& rig, const domain::Intent& intent) {
  CHECK(rig.state(intent.id) == domain::IntentState::settled);
  CHECK(rig.chain.moved(intent.ref) == 1);
}

void check_audit(Rig& rig) {
  const auto report = rig.audit();
  for (const auto& finding : report.findings) MESSAGE(finding.subject << ": " << finding.sentence);
  CHECK(report.good());
}

}  // namespace holdfast::testing
