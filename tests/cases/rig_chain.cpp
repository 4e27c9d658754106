// The rig's chain: the same questions of anvil and of the scripted node.
#include <stdexcept>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "evm/abi.hpp"
#include "evm/logs.hpp"
#include "rig.hpp"

namespace holdfast::cases {

json::value Rig::rpc(const std::string& method, const json::array& params) const {
  test::HttpClient client(node_port());
  const json::object request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  const auto answer =
      client.ask("POST", "/", {{"Content-Type", "application/json"}, {"Connection", "close"}},
                 json::serialize(request));
  const json::value body = json::parse(answer.message.body);
  const json::value* const result = body.as_object().if_contains("result");
  if (result == nullptr) throw std::runtime_error(method + ": " + answer.message.body);
  return *result;
}

void Rig::mine(unsigned blocks) {
  if (node) return node->mine(blocks);
  shared_anvil().mine(blocks);
}

// In this order: the second call replaces what the first set.
void Rig::set_blocks(Blocks blocks) {
  shared_anvil().call("evm_setIntervalMining", json::array{blocks == Blocks::every_second ? 1 : 0});
  if (blocks == Blocks::at_once) shared_anvil().call("evm_setAutomine", json::array{true});
}

void Rig::fund(const Person& person) {
  const U256 ten_units = *U256::from_decimal("10000000000000000000");
  if (node) {
    node->give_native(person.address, ten_units);
    node->give_token(token, person.address, start_tokens);
    return;
  }
  shared_anvil().call("anvil_setBalance", json::array{person.address, ten_units.quantity()});
  shared_anvil().mint(token, person.address, start_tokens);
}

std::uint64_t Rig::nonce(const Person& person, const std::string& tag) const {
  const auto count = rpc("eth_getTransactionCount", json::array{person.address, tag});
  return U256::from_0x(count.as_string())->to_u64().value_or(0);
}

bool Rig::is_mined(const std::string& hash) const {
  return rpc("eth_getTransactionReceipt", json::array{hash}).is_object();
}

// Past every call of the token: where its contract keeps balances (the fourth of its variables).
void Rig::set_token_balance(const Person& person, std::uint64_t amount) {
  if (node) return node->give_token(token, person.address, amount);
  Bytes place;
  evm::abi::append_word(place, *evm::Address20::from_text(person.address));
  evm::abi::append_word(place, U256(3));
  Bytes word;
  evm::abi::append_word(word, U256(amount));
  rpc("anvil_setStorageAt", json::array{token, evm::keccak256(place).hex(), to_0x(word)});
}

namespace {

/// The address in a topic: its last 20 bytes.
std::string address_in(const json::value& topic) {
  const std::string text(topic.as_string());
  return evm::to_checksum(*evm::Address20::from_text("0x" + text.substr(26)));
}

/// The ref that a transaction carries.
std::string ref_of(const Rig& rig, const json::value& receipt) {
  for (const json::value& log : receipt.at("logs").as_array()) {
    const auto& topics = log.at("topics").as_array();
    if (topics.size() == 3 && topics[0].as_string() == evm::topics::authorization_used.hex()) {
      return std::string(topics[2].as_string());
    }
  }
  const auto hash = json::array{receipt.at("transactionHash")};
  const std::string input = text_of(rig.rpc("eth_getTransactionByHash", hash), "input");
  return input.size() >= 66 ? "0x" + input.substr(input.size() - 64) : "";
}

}  // namespace

std::vector<Transfer> Rig::moved() const {
  json::array params;
  params.emplace_back(json::object{{"fromBlock", U256(first_block_).quantity()},
                                   {"toBlock", "latest"},
                                   {"address", token},
                                   {"topics", json::array{evm::topics::transfer.hex()}}});
  std::vector<Transfer> out;
  const json::value logs = rpc("eth_getLogs", params);
  for (const json::value& log : logs.as_array()) {
    Transfer one;
    one.from = address_in(log.at("topics").at(1));
    if (one.from == "0x" + std::string(40, '0')) continue;
    one.to = address_in(log.at("topics").at(2));
    one.amount = *U256::from_0x(log.at("data").as_string());
    one.tx_hash = std::string(log.at("transactionHash").as_string());
    one.ref = ref_of(*this, rpc("eth_getTransactionReceipt", json::array{one.tx_hash}));
    out.push_back(std::move(one));
  }
  return out;
}

std::int64_t Rig::count_of(const Payment& payment, const std::string& from_and_where) const {
  return store().number("SELECT count(*) FROM intents i " + from_and_where + " AND i.ref = x'" +
                        payment.ref.substr(2) + "'");
}

std::size_t Rig::pays_sent() const {
  std::size_t out = 0;
  for (const test::SentRaw& raw : proxy->raws()) {
    const auto noops =
        store().number("SELECT count(*) FROM attempts WHERE kind = 'noop' AND hash = x'" +
                       raw.hash.substr(2) + "'");
    if (noops == 0) ++out;
  }
  return out;
}

std::vector<test::SentRaw> Rig::raws_of(const Payment& payment) const {
  const auto hashes = store().rows(
      "SELECT a.hash FROM attempts a JOIN intents i ON i.row = a.intent WHERE i.ref = x'" +
      payment.ref.substr(2) + "' AND a.hash IS NOT NULL");
  std::vector<test::SentRaw> out;
  for (test::SentRaw& raw : proxy->raws()) {
    for (const Row& row : hashes) {
      if (row[0] == raw.hash) out.push_back(raw);
    }
  }
  return out;
}

}  // namespace holdfast::cases
