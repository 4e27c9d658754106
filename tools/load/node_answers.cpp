#include "node_answers.hpp"

#include <boost/json/serialize.hpp>

#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "evm/logs.hpp"
#include "token.hpp"

namespace holdfast::load {

namespace {

namespace json = boost::json;

/// The client reads at most 32 MiB in an answer: a block stays far below.
constexpr std::size_t most_in_a_block = 5'000;

std::string quoted(const std::string& text) { return '"' + text + '"'; }
std::string quantity(std::uint64_t number) { return quoted(U256(number).quantity()); }
std::string result(const std::string& value) { return "\"result\":" + value; }
std::string error(int code, const std::string& message) {
  return "\"error\":{\"code\":" + std::to_string(code) + ",\"message\":" + quoted(message) + '}';
}

std::string text_at(const json::array& params, std::size_t at) {
  if (at >= params.size() || !params[at].is_string()) return {};
  return std::string(params[at].get_string());
}

std::string refusal(const ports::Refused& no) {
  using enum ports::RefusalKind;
  switch (no.kind) {
    case nonce_too_low: return error(-32000, "nonce too low");
    case replacement_underpriced: return error(-32000, "replacement transaction underpriced");
    default: return error(-32602, "invalid transaction");
  }
}

std::string word_of(const evm::Address20& address) {
  return "0x" + std::string(24, '0') + to_hex(address.view());
}

// Of an authorization the ledger keeps no window and no signature, and nobody asks it for them.
std::string input_of(const PostedTx& says) {
  if (says.authorization) {
    return to_0x(evm::encode_transfer_with_authorization({.from = says.authorization->payer,
                                                          .to = says.payee,
                                                          .value = says.amount,
                                                          .valid_after = {},
                                                          .valid_before = {},
                                                          .nonce = says.authorization->nonce},
                                                         evm::Signature{}));
  }
  if (says.token) {
    return to_0x(evm::encode_transfer(
        {.to = says.payee,
         .amount = says.amount,
         .ref = says.ref ? std::optional(evm::Bytes32{says.ref->value}) : std::nullopt}));
  }
  return says.ref ? says.ref->hex() : "0x";
}

std::string place(const Ledger::Block& block) {
  return "\"blockNumber\":" + quantity(block.ref.height) +
         ",\"blockHash\":" + quoted(block.ref.hash.hex());
}

constexpr std::string_view no_place = R"("blockNumber":null,"blockHash":null)";
constexpr std::size_t bytes_of_one = 512;  ///< in a block: a transaction, or its receipt

template <class... Parts>
void add(std::string& out, const Parts&... parts) {
  (out.append(parts), ...);
}

std::string event_text(const evm::Address20& contract, const std::vector<std::string>& topics,
                       const std::string& data) {
  std::string list;
  for (const std::string& topic : topics) list += (list.empty() ? "" : ",") + quoted(topic);
  return "{\"address\":" + quoted(contract.hex()) + ",\"topics\":[" + list +
         "],\"data\":" + quoted(data);
}

std::string use_text(const PostedTx& says) {
  return event_text(*says.token,
                    {evm::topics::authorization_used.hex(), word_of(says.authorization->payer),
                     says.authorization->nonce.hex()},
                    "0x");
}

std::string fee_history() {
  const std::string price = quantity(gas_price);
  std::string fees;
  std::string rewards;
  std::string used;
  for (int i = 0; i < 5; ++i) {
    fees += price + ',';
    rewards += (i == 0 ? "[" : ",[") + price + ']';
    used += i == 0 ? "0.5" : ",0.5";
  }
  return R"({"oldestBlock":"0x0","baseFeePerGas":[)" + fees + price + R"(],"gasUsedRatio":[)" +
         used + R"(],"reward":[)" + rewards + "]}";
}

}  // namespace

std::string NodeAnswers::answer(const json::value& request, std::int64_t now_ms,
                                std::int64_t now_s) {
  now_ms_ = now_ms;
  now_s_ = now_s;
  const json::object* const object = request.if_object();
  const json::value* const method = object == nullptr ? nullptr : object->if_contains("method");
  const json::value* const id = object == nullptr ? nullptr : object->if_contains("id");
  const json::value* const params = object == nullptr ? nullptr : object->if_contains("params");
  const std::string name = id == nullptr ? "null" : json::serialize(*id);
  std::string said = error(-32600, "invalid request");
  if (method != nullptr && method->is_string()) {
    const json::array none;
    const bool has_list = params != nullptr && params->is_array();
    said = member(std::string(method->get_string()), has_list ? params->get_array() : none);
  }
  said.insert(0, R"({"jsonrpc":"2.0","id":)" + name + ',');  // a block's text is not copied
  said += '}';
  return said;
}

std::string NodeAnswers::member(const std::string& method, const json::array& params) {
  if (method == "eth_sendRawTransaction") return post(params);
  if (method == "eth_estimateGas") {
    note_trial(params);
    return result(quantity(gas_of_a_transfer));
  }
  if (method == "eth_getBlockByNumber") return block(params);
  if (method == "eth_getBlockReceipts") return receipts(params);
  if (method == "eth_getTransactionCount") return count(params);
  if (method == "eth_getTransactionByHash") return tx_by_hash(params);
  if (method == "eth_getTransactionReceipt") return receipt_by_hash(params);
  if (method == "eth_chainId") return result(quantity(rules_.chain_number));
  if (method == "eth_getBalance") return result(quantity(std::uint64_t{1} << 63U));
  if (method == "eth_getCode") return result(quoted("0x6000"));
  if (method == "eth_feeHistory") return result(fee_history());
  if (method == "eth_call") {
    note_trial(params);
    return view_call(params);
  }
  if (method == "eth_getLogs") return logs(params);
  // Its accounts have money, and its token is there from the beginning.
  if (method == "anvil_setBalance" || method == "anvil_setCode" || method == "anvil_setStorageAt") {
    return result("null");
  }
  return error(-32601, "the method " + std::string(method.substr(0, 40)) + " does not exist");
}

// The engine has each call tried, or its gas estimated, before it signs it.
void NodeAnswers::note_trial(const json::array& params) {
  constexpr std::size_t digits = 2 * domain::Ref::size;
  const json::object* const call = params.empty() ? nullptr : params[0].if_object();
  const json::value* const from = call == nullptr ? nullptr : call->if_contains("from");
  const json::value* const data = call == nullptr ? nullptr : call->if_contains("data");
  if (from == nullptr || !from->is_string() || data == nullptr || !data->is_string()) return;
  const std::string_view text = data->get_string();
  if (text.size() < digits) return;
  const auto tail = domain::Ref::from_text(text.substr(text.size() - digits));
  if (tail) ledger_.note_trial(*tail, {std::string(from->get_string())});
}

// A fault hits what reaches the pool, the way back, or both.
std::string NodeAnswers::post(const json::array& params) {
  const auto bytes = from_hex(text_at(params, 0));
  if (!bytes) return error(-32602, "invalid transaction");
  if (dice_.hits(rules_.fault_rate)) {
    ++faults_;
    const std::uint64_t kind = dice_.number() % 4;
    if (kind == 0) return error(-32603, "internal error");
    if (kind == 1) return error(-32000, "txpool is full");
    (void)ledger_.take(*bytes);
    if (kind == 2) return error(-32603, "internal error");
  }
  const auto taken = ledger_.take(*bytes);
  if (const auto* no = taken.refused()) return refusal(*no);
  if (taken.ok()->already_known) return error(-32000, "already known");
  return result(quoted(to_0x(evm::keccak256(*bytes).value)));
}

const Ledger::Block* NodeAnswers::block_at(const json::array& params) {
  const std::string at = text_at(params, 0);
  const auto height = U256::from_0x(at);
  if (height) return ledger_.block(height->to_u64().value_or(~std::uint64_t{0}));
  if (at == "latest" && now_ms_ - last_block_ms_ >= rules_.block_ms) {
    ledger_.mine(now_s_, most_in_a_block);
    last_block_ms_ = now_ms_;
  }
  return &ledger_.newest();  // each block is final at once
}

std::string NodeAnswers::block(const json::array& params) {
  const Ledger::Block* const found = block_at(params);
  if (found == nullptr) return result("null");
  const bool whole = params.size() > 1 && params[1].is_bool() && params[1].get_bool();
  std::string out;
  out.reserve(bytes_of_one + (whole ? found->count * bytes_of_one : 0));
  add(out, R"("result":{"number":)", quantity(found->ref.height), R"(,"hash":")",
      found->ref.hash.hex(), R"(","parentHash":")", found->parent.hex(), R"(","timestamp":)",
      quantity(static_cast<std::uint64_t>(found->time_s)), R"(,"transactions":[)");
  const std::string where = place(*found);
  for (std::uint64_t i = 0; whole && i < found->count; ++i) {
    const Ledger::Tx* const tx = ledger_.at(found->first + i);
    if (tx == nullptr) return result("null");
    if (i > 0) out += ',';
    add_tx(out, *tx, where);
  }
  out += "]}";
  return out;
}

