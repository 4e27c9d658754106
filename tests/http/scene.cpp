#include "scene.hpp"

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <holdfast/http/keys.hpp>
#include <holdfast/sqlite/sqlite.hpp>

#include "sim/chain.hpp"
#include "sim/entropy.hpp"
#include "sim/methods.hpp"
#include "sim/signer.hpp"
#include "sim/wire.hpp"
#include "store/writes.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_folder.hpp"
#include "x402.hpp"

namespace holdfast::testing {

namespace asio = boost::asio;

namespace {

constexpr std::int64_t simulated_ms_each_turn = 20;
const domain::AssetId token_asset{"tkn"};
const domain::Address payer{"payer"};
const domain::Address relayer{"relayer0"};
const domain::AssetId x402_token{"0x" + std::string("abababababababababababababababababababab")};

sim::ScriptedChainOptions chain_options(const SceneOptions& options) {
  sim::ScriptedChainOptions out;
  out.block_ms = options.block_ms;
  out.latency_ms = options.chain_latency_ms;
  return out;
}

}  // namespace

struct Scene::World {
  explicit World(SceneOptions wanted)
      : options(std::move(wanted)),
        chain(clock, chain_options(options)),
        payouts(chain),
        authorizations(chain),
        signer({relayer}) {
    const auto plenty = *U256::from_decimal("1000000000000000000000");
    for (const domain::Address& owner : {payer, relayer}) {
      chain.give(owner, token_asset, U256::max());
      chain.give(owner, domain::native_asset, plenty);
    }
    authorizations.offer(
        {x402_token, x402::token_name, x402::token_version, {authorizations.name().value}});
    chain.give({x402::payer}, x402_token, U256::max());
    options.http.port = 0;
    chain.script().set_down(options.chain_starts_down);
  }

  /// Runs the coroutine that `make` returns on the server's thread, and waits for its end.
  template <class Make>
  auto await(Make make) {
    return asio::co_spawn(context, make(), asio::use_future).get();
  }
  /// Runs a plain function there.
  template <class F>
  auto on_server(F function) {
    std::packaged_task<std::invoke_result_t<F>()> task(std::move(function));
    auto result = task.get_future();
    asio::post(context, [&task] { task(); });
    return result.get();
  }

  void run() {
    while (!ended) {
      context.run_for(std::chrono::milliseconds(1));
      clock.advance_to(clock.mono_ms() + simulated_ms_each_turn);
    }
  }

  void open_store() {
    sqlite::SqliteOptions where;
    where.path = options.on_disk ? folder / "http.db" : ":memory:";
    where.lock = options.on_disk;
    if (options.on_disk) where.vfs = disk.name();
    store::StoreOptions store_options;
    store_options.waiters = context.get_executor();
    store = std::make_unique<store::Store>(sqlite::open_sqlite(where), store_options);
  }

  void start() {
    on_server([this] {
      if (!store) open_store();
      engine::Parts parts{*store, clock, entropy, signer, {}, {}, {}};
      if (options.with_chain) {
        parts.chains = {&chain};
        parts.methods = {&payouts, &authorizations};
        parts.accounts = {{chain.info().id, relayer, std::nullopt}};
      }
      engine = std::make_unique<engine::Engine>(context.get_executor(), engine::Config{},
                                                std::move(parts));
      server = std::make_unique<http::Server>(context.get_executor(), *engine, clock, entropy,
                                              options.http);
    });
    await([this] { return engine->start(); });
    await([this] { return server->start(); });
  }

