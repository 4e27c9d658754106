#include "evm/chain_node.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "evm/keccak.hpp"
#include "evm/secp.hpp"

namespace holdfast::evm::test {
namespace {

constexpr std::int64_t first_time_s = 1'700'000'000;

std::string padded(const std::string& address) {
  return "0x" + std::string(24, '0') + to_hex(Address20::from_text(address)->view());
}

std::string hash_text(std::string_view seed, std::uint64_t number) {
  return keccak256(std::string(seed) + std::to_string(number)).hex();
}

json::array texts(const std::vector<std::string>& items) {
  json::array out;
  for (const std::string& item : items) out.emplace_back(item);
  return out;
}

}  // namespace

std::string word(std::uint64_t number) { return to_0x(U256(number).big_endian()); }

FakeNode::Handler always(Answer answer) {
  return [answer](const json::array&) { return answer; };
}
FakeNode::Handler always(json::value result) { return always(Answer(std::move(result))); }

json::object made_log(const std::string& address, const std::vector<std::string>& topics,
                      const std::string& data) {
  return {{"address", address}, {"topics", texts(topics)}, {"data", data}, {"removed", false}};
}

json::object transfer_log(const std::string& token_address, const std::string& from,
                          const std::string& to, const U256& amount) {
  return made_log(token_address, {topics::transfer.hex(), padded(from), padded(to)},
                  to_0x(amount.big_endian()));
}

json::object authorization_log(const std::string& token_address, const std::string& authorizer,
                               const std::string& nonce, bool canceled) {
  const Bytes32& topic = canceled ? topics::authorization_canceled : topics::authorization_used;
  return made_log(token_address, {topic.hex(), padded(authorizer), nonce}, "0x");
}

Bytes sign_with(const std::string& key, const Digest& digest) {
  const auto secret = SecretKey::parse(key);
  REQUIRE(secret.has_value());
  const auto bytes = signature_bytes(sign(Hash32{digest}, *secret));
  return {bytes.begin(), bytes.end()};
}

FakeNode::FakeNode(std::uint64_t top) {
  for (std::uint64_t height = 0; height <= top; ++height) {
    blocks.push_back(
        {hash_text("block", height), first_time_s + static_cast<std::int64_t>(height), {}, {}});
  }
}

boost::asio::awaitable<Answer> FakeNode::call(std::string method, json::array params) {
  asked.emplace_back(method, params);
  const auto found = overrides.find(method);
  co_return found == overrides.end() ? answer(method, params) : found->second(params);
}

std::size_t FakeNode::count(std::string_view method) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(asked, [&](const auto& call) { return call.first == method; }));
}

domain::TxHash FakeNode::add(std::uint64_t height, const MadeTx& tx) {
  Block& block = blocks.at(height);
  const std::string hash = hash_text("tx", ++made_);
  const std::string number = quantity(height);
  block.txs.push_back({{"hash", hash},
                       {"blockHash", block.hash},
                       {"blockNumber", number},
                       {"from", tx.from},
                       {"to", tx.to.empty() ? json::value() : json::value(tx.to)},
                       {"nonce", quantity(tx.nonce)},
                       {"value", tx.value},
                       {"input", tx.input},
                       {"type", "0x2"}});
  json::array logs;
  for (const json::object& log : tx.logs) {
    json::object full = log;
    full["transactionHash"] = hash;
    full["blockHash"] = block.hash;
    full["blockNumber"] = number;
    logs.emplace_back(std::move(full));
  }
  json::object receipt{{"transactionHash", hash},
                       {"blockHash", block.hash},
                       {"blockNumber", number},
                       {"from", tx.from},
                       {"status", quantity(tx.succeeded ? 1 : 0)},
                       {"gasUsed", "0x5208"},
                       {"effectiveGasPrice", "0x3b9aca00"}};
  receipt["logs"] = std::move(logs);
  block.receipts.push_back(std::move(receipt));
  return *domain::TxHash::from_text(hash);
}

void FakeNode::reorganise(std::uint64_t height) {
  blocks.at(height) = {hash_text("fork", height), blocks.at(height).time_s, {}, {}};
}

std::optional<std::uint64_t> FakeNode::height_of(const json::value& at) const {
  const std::string_view text = at.as_string();
  if (text == "latest" || text == "pending") return blocks.size() - 1;
  if (text == "safe") return safe;
  if (text == "finalized") return finalized;
  const auto height = U256::from_0x(text)->to_u64();
  if (!height || *height >= blocks.size()) return std::nullopt;
  return height;
}

json::value FakeNode::block_json(std::uint64_t height, bool full) const {
  const Block& block = blocks[height];
  json::array txs;
  for (const json::object& tx : block.txs) {
    full ? txs.emplace_back(tx) : txs.emplace_back(tx.at("hash"));
  }
  json::object out{{"number", quantity(height)},
                   {"hash", block.hash},
                   {"parentHash", height == 0 ? word(0) : blocks[height - 1].hash},
                   {"timestamp", quantity(static_cast<std::uint64_t>(block.time_s))},
                   {"transactions", txs}};
  if (base_fee) out["baseFeePerGas"] = quantity(*base_fee);
  return out;
}

const json::object* FakeNode::find_in(const json::value& hash, bool receipt) const {
  for (const Block& block : blocks) {
    for (const json::object& item : receipt ? block.receipts : block.txs) {
      if (item.at(receipt ? "transactionHash" : "hash") == hash) return &item;
    }
  }
  return nullptr;
}

std::uint64_t FakeNode::nonce_of(std::string_view account, std::uint64_t height) const {
  std::uint64_t out = 0;
  for (std::uint64_t at = 0; at <= height; ++at) {
    for (const json::object& tx : blocks[at].txs) {
      if (std::string_view(tx.at("from").as_string()) == account) ++out;
    }
  }
  return out;
}

Answer FakeNode::answer(const std::string& method, const json::array& params) {
  const auto item_or_null = [](const json::object* item) {
    return item == nullptr ? json::value() : json::value(*item);
  };
  if (method == "eth_chainId") return json::value("0x7a69");
  if (method == "eth_getBlockByNumber") {
    const auto height = height_of(params.at(0));
    return height ? block_json(*height, params.at(1).as_bool()) : json::value();
  }
  if (method == "eth_getBlockReceipts") {
    const auto height = height_of(params.at(0));
    if (!height) return json::value();
    json::array out;
    for (const json::object& receipt : blocks[*height].receipts) out.emplace_back(receipt);
    return json::value(std::move(out));
  }
  if (method == "eth_getTransactionReceipt") return item_or_null(find_in(params.at(0), true));
  if (method == "eth_getTransactionByHash") return item_or_null(find_in(params.at(0), false));
  if (method == "eth_getTransactionCount") {
    return json::value(quantity(nonce_of(params.at(0).as_string(), *height_of(params.at(1)))));
  }
  return ports::Refused{ports::RefusalKind::no_such_method, "not in the table: " + method};
}

}  // namespace holdfast::evm::test
