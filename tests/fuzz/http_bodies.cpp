// Texts as requests, one after another, through the real routes to a real engine and store in
// memory. No request is the server's fault; an answer is well-formed and holds no token; the same
// request again gets the same answer; and the store's audit finds nothing wrong afterwards.
#include <boost/json/parse.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/http/keys.hpp>
#include <holdfast/sqlite/sqlite.hpp>

#include "fuzz/request_text.hpp"
#include "http/api.hpp"
#include "sim/chain.hpp"
#include "sim/disk.hpp"
#include "sim/methods.hpp"
#include "sim/signer.hpp"
#include "sim/wire.hpp"
#include "sim/world.hpp"
#include "store/audit.hpp"

namespace holdfast {
namespace {

namespace json = boost::json;

constexpr std::size_t most_requests = 8;
constexpr std::string_view between = "\n----\n";  // of two requests in one input
const std::string token = "hf_Zq7_everything_is_allowed_to_this_one";
const domain::Address payer{"payer"};
const domain::Address relayer{"relayer0"};
const domain::AssetId x402_token{"0x" + std::string(40, 'a')};

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::unique_ptr<store::Store> open_store(sim::SimWorld& world, const sim::SimDisk& disk) {
  store::StoreOptions options;
  options.waiters = world.executor();
  options.runner = world.executor();
  sqlite::SqliteOptions file;
  file.path = "pay.db";
  file.vfs = disk.name();
  file.lock = file.mark = false;
  file.cache_kib = 1'024;
  return std::make_unique<store::Store>(sqlite::open_sqlite(file), options);
}

/// A new store's file, made once: that takes longer than all the requests of an input.
const sim::SimDisk::Image& new_store() {
  static const sim::SimDisk::Image image = [] {
    sim::SimWorld world;
    const sim::SimDisk disk("fuzz-new", 1);
    open_store(world, disk).reset();
    return disk.image();
  }();
  return image;
}

/// An engine for the few payments of one input: it asks for less chance at each lease.
engine::Config small() {
  engine::Config config;
  config.max_in_flight = most_requests;
  return config;
}

class Service {
 public:
  Service()
      : chain_(world_.clock(), {}), payouts_(chain_), authorizations_(chain_), signer_({relayer}) {
    const auto plenty = *U256::from_decimal("1000000000000000000000");
    for (const domain::Address& owner : {payer, relayer}) {
      chain_.give(owner, {"tkn"}, plenty);
      chain_.give(owner, domain::native_asset, plenty);
    }
    authorizations_.offer({x402_token, "USD Coin", "2", {"transfer_authorization"}});
    disk_.put_back(new_store());
    store_ = open_store(world_, disk_);
    engine_ = std::make_unique<engine::Engine>(
        world_.executor(), small(),
        engine::Parts{*store_,
                      world_.clock(),
                      world_.entropy(),
                      signer_,
                      {&chain_},
                      {&payouts_, &authorizations_},
                      {{chain_.info().id, relayer, std::nullopt}}});
    http::Options options;
    options.x402.enabled = true;
    options.x402.networks = {{"sim-net", "sim:1"}};
    api_ = std::make_unique<http::Api>(world_.executor(), *engine_, world_.clock(),
                                       world_.entropy(), std::move(options));
    world_.run(engine_->start());
    engine::ApiKey key;
    key.name = "fuzz";
    key.sha256 = http::hash_token(token);
    key.scopes = {"pay", "payout", "ops", "x402"};
    ensure(world_.run(engine_->add_api_key(key)).has_value(), "the key is added");
    world_.run(api_->start());
  }