  void stop() {
    if (server) await([this] { return server->stop(2'000); });
    await([this] { return engine->drain(10'000); });
    on_server([this] {
      server.reset();
      engine.reset();
    });
  }

  void end() {
    on_server([this] {
      server.reset();
      engine.reset();
      store.reset();
    });
    ended = true;
    thread.join();
  }

  SceneOptions options;
  test::TempFolder folder;
  test::FaultVfs disk{"http"};
  asio::io_context context;
  sim::SimClock clock;
  sim::SimEntropy entropy{1};
  sim::ScriptedChain chain;
  sim::ScriptedPayout payouts;
  sim::ScriptedAuthorization authorizations;
  sim::ScriptedSigner signer;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<http::Server> server;
  std::uint64_t keys_added = 0;
  std::atomic<bool> ended = false;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread;
};

Scene::Scene(SceneOptions options) : world_(std::make_unique<World>(std::move(options))) {
  world_->thread = std::thread([world = world_.get()] { world->run(); });
  try {
    world_->start();
  } catch (...) {
    world_->end();
    throw;
  }
}

Scene::~Scene() {
  if (world_->engine) world_->stop();
  world_->end();
}

std::uint16_t Scene::port() const {
  return world_->on_server([this] { return world_->server->port(); });
}

std::string Scene::add_key(const std::string& name, std::vector<std::string> scopes) {
  // The first key comes as from the command line, before the server knows any.
  if (world_->keys_added++ == 0) {
    const std::string token =
        world_->on_server([this] { return http::make_token(world_->entropy); });
    add_key_elsewhere("root", token, {"ops"});
    world_->on_server([] {});
    root_token_ = token;
  }
  std::string list;
  for (const std::string& scope : scopes) list += (list.empty() ? "\"" : ",\"") + scope + "\"";
  HttpAnswer answer;
  do {
    answer = post("/v1/keys", root_token_, "add-" + name,
                  R"({"name":")" + name + R"(","scopes":[)" + list + "]}");
  } while (answer.status == 401);  // until the server has read the keys again
  if (answer.status != 201) throw std::runtime_error("no key: " + answer.body);
  return answer.at("token");
}

void Scene::add_key_elsewhere(const std::string& name, const std::string& token,
                              std::vector<std::string> scopes) {
  engine::ApiKey key;
  key.name = name;
  key.sha256 = http::hash_token(token);
  key.scopes = std::move(scopes);
  const auto added = world_->await([this, key] { return world_->engine->add_api_key(key); });
  if (!added) throw std::runtime_error("no key: " + added.error().detail);
}

HttpAnswer Scene::get(const std::string& path, const std::string& token) {
  Client client(port());
  client.send(request_text("GET", path, token, {}, {}));
  return client.read();
}

HttpAnswer Scene::post(const std::string& path, const std::string& token, const std::string& key,
                       const std::string& body) {
  Client client(port());
  client.send(request_text("POST", path, token, key, body));
  return client.read();
}

HttpAnswer Scene::remove(const std::string& path, const std::string& token) {
  Client client(port());
  client.send(request_text("DELETE", path, token, {}, {}));
  return client.read();
}

std::string Scene::signature(const std::string& id) {
  const auto found = world_->await(
      [this, id] { return world_->engine->find(std::nullopt, *domain::intent_id_from(id)); });
  return to_0x(sim::authorize(*found).signature);
}

std::size_t Scene::moved(const std::string& id) {
  const auto found = world_->await(
      [this, id] { return world_->engine->find(std::nullopt, *domain::intent_id_from(id)); });
  return world_->on_server([this, ref = found->ref] { return world_->chain.moved(ref); });
}

std::size_t Scene::connections() {
  return world_->on_server([this] { return world_->server->connections(); });
}

void Scene::restart() {
  world_->stop();
  world_->start();
}

std::size_t Scene::stop(std::int64_t deadline_ms) {
  return world_->await([this, deadline_ms] { return world_->server->stop(deadline_ms); });
}

void Scene::drop_server() {
  world_->on_server([this] { world_->server.reset(); });
}

std::string Scene::second_server(http::Options options) {
  return world_->await(
      [this, options]() -> asio::awaitable<std::string> { return try_server(*world_, options); });
}

asio::awaitable<std::string> Scene::try_server(World& world, http::Options options) {
  http::Server server(world.context.get_executor(), *world.engine, world.clock, world.entropy,
                      std::move(options));
  try {
    co_await server.start();
  } catch (const std::runtime_error& error) {
    co_return error.what();
  }
  co_return std::string();
}

void Scene::drain_engine() {
  world_->await([this] { return world_->engine->drain(10'000); });
}

void Scene::set_chain_down(bool down) {
  world_->on_server([this, down] { world_->chain.script().set_down(down); });
}

void Scene::hold_pool(bool hold) {
  world_->on_server([this, hold] { world_->chain.hold_pool(hold); });
}

std::string Scene::earned() {
  return world_->on_server(
      [this] { return world_->chain.balance({x402::payee}, x402_token).decimal(); });
}

void Scene::park(const std::string& id) {
  store::LeaseRequest lease;
  lease.now_ms = INT64_MAX / 2;
  lease.receipts = {world_->on_server([this] { return world_->entropy.bytes<domain::Receipt>(); })};
  store::Move move;
  move.id = *domain::intent_id_from(id);
  move.to = domain::IntentState::settling;
  move.reason = store::claimed_as_paid;  // it takes no number here
  move.actor = domain::Actor::relayer;
  move.receipt = lease.receipts.front();
  store::Move park = move;
  park.to = domain::IntentState::needs_review;
  park.reason = "budget_spent";
  park.who = "test";
  park.ack = true;
  park.park = "budget_spent";
  const bool parked = world_->await([this, lease, move, park] {
    return world_->store->write([lease, move, park](store::Txn& txn) {
      return store::lease_jobs(txn, lease).size() == 1 &&
             store::move_intent(txn, move).has_value() && store::move_intent(txn, park).has_value();
    });
  });
  if (!parked) throw std::runtime_error("not parked");
}

void Scene::fill_disk() { world_->disk.fill_up(); }
void Scene::make_room() { world_->disk.make_room(); }
void Scene::fail_next_sync() { world_->disk.fail_sync(test::FileKind::wal, 1); }

std::string payout_body(const std::string& amount) {
  return R"({"chain":"sim:1","method":"payout","asset":"tkn","payee":"merchant","amount":")" +
         amount + R"("})";
}

std::string transfer_body(const std::string& amount) {
  return R"({"chain":"sim:1","method":"transfer_authorization","asset":"tkn","payer":"payer",)"
         R"("payee":"merchant","amount":")" +
         amount + R"("})";
}

}  // namespace holdfast::testing