std::string NodeAnswers::receipts(const json::array& params) {
  const Ledger::Block* const found = block_at(params);
  if (found == nullptr) return result("null");
  std::string out;
  out.reserve(bytes_of_one + found->count * bytes_of_one);
  out += R"("result":[)";
  const std::string where = place(*found);
  for (std::uint64_t i = 0; i < found->count; ++i) {
    const Ledger::Tx* const tx = ledger_.at(found->first + i);
    if (tx == nullptr) return result("null");
    if (i > 0) out += ',';
    add_receipt(out, *tx, where);
  }
  out += ']';
  return out;
}

// At a height the count is today's: the engine asks for an older one only when a number of its own
// was used by a stranger, and here are none.
std::string NodeAnswers::count(const json::array& params) {
  const auto account = evm::parse_address(text_at(params, 0));
  if (!account) return error(-32602, "invalid address");
  const Ledger::Counts counts = ledger_.counts({evm::to_checksum(*account)});
  return result(quantity(text_at(params, 1) == "pending" ? counts.pending : counts.mined));
}

std::string NodeAnswers::view_call(const json::array& params) const {
  const json::object* const call = params.empty() ? nullptr : params[0].if_object();
  const json::value* const to = call == nullptr ? nullptr : call->if_contains("to");
  const json::value* data = call == nullptr ? nullptr : call->if_contains("data");
  if (data == nullptr && call != nullptr) data = call->if_contains("input");
  if (to == nullptr || !to->is_string() || data == nullptr || !data->is_string()) {
    return error(-32602, "invalid call");
  }
  const auto contract = evm::parse_address(std::string(to->get_string()));
  const auto bytes = from_hex(std::string(data->get_string()));
  if (!contract || !bytes || contract->view().empty()) return error(-32602, "invalid call");
  if (*contract != token_domain(rules_.chain_number).verifying_contract) return result("\"0x\"");
  const auto answer =
      token_answer(*bytes, rules_.chain_number,
                   [this](const AuthorizationKey& key) { return ledger_.use(key) != nullptr; });
  return answer ? result(quoted(to_0x(*answer))) : error(3, "execution reverted");
}

