#include "evm/wire.hpp"

#include <algorithm>
#include <unordered_map>

#include <boost/system/system_error.hpp>

#include "evm/codec_error.hpp"
#include "evm/wire_fields.hpp"

namespace holdfast::evm {
namespace {

Unreadable unreadable(std::string_view what, std::string_view reason) {
  return {std::string(what) + " " + std::string(reason)};
}

domain::BlockRef block_ref(Fields& fields, std::string_view height, std::string_view hash) {
  const std::uint64_t number = fields.number(height);
  return {number, fields.fixed<domain::BlockHash>(hash)};
}

bool is_known_topic(const Bytes32& topic) {
  return topic == topics::transfer || topic == topics::authorization_used ||
         topic == topics::authorization_canceled;
}

/// The topics of a log; at most four (EVM: LOG0 … LOG4).
std::vector<Bytes32> read_topics(Fields& log) {
  std::vector<Bytes32> out;
  const boost::json::array* items = log.list("topics", 4);
  if (items == nullptr) return out;
  for (const boost::json::value& item : *items) {
    const boost::json::string* text = item.if_string();
    const auto topic = text == nullptr ? std::nullopt : Bytes32::from_text(*text);
    if (!topic) {
      log.refuse("topics", "has an item that is not 32 bytes");
      return out;
    }
    out.push_back(*topic);
  }
  return out;
}

/// Far more than any wallet's signature takes.
constexpr std::size_t longest_settle = 65'536;

/// The three events carry at most one word; more is another contract's own event, read no further.
constexpr std::size_t event_data_limit = 256;

std::optional<Log> read_event(Fields& fields) {
  Log log;
  log.topics = read_topics(fields);
  if (fields.failed() || log.topics.empty() || !is_known_topic(log.topics[0])) return std::nullopt;
  if (fields.is_true("removed")) fields.refuse("removed", "is set: the chain changed");
  log.address = fields.fixed<Address20>("address");
  const std::string_view data = fields.data("data");
  if (fields.failed() || data.size() > 2 + 2 * event_data_limit) return std::nullopt;
  log.data = *from_hex(data);
  return log;
}

std::vector<WireEvent> read_events(Fields& receipt) {
  std::vector<WireEvent> out;
  const boost::json::array* logs = receipt.list("logs", wire_limits::logs_in_receipt);
  if (logs == nullptr) return out;
  std::uint32_t index = 0;
  for (const boost::json::value& item : *logs) {
    ++index;
    Fields fields(item, "log");
    std::optional<Log> log = read_event(fields);
    if (fields.failed()) {
      receipt.refuse("logs", "cannot be read: " + fields.refusal().why);
      return {};
    }
    if (log) out.push_back({index, std::move(*log)});
  }
  return out;
}

U256 read_fee(Fields& receipt) {
  const std::uint64_t gas = receipt.number("gasUsed");
  const U256 price = receipt.amount("effectiveGasPrice");
  // Rollups of the OP stack charge for their data apart from gas.
  const U256 data_fee = receipt.absent("l1Fee") ? U256{} : receipt.amount("l1Fee");
  const std::optional<U256> execution = price.times(gas);
  const std::optional<U256> total = execution ? execution->plus(data_fee) : std::nullopt;
  if (!total) receipt.refuse("effectiveGasPrice", "times gasUsed is over 256 bits");
  return total.value_or(U256{});
}

template <class T, class One>
Read<std::vector<T>> read_list(const boost::json::value& value, std::string_view what,
                               std::size_t limit, One one) {
  const boost::json::array* items = value.if_array();
  if (items == nullptr) return unreadable(what, "is not a list");
  if (items->size() > limit) {
    return unreadable(what, "has more than " + std::to_string(limit) + " items");
  }
  std::vector<T> out;
  out.reserve(items->size());
  for (const boost::json::value& item : *items) {
    Read<T> read = one(item);
    if (!read) return read.error();
    out.push_back(std::move(*read));
  }
  return out;
}

}  // namespace

void throw_exception_from_error(const Unreadable& error, const boost::source_location& at) {
  boost::throw_with_location(
      boost::system::system_error(make_error_code(CodecError::bad_abi), error.why), at);
}

std::string quantity(std::uint64_t number) { return U256(number).quantity(); }

Read<U256> read_quantity(const boost::json::value& value, std::string_view what) {
  const boost::json::string* text = value.if_string();
  const std::optional<U256> number = text == nullptr ? std::nullopt : U256::from_0x(*text);
  if (!number) return unreadable(what, "is not a hex quantity of at most 256 bits");
  return *number;
}

Read<std::uint64_t> read_number(const boost::json::value& value, std::string_view what,
                                std::uint64_t limit) {
  const Read<U256> wide = read_quantity(value, what);
  if (!wide) return wide.error();
  const std::optional<std::uint64_t> number = wide->to_u64();
  if (!number || *number > limit) return unreadable(what, "is over " + std::to_string(limit));
  return *number;
}

Read<Bytes> read_data(const boost::json::value& value, std::string_view what, std::size_t limit) {
  const boost::json::string* text = value.if_string();
  if (text == nullptr || text->size() > 2 + 2 * limit || !is_data(*text)) {
    return unreadable(what, "is not hex of at most " + std::to_string(limit) + " bytes");
  }
  return *from_hex(*text);
}

Read<domain::TxHash> read_hash(const boost::json::value& value, std::string_view what) {
  const boost::json::string* text = value.if_string();
  const auto hash = text == nullptr || !std::string_view(*text).starts_with("0x")
                        ? std::nullopt
                        : domain::TxHash::from_text(*text);
  if (!hash) return unreadable(what, "is not 32 bytes of hex behind 0x");
  return *hash;
}

Read<Header> read_header(const boost::json::value& value) {
  Fields fields(value, "block");
  Header out;
  out.ref = block_ref(fields, "number", "hash");
  out.parent = fields.fixed<domain::BlockHash>("parentHash");
  out.time_s = static_cast<std::int64_t>(fields.number("timestamp", wire_limits::time_s));
  if (!fields.absent("baseFeePerGas")) out.base_fee = fields.amount("baseFeePerGas");
  if (fields.failed()) return fields.refusal();
  return out;
}

Read<WireTx> read_tx(const boost::json::value& value) {
  Fields fields(value, "transaction");
  WireTx out;
  out.hash = fields.fixed<domain::TxHash>("hash");
  if (!fields.absent("blockHash")) out.block = block_ref(fields, "blockNumber", "blockHash");
  out.from = fields.fixed<Address20>("from");
  out.nonce = fields.number("nonce");
  if (!fields.absent("to")) out.to = fields.fixed<Address20>("to");
  out.value = fields.amount("value");
  const std::string_view input = fields.data("input");
  if (fields.failed()) return fields.refusal();
  if (out.to == exact_proxy_address && input.size() <= 2 + 2 * longest_settle) {
    const Result<ExactPermit> settles = decode_settle(*from_hex(input));
    if (settles) out.settles = *settles;
  }
  constexpr std::size_t digits = 2 * domain::Ref::size;
  if (input.size() >= 2 + digits) {
    out.tail = domain::Ref::from_text(input.substr(input.size() - digits));
  }
  return out;
}

Read<WireBlock> read_block(const boost::json::value& value) {
  const Read<Header> header = read_header(value);
  if (!header) return header.error();
  const boost::json::value* txs = value.get_object().if_contains("transactions");
  if (txs == nullptr) return unreadable("block.transactions", "is missing");
  Read<std::vector<WireTx>> read =
      read_list<WireTx>(*txs, "block.transactions", wire_limits::txs_in_block, read_tx);
  if (!read) return read.error();
  return WireBlock{*header, std::move(*read)};
}

Read<WireReceipt> read_receipt(const boost::json::value& value) {
  Fields fields(value, "receipt");
  WireReceipt out;
  out.hash = fields.fixed<domain::TxHash>("transactionHash");
  out.block = block_ref(fields, "blockNumber", "blockHash");
  out.succeeded = fields.number("status", 1) == 1;
  out.from = fields.fixed<Address20>("from");
  out.fee_paid = read_fee(fields);
  out.events = read_events(fields);
  if (!out.succeeded && !out.events.empty()) {
    fields.refuse("logs", "has events although the transaction reverted");
  }
  if (fields.failed()) return fields.refusal();
  return out;
}

Read<std::vector<WireReceipt>> read_receipts(const boost::json::value& value) {
  return read_list<WireReceipt>(value, "receipts", wire_limits::txs_in_block, read_receipt);
}

Read<std::vector<FoundLog>> read_logs(const boost::json::value& value, std::size_t limit) {
  return read_list<FoundLog>(value, "logs", limit,
                             [](const boost::json::value& item) -> Read<FoundLog> {
                               Fields fields(item, "log");
                               FoundLog out;
                               out.tx = fields.fixed<domain::TxHash>("transactionHash");
                               out.block = block_ref(fields, "blockNumber", "blockHash");
                               std::optional<Log> log = read_event(fields);
                               if (!log) fields.refuse("topics", "is not what was asked for");
                               if (fields.failed()) return fields.refusal();
                               out.log = std::move(*log);
                               return out;
                             });
}

}  // namespace holdfast::evm
