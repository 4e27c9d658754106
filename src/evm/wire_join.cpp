// Owns: a transaction and its receipt made one mined transaction of the domain.
#include <algorithm>
#include <unordered_map>

#include "evm/method_names.hpp"
#include "evm/wire.hpp"

namespace holdfast::evm {
namespace {

domain::Address account(const Address20& address) { return {to_checksum(address)}; }
domain::AssetId token(const Address20& address) { return {to_checksum(address)}; }

void take(domain::MinedTx& out, const WireEvent& event, const Result<AuthorizationEvent>& read,
          bool canceled) {
  if (!read) return;
  out.authorizations.push_back({.asset = token(read->token),
                                .authorizer = account(read->authorizer),
                                .nonce = {read->nonce.value},
                                .canceled = canceled,
                                .index = event.index,
                                .method = transfer_authorization_name});
}

void take(domain::MinedTx& out, const WireEvent& event) {
  const Bytes32& topic = event.log.topics[0];
  if (topic == topics::authorization_used) {
    take(out, event, decode_authorization_used(event.log), false);
  } else if (topic == topics::authorization_canceled) {
    take(out, event, decode_authorization_canceled(event.log), true);
  } else if (const auto read = decode_transfer_event(event.log)) {
    out.transfers.push_back({.asset = token(read->token),
                             .from = account(read->from),
                             .to = account(read->to),
                             .amount = read->value,
                             .index = event.index});
  }
}

// Where no contract is at the proxy's address a call succeeds and does nothing.
void take_settled(domain::MinedTx& out, const ExactPermit& permit) {
  const domain::AssetId asset = token(permit.token);
  const domain::Address owner = account(permit.owner);
  const bool moved = std::ranges::any_of(out.transfers, [&](const domain::Transfer& transfer) {
    return transfer.asset == asset && transfer.from == owner;
  });
  if (!moved) return;
  out.authorizations.push_back({.asset = asset,
                                .authorizer = owner,
                                .nonce = {permit.nonce.big_endian()},
                                .canceled = false,
                                .index = 0,
                                .method = permit2_name});
}

}  // namespace

Read<domain::MinedTx> join(const Header& header, const WireTx& tx, const WireReceipt& receipt) {
  if (receipt.hash != tx.hash) return Unreadable{"a receipt of another transaction"};
  if (receipt.block != header.ref || tx.block != header.ref) {
    return Unreadable{"the chain changed between two reads: another block hash"};
  }
  if (receipt.from != tx.from) return Unreadable{"a receipt with another sender"};

  domain::MinedTx out;
  out.hash = tx.hash;
  out.block = header.ref;
  out.block_time_s = header.time_s;
  out.succeeded = receipt.succeeded;
  out.sender = account(tx.from);
  out.sequence = {tx.nonce};
  out.fee_paid = receipt.fee_paid;
  out.trailing_ref = tx.tail;
  if (receipt.succeeded && tx.to && !tx.value.is_zero()) {
    out.transfers.push_back({.asset = domain::native_asset,
                             .from = out.sender,
                             .to = account(*tx.to),
                             .amount = tx.value,
                             .index = 0});
  }
  for (const WireEvent& event : receipt.events) take(out, event);
  if (receipt.succeeded && tx.settles) take_settled(out, *tx.settles);
  return out;
}

Read<std::vector<domain::MinedTx>> join(const WireBlock& block,
                                        std::span<const WireReceipt> receipts) {
  std::unordered_map<domain::TxHash, const WireReceipt*> by_hash;
  by_hash.reserve(receipts.size());
  for (const WireReceipt& receipt : receipts) {
    if (receipt.block != block.header.ref) {
      return Unreadable{"the chain changed between two reads: receipts of another block"};
    }
    if (!by_hash.emplace(receipt.hash, &receipt).second) {
      return Unreadable{"two receipts of one transaction"};
    }
  }
  std::vector<domain::MinedTx> out;
  out.reserve(block.txs.size());
  for (const WireTx& tx : block.txs) {
    const auto found = by_hash.find(tx.hash);
    if (found == by_hash.end()) return Unreadable{"a transaction of the block has no receipt"};
    Read<domain::MinedTx> mined = join(block.header, tx, *found->second);
    if (!mined) return mined.error();
    out.push_back(std::move(*mined));
  }
  return out;
}

}  // namespace holdfast::evm
