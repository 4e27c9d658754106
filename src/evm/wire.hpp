// Owns: the strict reading of what a node answers: quantities, hashes, blocks, receipts,
// transactions, logs; and their joining into what the domain calls a mined transaction.
// Must never: throw, guess a missing field, or echo a node's text in a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>
#include <boost/system/result.hpp>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/uint256.hpp>
#include <holdfast/domain/mined_tx.hpp>

#include "evm/address.hpp"
#include "evm/logs.hpp"
#include "evm/permit2.hpp"

namespace holdfast::evm {

/// Why an answer cannot be read: a short reason naming the field. An answer that cannot be read
/// says nothing: it becomes an Unknown, never a no.
struct Unreadable {
  std::string why;
};
[[noreturn]] void throw_exception_from_error(const Unreadable& error,
                                             const boost::source_location& at);
template <class T>
using Read = boost::system::result<T, Unreadable>;

/// Bounds of one answer; over any of them it is unreadable.
namespace wire_limits {
inline constexpr std::size_t txs_in_block = 50'000;
inline constexpr std::size_t logs_in_receipt = 100'000;
/// Heights, sequences and gas: what the store can hold.
inline constexpr std::uint64_t number = (std::uint64_t{1} << 63) - 1;
/// Block times, in Unix seconds: the end of the year 9999.
inline constexpr std::uint64_t time_s = 253'402'300'799;
}  // namespace wire_limits

struct Header {
  domain::BlockRef ref;
  domain::BlockHash parent;
  std::int64_t time_s = 0;
  std::optional<U256> base_fee{};  ///< wei per unit of gas; empty before EIP-1559
};

/// A transaction as sent. `block` is empty while it is in a pool.
struct WireTx {
  domain::TxHash hash;
  std::optional<domain::BlockRef> block;
  Address20 from;
  std::uint64_t nonce = 0;
  std::optional<Address20> to;  ///< empty: it creates a contract
  U256 value;
  std::optional<ExactPermit> settles;  ///< what a call of the exact proxy settles
  std::optional<domain::Ref> tail;  ///< the last 32 bytes of the input, when it has as many
};

/// One of the three events of logs.hpp, by its shape at least. `index` is its place among the logs
/// of its receipt, counted from 1: zero is the transaction's own value transfer.
struct WireEvent {
  std::uint32_t index = 0;
  Log log;
};

struct WireReceipt {
  domain::TxHash hash;
  domain::BlockRef block;
  bool succeeded = false;
  Address20 from;
  U256 fee_paid;  ///< wei: gas used at its price, and the L1 data fee where the receipt states one
  std::vector<WireEvent> events;
};

/// A block with its transactions in full (`eth_getBlockByNumber(…, true)`).
struct WireBlock {
  Header header;
  std::vector<WireTx> txs;
};

/// A log as `eth_getLogs` gives it: where it stands, and its content.
struct FoundLog {
  domain::TxHash tx;
  domain::BlockRef block;
  Log log;
};

/// Hex quantity of at most 2^256 − 1; leading zeros are read.
Read<U256> read_quantity(const boost::json::value& value, std::string_view what);
/// Hex quantity of at most `limit`.
Read<std::uint64_t> read_number(const boost::json::value& value, std::string_view what,
                                std::uint64_t limit = wire_limits::number);
/// "0x" and an even number of hex digits, of at most `limit` bytes.
Read<Bytes> read_data(const boost::json::value& value, std::string_view what, std::size_t limit);
/// A transaction hash.
Read<domain::TxHash> read_hash(const boost::json::value& value, std::string_view what);

Read<Header> read_header(const boost::json::value& value);
Read<WireTx> read_tx(const boost::json::value& value);
Read<WireBlock> read_block(const boost::json::value& value);
/// Only logs whose first topic is one of the three events are kept, read and checked.
Read<WireReceipt> read_receipt(const boost::json::value& value);
Read<std::vector<WireReceipt>> read_receipts(const boost::json::value& value);
Read<std::vector<FoundLog>> read_logs(const boost::json::value& value, std::size_t limit);

/// A transaction and its receipt as one, when both speak of the same transaction in the same block
/// as `header`; unreadable otherwise (the chain may have changed between two reads).
/// A log that carries one of the three topics and another shape (an ERC-721 transfer) is left out:
/// it moved nothing that this engine pays in. A settling call of the exact proxy that succeeded and
/// moved the owner's tokens used its Permit2 nonce, of which no contract writes a log: that use is
/// told by the call data, before all logs.
Read<domain::MinedTx> join(const Header& header, const WireTx& tx, const WireReceipt& receipt);
/// Every transaction of the block joined with its receipt, in block order. A receipt missing, or of
/// another block: unreadable. Receipts beyond the transactions listed are passed over: some chains
/// make them for system work that nobody signed.
Read<std::vector<domain::MinedTx>> join(const WireBlock& block,
                                        std::span<const WireReceipt> receipts);

/// The JSON-RPC text of a height.
std::string quantity(std::uint64_t number);

}  // namespace holdfast::evm
