// What the scripted node answers: its methods and their JSON.
#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "evm/abi.hpp"
#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "support/scripted_node.hpp"

namespace holdfast::test {

namespace json = boost::json;

namespace {

std::string quantity(std::uint64_t number) { return U256(number).quantity(); }

std::string text_at(const json::array& params, std::size_t at) {
  if (at >= params.size() || !params[at].is_string()) throw NodeError{-32602, "invalid params"};
  return std::string(params[at].as_string());
}

evm::Address20 address_at(const json::array& params, std::size_t at) {
  const auto address = evm::Address20::from_text(text_at(params, at));
  if (!address) throw NodeError{-32602, "invalid address"};
  return *address;
}

U256 amount_of(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  return U256::from_0x(std::string_view(value->get_string())).value_or(U256{});
}

Bytes data_of(const json::object& from) {
  for (const char* key : {"data", "input"}) {
    const json::value* value = from.if_contains(key);
    if (value != nullptr && value->is_string()) {
      return from_hex(std::string_view(value->get_string())).value_or(Bytes{});
    }
  }
  return {};
}

evm::Address20 address_of(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  return evm::Address20::from_text(std::string_view(value->get_string()))
      .value_or(evm::Address20{});
}

/// Error(string), as a contract's require gives it.
std::string revert_data(const std::string& reason) {
  Bytes out{0x08, 0xc3, 0x79, 0xa0};
  evm::abi::append_word(out, U256(32));
  evm::abi::append_word(out, U256(reason.size()));
  out.insert(out.end(), reason.begin(), reason.end());
  while ((out.size() - 4) % 32 != 0) out.push_back(0);
  return to_0x(out);
}

json::object error_json(const NodeError& error) {
  json::object out{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) out["data"] = error.data;
  return out;
}

}  // namespace

HttpReply ScriptedNode::handle(const HttpMessage& request) {
  HttpReply out;
  boost::system::error_code bad;
  const json::value body = json::parse(request.body, bad);
  if (bad) {
    out.status = 400;
    return out;
  }
  const std::lock_guard lock(mutex_);
  if (body.is_array()) {
    json::array answers;
    for (const json::value& one : body.get_array()) answers.push_back(answer(one.as_object()));
    out.body = json::serialize(answers);
  } else {
    out.body = json::serialize(answer(body.as_object()));
  }
  return out;
}

json::object ScriptedNode::answer(const json::object& request) {
  json::object out{{"jsonrpc", "2.0"}, {"id", request.at("id")}};
  const std::string method(request.at("method").as_string());
  const json::value* given = request.if_contains("params");
  const Params params = given != nullptr && given->is_array() ? given->get_array() : Params{};
  try {
    const auto scripted = scripts_.find(method);
    Scripted other;
    if (scripted != scripts_.end()) other = scripted->second(params);
    if (other.error) throw NodeError(*other.error);
    out["result"] = other.result ? *other.result : run(method, params);
  } catch (const NodeError& error) {
    out["error"] = error_json(error);
  }
  return out;
}

std::uint64_t ScriptedNode::final_height() const {
  const std::uint64_t top = blocks_.back().height;
  return top - std::min(top, options_.finalized_behind);
}

const ScriptedBlock* ScriptedNode::block_at(const json::value& tag) const {
  const std::string text = tag.is_string() ? std::string(tag.as_string()) : "latest";
  if (text == "latest" || text == "pending") return &blocks_.back();
  if (text == "finalized" || text == "safe") return &blocks_[final_height()];
  if (text == "earliest") return &blocks_.front();
  const auto height = U256::from_0x(text);
  const auto number = height ? height->to_u64() : std::nullopt;
  return number && *number < blocks_.size() ? &blocks_[*number] : nullptr;
}

std::optional<ScriptedNode::Place> ScriptedNode::find(const std::string& hash) const {
  for (const ScriptedBlock& block : blocks_) {
    for (std::size_t i = 0; i < block.txs.size(); ++i) {
      if (block.txs[i].tx.hash.hex() == hash) return Place{&block, i};
    }
  }
  return std::nullopt;
}

json::value ScriptedNode::run(const std::string& method, const Params& params) {
  if (method == "eth_chainId") return json::string(quantity(options_.chain_id));
  if (method == "eth_blockNumber") return json::string(quantity(blocks_.back().height));
  if (method == "eth_sendRawTransaction") return send_raw(text_at(params, 0));
  if (method == "eth_estimateGas") return estimate(params);
  if (method == "eth_call") return call(params);
  if (method == "eth_getLogs") return logs(params.at(0).as_object());
  if (method == "eth_getBlockByNumber") {
    const ScriptedBlock* const block = block_at(params.at(0));
    return block == nullptr ? json::value(nullptr) : block_json(*block, params.at(1).as_bool());
  }
  if (method == "eth_getBlockReceipts") {
    const ScriptedBlock* const block = block_at(params.at(0));
    if (block == nullptr) return nullptr;
    json::array out;
    for (std::size_t i = 0; i < block->txs.size(); ++i) out.push_back(receipt_json({block, i}));
    return out;
  }
  if (method == "eth_getTransactionReceipt") {
    const auto place = find(text_at(params, 0));
    return place ? json::value(receipt_json(*place)) : json::value(nullptr);
  }
  if (method == "eth_getTransactionByHash") {
    const std::string hash = text_at(params, 0);
    if (const auto place = find(hash)) {
      return tx_json(place->block->txs[place->index], place->block, place->index);
    }
    for (const auto& [at, one] : pool_) {
      if (one.tx.hash.hex() == hash) return tx_json(one, nullptr, 0);
    }
    return nullptr;
  }
  if (method == "eth_getTransactionCount") {
    const evm::Address20 account = address_at(params, 0);
    if (text_at(params, 1) == "pending") return json::string(quantity(pending_nonce(account)));
    const ScriptedBlock* const block = block_at(params.at(1));
    if (block == nullptr) throw NodeError{-32000, "header not found"};
    return json::string(quantity(block->after.nonce(account)));
  }
  if (method == "eth_getCode") {
    // Only tokens are contracts here.
    return blocks_.back().after.tokens.contains(address_at(params, 0)) ? "0x6001" : "0x";
  }
  if (method == "eth_getBalance") {
    return json::string(blocks_.back().after.balance(address_at(params, 0)).quantity());
  }
  if (method == "eth_feeHistory") {
    const std::string fee = quantity(options_.base_fee);
    json::array reward;
    reward.emplace_back(json::array{"0x3b9aca00"});  // of one block: a list of one
    return json::object{{"oldestBlock", quantity(blocks_.back().height)},
                        {"baseFeePerGas", json::array{fee, fee}},
                        {"gasUsedRatio", json::array{0.5}},
                        {"reward", reward}};
  }
  throw NodeError{-32601, "the method " + method + " does not exist/is not available"};
}

json::value ScriptedNode::estimate(const Params& params) {
  const json::object& tx = params.at(0).as_object();
  ScriptedState copy = blocks_.back().after;
  const RunResult result = run_call(copy, address_of(tx, "from"), address_of(tx, "to"),
                                    amount_of(tx, "value"), data_of(tx), blocks_.back().time_s + 1);
  if (!result.succeeded) {
    throw NodeError{3, "execution reverted: " + result.revert_reason,
                    json::string(revert_data(result.revert_reason))};
  }
  return json::string(quantity(scripted_gas));
}

json::value ScriptedNode::call(const Params& params) {
  const json::object& asked = params.at(0).as_object();
  const ScriptedBlock* const block = params.size() > 1 ? block_at(params.at(1)) : &blocks_.back();
  if (block == nullptr) throw NodeError{-32000, "header not found"};
  const auto found = block->after.tokens.find(address_of(asked, "to"));
  if (found == block->after.tokens.end()) return "0x";
  const ScriptedToken& token = found->second;
  const Bytes data = data_of(asked);
  const auto is = [&](const evm::abi::Selector& selector) {
    return data.size() >= 4 && std::equal(selector.begin(), selector.end(), data.begin());
  };
  const auto word = [&](std::size_t at) { return ByteView(data).subspan(4 + 32 * at, 32); };
  Bytes out;
  if (is(evm::selectors::domain_separator)) {
    evm::abi::append_word(out, evm::domain_separator(token.domain).view());
  } else if (is(evm::selectors::decimals)) {
    evm::abi::append_word(out, U256(6));
  } else if (is(evm::selectors::balance_of) && data.size() >= 36) {
    const auto at = token.balances.find(*evm::Address20::from(word(0).subspan(12)));
    evm::abi::append_word(out, at == token.balances.end() ? U256{} : at->second);
  } else if (is(evm::selectors::authorization_state) && data.size() >= 68) {
    const auto at = token.ended.find(
        {*evm::Address20::from(word(0).subspan(12)), *evm::Bytes32::from(word(1))});
    evm::abi::append_word(out, U256(at != token.ended.end() && at->second ? 1 : 0));
  } else {
    throw NodeError{3, "execution reverted", "0x"};
  }
  return json::string(to_0x(out));
}

json::value ScriptedNode::logs(const json::object& filter) {
  const ScriptedBlock* const from = block_at(filter.at("fromBlock"));
  const ScriptedBlock* to = block_at(filter.at("toBlock"));
  if (to == nullptr) to = &blocks_.back();
  const evm::Address20 contract = address_of(filter, "address");
  const json::array& topics = filter.at("topics").as_array();
  const auto matches = [&](const evm::Log& log) {
    if (log.address != contract || log.topics.size() < topics.size()) return false;
    for (std::size_t i = 0; i < topics.size(); ++i) {
      const json::value& wanted = topics[i];
      const std::string is = log.topics[i].hex();
      const auto same = [&](const json::value& one) { return one.as_string() == is; };
      if (wanted.is_array() && std::ranges::none_of(wanted.get_array(), same)) return false;
      if (wanted.is_string() && !same(wanted)) return false;
    }
    return true;
  };
  json::array out;
  for (std::uint64_t height = from == nullptr ? 0 : from->height; height <= to->height; ++height) {
    const ScriptedBlock& block = blocks_[height];
    std::size_t offset = 0;
    for (std::size_t i = 0; i < block.txs.size(); ++i) {
      const auto& all = block.txs[i].result.logs;
      for (std::size_t at = 0; at < all.size(); ++at) {
        if (matches(all[at])) out.push_back(log_json({&block, i}, at, offset));
      }
      offset += all.size();
    }
  }
  return out;
}

json::value ScriptedNode::block_json(const ScriptedBlock& block, bool full) const {
  json::array txs;
  for (std::size_t i = 0; i < block.txs.size(); ++i) {
    if (full) {
      txs.push_back(tx_json(block.txs[i], &block, i));
    } else {
      txs.emplace_back(block.txs[i].tx.hash.hex());
    }
  }
  json::object out{{"number", quantity(block.height)},
                   {"hash", block.hash.hex()},
                   {"parentHash", block.parent.hex()},
                   {"timestamp", quantity(static_cast<std::uint64_t>(block.time_s))},
                   {"baseFeePerGas", quantity(options_.base_fee)},
                   {"gasLimit", "0x1c9c380"}};
  out["transactions"] = std::move(txs);
  return out;
}

json::object ScriptedNode::tx_json(const ScriptedTx& one, const ScriptedBlock* block,
                                   std::size_t index) const {
  const evm::Transaction1559& tx = one.tx.tx;
  json::object out{{"hash", one.tx.hash.hex()},
                   {"from", one.tx.sender.hex()},
                   {"to", tx.to.hex()},
                   {"nonce", quantity(tx.nonce)},
                   {"value", tx.value.quantity()},
                   {"input", to_0x(tx.data)},
                   {"gas", quantity(tx.gas_limit)},
                   {"maxFeePerGas", tx.max_fee.quantity()},
                   {"maxPriorityFeePerGas", tx.max_priority_fee.quantity()},
                   {"type", "0x2"},
                   {"blockHash", nullptr},
                   {"blockNumber", nullptr},
                   {"transactionIndex", nullptr}};
  if (block != nullptr) {
    out["blockHash"] = block->hash.hex();
    out["blockNumber"] = quantity(block->height);
    out["transactionIndex"] = quantity(index);
  }
  return out;
}

json::object ScriptedNode::receipt_json(const Place& place) const {
  const ScriptedTx& one = place.block->txs[place.index];
  std::size_t offset = 0;
  for (std::size_t i = 0; i < place.index; ++i) offset += place.block->txs[i].result.logs.size();
  json::array logs;
  for (std::size_t i = 0; i < one.result.logs.size(); ++i) {
    logs.push_back(log_json(place, i, offset));
  }
  const U256 price = *U256(options_.base_fee).plus(one.tx.tx.max_priority_fee);
  json::object out{{"transactionHash", one.tx.hash.hex()},
                   {"blockHash", place.block->hash.hex()},
                   {"blockNumber", quantity(place.block->height)},
                   {"transactionIndex", quantity(place.index)},
                   {"from", one.tx.sender.hex()},
                   {"to", one.tx.tx.to.hex()},
                   {"status", one.result.succeeded ? "0x1" : "0x0"},
                   {"gasUsed", quantity(scripted_gas)},
                   {"effectiveGasPrice", price.quantity()},
                   {"type", "0x2"}};
  out["logs"] = std::move(logs);
  return out;
}

json::object ScriptedNode::log_json(const Place& place, std::size_t at, std::size_t offset) const {
  const ScriptedTx& one = place.block->txs[place.index];
  const evm::Log& log = one.result.logs[at];
  json::array topics;
  for (const evm::Bytes32& topic : log.topics) topics.emplace_back(topic.hex());
  json::object out{{"address", log.address.hex()},
                   {"data", to_0x(log.data)},
                   {"blockNumber", quantity(place.block->height)},
                   {"blockHash", place.block->hash.hex()},
                   {"transactionHash", one.tx.hash.hex()},
                   {"transactionIndex", quantity(place.index)},
                   {"logIndex", quantity(offset + at)},
                   {"removed", false}};
  out["topics"] = std::move(topics);
  return out;
}

}  // namespace holdfast::test
