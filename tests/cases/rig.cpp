#include "rig.hpp"

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "evm/eip3009.hpp"
#include "evm/secp.hpp"
#include "evm/transaction.hpp"

namespace holdfast::cases {

using test::within_ms;

namespace {

const std::string token_name = "Case Token";
const std::string scripted_token = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

const std::string& anvil_token() {
  static const std::string token = [] {
    const std::string made = shared_anvil().deploy_token(token_name, "1");
    return evm::to_checksum(*evm::Address20::from_text(made));
  }();
  return token;
}

std::string number_text(std::int64_t number) { return std::to_string(number); }

}  // namespace

test::Anvil& shared_anvil() {
  static test::Anvil anvil;
  return anvil;
}

Person new_person() {
  // Another account each time, also for the next run against the same node.
  static std::uint64_t count = 0;
  const std::string seed =
      "case person " + number_text(test::wall_ms()) + " " + std::to_string(++count);
  const evm::Hash32 bytes = evm::keccak256(seed);
  const auto key = evm::SecretKey::from(bytes.view());
  REQUIRE(key.has_value());
  return {evm::to_checksum(evm::address_of(*key)), to_hex(bytes.view())};
}

std::string signed_raw(const Person& by, std::uint64_t nonce, const std::string& to, ByteView data,
                       const U256& value, std::uint64_t tip) {
  evm::Transaction1559 tx;
  tx.chain_id = 31337;
  tx.nonce = nonce;
  tx.max_priority_fee = tip;
  tx.max_fee = 100'000'000'000;
  tx.gas_limit = 200'000;
  tx.to = *evm::Address20::from_text(to);
  tx.value = value;
  tx.data.assign(data.begin(), data.end());
  const auto key = evm::SecretKey::parse(by.key);
  return to_0x(evm::encode_signed(tx, evm::sign(evm::signing_digest(tx), *key)));
}

std::string text_of(const json::value& object, const std::string& member) {
  const json::object* const members = object.if_object();
  const json::value* const found = members == nullptr ? nullptr : members->if_contains(member);
  if (found == nullptr || found->is_null()) return "";
  return found->is_string() ? std::string(found->as_string()) : json::serialize(*found);
}

Rig::Rig(Options wanted) : options(std::move(wanted)) {
  for (unsigned i = 0; i < options.relayers; ++i) relayers.push_back(new_person());
  if (options.scripted) {
    node = std::make_unique<test::ScriptedNode>(options.node);
    token = scripted_token;
    node->add_token(token, token_name, "1");
  } else {
    token = options.token.empty() ? anvil_token() : options.token;
    shared_anvil().call("anvil_dropAllTransactions");
    set_blocks(Blocks::by_hand);
  }
  for (const Person& one : relayers) fund(one);
  fund(payer);
  mine(3);
  if (!options.scripted) set_blocks(options.blocks);
  const auto height = U256::from_0x(rpc("eth_blockNumber").as_string());
  first_block_ = height->to_u64().value_or(0);
  proxy = std::make_unique<test::FaultProxy>(node_port());
  if (options.proxy_too) second = std::make_unique<test::FaultProxy>(node_port());
  for (test::FaultProxy* const one : {proxy.get(), second.get()}) {
    if (one == nullptr) continue;
    one->observe([this](const test::SentRaw& raw) {
      if (store().has_attempt(raw.hash)) return;
      const std::lock_guard lock(stored_first_mutex_);
      posted_unstored_.push_back(raw.hash);
    });
  }
  write_config();
  api_key_ = add_key("shop", "");
}

Rig::~Rig() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* folder = std::getenv("HOLDFAST_CASES_KEEP")) keep(folder);
  server_.reset();
  proxy.reset();
  second.reset();
  if (!options.scripted) set_blocks(Blocks::by_hand);
}