// The one thing that is looked for so: the use of an authorization, whatever the range.
std::string NodeAnswers::logs(const json::array& params) const {
  const json::object* const filter = params.empty() ? nullptr : params[0].if_object();
  const json::value* const topics = filter == nullptr ? nullptr : filter->if_contains("topics");
  if (topics == nullptr || !topics->is_array() || topics->get_array().size() != 3) {
    return error(-32602, "invalid filter");
  }
  const auto payer = evm::Bytes32::from_text(text_at(topics->get_array(), 1));
  const auto nonce = evm::Bytes32::from_text(text_at(topics->get_array(), 2));
  if (!payer || !nonce) return error(-32602, "invalid filter");
  const AuthorizationKey key{*evm::Address20::from(payer->view().last(evm::Address20::size)),
                             *nonce};
  const Ledger::Tx* const tx = ledger_.use(key);
  if (tx == nullptr) return result("[]");
  return result('[' + use_text(tx->says) + ",\"transactionHash\":" + quoted(tx->hash.hex()) + ',' +
                place(*ledger_.block(tx->height)) + ",\"logIndex\":\"0x0\"}]");
}

std::string NodeAnswers::tx_by_hash(const json::array& params) {
  const auto hash = domain::TxHash::from_text(text_at(params, 0));
  const Ledger::Tx* const tx = hash ? ledger_.known(*hash) : nullptr;
  return result(tx == nullptr ? "null" : tx_text(*tx));
}

std::string NodeAnswers::receipt_by_hash(const json::array& params) {
  const auto hash = domain::TxHash::from_text(text_at(params, 0));
  const Ledger::Tx* const tx = hash ? ledger_.mined(*hash) : nullptr;
  return result(tx == nullptr ? "null" : receipt_text(*tx));
}

std::string NodeAnswers::tx_text(const Ledger::Tx& tx) const {
  std::string out;
  add_tx(out, tx, tx.height > 0 ? place(*ledger_.block(tx.height)) : std::string(no_place));
  return out;
}

std::string NodeAnswers::receipt_text(const Ledger::Tx& tx) const {
  std::string out;
  add_receipt(out, tx, place(*ledger_.block(tx.height)));
  return out;
}

void NodeAnswers::add_tx(std::string& out, const Ledger::Tx& tx, const std::string& place) const {
  const U256 value = tx.says.token ? U256{} : tx.says.amount;
  add(out, R"({"hash":")", tx.hash.hex(), "\",", place, R"(,"from":")", ledger_.sender(tx).value);
  add(out, R"(","nonce":)", quantity(tx.says.nonce), R"(,"to":")");
  add(out, (tx.says.token ? *tx.says.token : tx.says.payee).hex(), R"(","value":")");
  add(out, value.quantity(), R"(","input":")", input_of(tx.says), "\"}");
}

void NodeAnswers::add_receipt(std::string& out, const Ledger::Tx& tx,
                              const std::string& place) const {
  add(out, R"({"transactionHash":")", tx.hash.hex(), "\",", place);
  add(out, tx.succeeded ? R"(,"status":"0x1","from":")" : R"(,"status":"0x0","from":")");
  add(out, ledger_.sender(tx).value, R"(","gasUsed":)", quantity(gas_of_a_transfer));
  add(out, R"(,"effectiveGasPrice":)", quantity(gas_price), R"(,"logs":[)");
  if (tx.says.token && tx.succeeded) {
    evm::Address20 from;
    if (tx.says.authorization) {
      from = tx.says.authorization->payer;
      out += use_text(tx.says) + "},";
    } else {
      from = *evm::parse_address(ledger_.sender(tx).value);
    }
    out += event_text(*tx.says.token,
                      {evm::topics::transfer.hex(), word_of(from), word_of(tx.says.payee)},
                      to_0x(tx.says.amount.big_endian())) +
           '}';
  }
  out += "]}";
}

}  // namespace holdfast::load