  ~Service() {
    engine_->abandon();
    store_->abandon();
    world_.crash();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// The request with what a well-behaved client adds, where it says nothing of it: "{id}", "{ref}"
  /// and "{signature}" stand for those of the payment created last.
  void serve(std::string_view text) {
    std::string filled(text);
    if (created_) {
      replace_all(filled, "{id}", domain::text(created_->id));
      replace_all(filled, "{ref}", created_->ref.hex());
      replace_all(filled, "{signature}", to_0x(sim::authorize(*created_).signature));
    }
    http::Request request = fuzz::request_from(filled);
    add_missing(request, "Host", "fuzz");
    add_missing(request, "Authorization", "Bearer " + token);
    if (request.has_body) add_missing(request, "Content-Type", "application/json");
    if (request.method == "POST") add_missing(request, "Idempotency-Key", "key");
    const http::Response response = answer(request);
    if (request.method == "POST" && response.status < 300) check_repeat(request, response);
    note_created(response);
  }

  void check_store() {
    const auto report =
        world_.run(store_->read([](store::Txn& txn) { return store::audit(txn, {}); }));
    ensure(report.good(), report.good() ? "" : report.findings.front().sentence);
  }

 private:
  static void add_missing(http::Request& request, const std::string& name,
                          const std::string& value) {
    if (request.count(name) == 0) request.headers.push_back({name, value});
  }

  http::Response answer(const http::Request& request) {
    http::Exchange exchange = api_->begin(request);
    auto refused = world_.run(api_->admit(exchange));
    http::Response response = refused ? std::move(*refused) : world_.run(api_->answer(exchange));
    check_answer(request, response);
    return response;
  }

  static void check_answer(const http::Request& request, const http::Response& response) {
    ensure(response.status != 500, "no request is the server's fault");
    http::Delivery delivery;
    delivery.wall_ms = sim::SimClock::default_wall_ms;
    const std::string bytes = http::to_wire(response, delivery);
    ensure(fuzz::holds(request.body, token) || fuzz::holds(request.target, token) ||
               !fuzz::holds(bytes, token),
           "no answer holds the token of who asks");
    if (response.content_type != http::json_type || response.status == 204) return;
    boost::system::error_code error;
    const json::value body = json::parse(response.body, error);
    ensure(!error && body.is_object(), "an answer is one JSON object");
    if (body.as_object().contains("success")) {
      ensure(body.at("transaction").is_string() && body.at("network").is_string(),
             "a settle answer has a transaction and a network, and they are strings");
    }
    if (response.status < 400 || !body.as_object().contains("error")) return;
    ensure(!body.at("error").as_string().empty(), "a refusal has a code");
    fuzz::check_sentence(std::string_view(body.at("detail").as_string()));
  }

  /// Reconciling tells what it changed this time, and x402 says how a payment and its chain stand
  /// at this moment; everything else is remembered.
  void check_repeat(const http::Request& request, const http::Response& first) {
    if (fuzz::holds(request.target, "reconcile") || fuzz::holds(request.target, "x402")) return;
    const http::Response again = answer(request);
    ensure(again.status == first.status && again.body == first.body,
           "the same request gets the same answer");
  }

  void note_created(const http::Response& response) {
    if (response.status != 201) return;
    const json::value body = json::parse(response.body);
    const json::value* id = body.as_object().if_contains("id");
    const auto parsed = id == nullptr ? std::nullopt : domain::intent_id_from(id->as_string());
    if (!parsed) return;
    auto found = world_.run(engine_->find(std::nullopt, *parsed));
    ensure(found.has_value(), "a payment that was created is there");
    created_ = std::move(*found);
  }

  sim::SimDisk disk_{"fuzz", 1};
  sim::SimWorld world_{1};
  sim::ScriptedChain chain_;
  sim::ScriptedPayout payouts_;
  sim::ScriptedAuthorization authorizations_;
  sim::ScriptedSigner signer_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<http::Api> api_;
  std::optional<domain::Intent> created_;
};

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  static const bool first = [] {
    sqlite::stop_counting_memory();
    log::set_sink([](log::Level, std::string_view) {});
    return true;
  }();
  ensure(first, "what holds for the whole process is set");
  Service service;
  for (const std::string_view text :
       fuzz::parts_of(as_text({data, size}), between, most_requests)) {
    service.serve(text);
  }
  service.check_store();
  return 0;
}