void Rig::keep(const std::string& folder) const {
  std::filesystem::copy(
      folder_.path(), folder,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  std::ofstream raws(folder + "/raws");
  for (const test::SentRaw& raw : proxy->raws()) {
    raws << raw.wall_ms << " " << raw.sender << " " << raw.nonce << " " << raw.hash
         << (raw.forwarded ? " forwarded " : " kept back ") << raw.answer << "\n";
  }
}

std::string Rig::store_path() const {
  const std::string folder =
      options.store_folder.empty() ? folder_.path().string() : options.store_folder;
  return folder + "/pay.db";
}

std::uint16_t Rig::node_port() const { return node ? node->port() : shared_anvil().port(); }

std::string Rig::rpc_url_line() const {
  if (second) return "";  // tables of their own
  return "rpc_url = \"" + (options.rpc_url.empty() ? proxy->url() : options.rpc_url) + "\"\n";
}

void Rig::write_config() const {
  std::ostringstream out;
  out << "drain_ms = " << options.drain_ms << "\n[store]\npath = \"" << store_path()
      << "\"\n[http]\nport = 0\n[log]\nlevel = \"" << options.log_level
      << "\"\n[engine]\nlease_ms = " << options.lease_ms
      << "\nstuck_after_ms = " << options.stuck_after_ms
      << "\nreview_after_ms = " << options.review_after_ms
      << "\nretry_cap_ms = " << options.retry_cap_ms << "\n"
      << options.more_engine << "\n"
      << options.more_tables << "\n[[chain]]\nid = \"eip155:31337\"\n"
      << rpc_url_line() << "rpc_deadline_ms = " << options.deadline_ms
      << "\nrpc_batch = " << options.rpc_batch << "\nmax_unconsumed = " << options.max_unconsumed
      << "\npoll_ms = 200\n"
      << options.more_chain << "\n";
  if (second) {
    for (const std::string& url : {proxy->url(), second->url()}) {
      out << "[[chain.endpoint]]\nurl = \"" << url << "\"\n";
    }
  }
  out << options.more_assets << "[[chain.asset]]\naddress = \"" << token << "\"\nname = \""
      << token_name << "\"\nversion = \"1\"\n";
  for (std::size_t i = 0; i < relayers.size(); ++i) {
    const std::string file = folder_ / ("account" + std::to_string(i) + ".key");
    if (!std::filesystem::exists(file)) {
      std::ofstream(file) << relayers[i].key << "\n";
      std::filesystem::permissions(file, std::filesystem::perms(0600));
    }
    out << "[[chain.account]]\nkey_file = \"" << file << "\"\n" << options.more_account;
  }
  std::ofstream(config_path()) << out.str();
}

std::string Rig::verb(const std::vector<std::string>& arguments, int* code) const {
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--config", config_path()});
  std::string out;
  const int ended = run_binary(HOLDFAST_BINARY, all, &out);
  if (code != nullptr) *code = ended;
  return out;
}

std::string Rig::add_key(const std::string& name, const std::string& scope) {
  std::vector<std::string> arguments{"keys", "add", name};
  for (const char* one : {"pay", "payout", "ops", "x402"}) {
    if (!scope.empty() && scope != one) continue;
    arguments.insert(arguments.end(), {"--scope", one});
  }
  int code = 0;
  const std::string out = verb(arguments, &code);
  const std::size_t at = out.find("hf_");
  REQUIRE_MESSAGE((code == 0 && at != std::string::npos), out);
  return out.substr(at, out.find('\n', at) - at);
}

// ---- the engine
// -----------------------------------------------------------------------------------

void Rig::start_unready(const std::string& kill_at) {
  write_config();
  port_ = 0;
  const bool killable = options.kill_points || !kill_at.empty();
  std::vector<std::string> environment = options.environment;
  if (!kill_at.empty()) environment.push_back("HOLDFAST_KILL_AT=" + kill_at);
  std::string binary = HOLDFAST_BINARY;
  if (killable) binary = HOLDFAST_KILLABLE_BINARY;
  server_ = std::make_unique<Server>(binary, config_path(), folder_ / "log", environment);
  port_ = server_->port_within(15'000);
}

void Rig::start(const std::string& kill_at) {
  start_unready(kill_at);
  // A kill point may have ended it already: then the case waits for that end.
  if (!kill_at.empty() && !running()) return;
  REQUIRE_MESSAGE(port_ != 0, log());
  const bool is_ready = within_ms(15'000, [&] { return ready() || !running(); });
  REQUIRE_MESSAGE((is_ready || !kill_at.empty()), log());
}

bool Rig::ready() { return ask("GET", "/readyz").status == 200; }

void Rig::kill() {
  server_->signal(SIGKILL);
  server_->wait(5'000);
}

Ended Rig::stop(int signal, std::int64_t ms) {
  server_->signal(signal);
  return server_->wait(ms);
}

bool Rig::dies_within(std::int64_t ms) {
  return within_ms(ms, [&] { return !running(); }, 10);
}

std::string Rig::log() const { return test::content_of(folder_ / "log"); }

// ---- its API
// --------------------------------------------------------------------------------------

Answer Rig::ask(const std::string& method, const std::string& target, const std::string& body,
                const std::string& key, const std::string& as) {
  test::HttpHeaders headers{{"Authorization", "Bearer " + (as.empty() ? api_key_ : as)},
                            {"Connection", "close"}};
  if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
  if (!key.empty()) headers.emplace_back("Idempotency-Key", key);
  test::HttpClient client(port_);
  const auto answer = client.ask(method, target, headers, body);
  Answer out;
  out.status = answer.status;
  out.text = answer.message.body;
  out.replayed = answer.message.header("Idempotent-Replayed") == "true";
  boost::system::error_code bad;
  out.body = json::parse(out.text, bad);
  const bool health = target == "/readyz" || target == "/healthz";
  if (out.status >= 500 && !health) {
    const std::lock_guard lock(stored_first_mutex_);
    ++server_errors_;
  }
  return out;
}

std::string Rig::payout_body(const std::string& amount) const {
  return json::serialize(json::object{{"chain", "eip155:31337"},
                                      {"method", "payout"},
                                      {"asset", token},
                                      {"payee", merchant.address},
                                      {"amount", amount}});
}

std::string Rig::authorization_body(const std::string& amount) const {
  return json::serialize(json::object{{"chain", "eip155:31337"},
                                      {"method", "transfer_authorization"},
                                      {"asset", token},
                                      {"payer", payer.address},
                                      {"payee", merchant.address},
                                      {"amount", amount}});
}

Payment Rig::ask_for(const std::string& body, const std::string& key, const std::string& as) {
  const Answer answer = ask("POST", "/v1/payment_intents", body, key, as);
  REQUIRE_MESSAGE(answer.status == 201, answer.text);
  Payment out{
      text_of(answer.body, "id"),    text_of(answer.body, "ref"), key, body, answer.text, as,
      text_of(answer.body, "method")};
  payments.push_back(out);
  return out;
}

Payment Rig::payout(const std::string& amount) {
  return ask_for(payout_body(amount), "key-" + std::to_string(++keys_));
}

std::vector<Payment> Rig::payouts(int count) {
  std::vector<Payment> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(payout());
  return out;
}

Payment Rig::created(const std::string& amount) {
  return ask_for(authorization_body(amount), "key-" + std::to_string(++keys_));
}

Payment Rig::authorized(const std::string& amount) {
  const Payment payment = created(amount);
  const Answer signed_now = sign(payment, {201, json::parse(payment.first_answer)});
  REQUIRE_MESSAGE(signed_now.status == 200, signed_now.text);
  return payment;
}

Answer Rig::sign(const Payment& payment, const Answer& created) {
  const json::value& message = created.body.at("typed_data").at("message");
  const auto address = [&](const char* of) {
    return *evm::Address20::from_text(std::string_view(message.at(of).as_string()));
  };
  const auto amount = [&](const char* of) {
    return *U256::from_decimal(std::string_view(message.at(of).as_string()));
  };
  const evm::TransferAuthorization terms{
      .from = address("from"),
      .to = address("to"),
      .value = amount("value"),
      .valid_after = amount("validAfter"),
      .valid_before = amount("validBefore"),
      .nonce = *evm::Bytes32::from_text(std::string_view(message.at("nonce").as_string()))};
  const evm::Domain domain{token_name, "1", 31337, *evm::Address20::from_text(token)};
  const auto key = evm::SecretKey::parse(payer.key);
  const auto signature =
      evm::signature_bytes(evm::sign(evm::authorization_digest(domain, terms), *key));
  return ask("POST", "/v1/payment_intents/" + payment.id + "/authorize",
             json::serialize(json::object{{"signature", to_0x(signature)}}), payment.key + "-sign",
             payment.token);
}

json::value Rig::detail(const std::string& id) {
  return ask("GET", "/v1/payment_intents/" + id).body;
}

std::int64_t Rig::metric(const std::string& name) {
  const std::string text = "\n" + ask("GET", "/metrics").text;
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + name.size() + 2));
}

std::string Rig::state(const std::string& id) { return text_of(detail(id), "state"); }

bool Rig::reaches(const std::string& id, const std::string& wanted, std::int64_t ms) {
  return within_ms(ms, [&] { return state(id) == wanted; }, 50);
}

bool Rig::mine_until(const std::vector<Payment>& all, const std::string& wanted, std::int64_t ms) {
  std::vector<Payment> left = all;
  return within_ms(
      ms,
      [&] {
        std::erase_if(left, [&](const Payment& one) { return state(one.id) == wanted; });
        if (left.empty()) return true;
        mine();
        return false;
      },
      300);
}

bool Rig::mine_until(const Payment& one, const std::string& wanted, std::int64_t ms) {
  return mine_until(std::vector<Payment>{one}, wanted, ms);
}

// ---- the chain
}  // namespace holdfast::cases
