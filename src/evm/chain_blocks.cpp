// Owns: the EVM chain's reads of whole blocks and of single transactions, and the search for the
// transaction that consumed a sequence.
#include <algorithm>
#include <utility>

#include "evm/chain.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using ports::Outcome;
using ports::Whereabouts;

namespace {

constexpr std::size_t receipts_at_once = 100;

RpcCall by_hash(std::string method, const domain::TxHash& hash) {
  return {std::move(method), json::array{hash.hex()}};
}

bool lacks_method(const Answer& answer) {
  return answer.refused() != nullptr &&
         answer.refused()->kind == ports::RefusalKind::no_such_method;
}

}  // namespace

ports::Awaitable<Outcome<std::vector<WireReceipt>>> EvmChain::receipts_one_by_one(
    Rpc& voice, const WireBlock& block) {
  using Receipts = std::vector<WireReceipt>;
  Receipts out;
  out.reserve(block.txs.size());
  for (std::size_t at = 0; at < block.txs.size(); at += receipts_at_once) {
    std::vector<RpcCall> calls;
    for (std::size_t i = at; i < std::min(at + receipts_at_once, block.txs.size()); ++i) {
      calls.push_back(by_hash("eth_getTransactionReceipt", block.txs[i].hash));
    }
    const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
    if (const Answer* failed = first_failure(answers)) co_return failed->failure<Receipts>();
    for (const Answer& answer : answers) {
      Read<WireReceipt> receipt = read_receipt(*answer.ok());
      if (!receipt) co_return unknown(receipt.error());
      out.push_back(std::move(*receipt));
    }
  }
  co_return out;
}

std::optional<EvmChain::Newest> EvmChain::take_newest(Rpc& voice, std::uint64_t height) {
  const auto heard = heard_.find(&voice);
  if (heard == heard_.end()) return std::nullopt;
  std::optional<WireBlock>& newest = heard->second.newest;
  if (!newest || newest->header.ref.height != height) return std::nullopt;
  Newest out{std::move(*newest), std::exchange(heard->second.receipts, std::nullopt)};
  newest.reset();
  return out;
}

ports::Awaitable<Outcome<std::optional<ports::Block>>> EvmChain::block_of(Rpc& voice,
                                                                          std::uint64_t height) {
  using Found = std::optional<ports::Block>;
  // It may have come with the head; what was told of it then fits together with these receipts, or
  // `join` says that it does not.
  std::optional<WireBlock> block;
  std::optional<std::vector<WireReceipt>> known;
  if (std::optional<Newest> newest = take_newest(voice, height)) {
    block = std::move(newest->block);
    known = std::move(newest->receipts);
  }
  std::vector<RpcCall> calls;
  const bool asks_block = !block;
  if (asks_block) calls.push_back({"eth_getBlockByNumber", json::array{quantity(height), true}});
  const bool is_empty = block && block->txs.empty();
  const bool asks_receipts = !is_empty && !known && !lacks_block_receipts_.contains(&voice);
  if (asks_receipts) calls.push_back({"eth_getBlockReceipts", json::array{quantity(height)}});
  const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
  if (asks_block) {
    if (answers[0].ok() == nullptr) co_return answers[0].failure<Found>();
    if (answers[0].ok()->is_null()) co_return Found{};
    Read<WireBlock> read = read_block(*answers[0].ok());
    if (!read) co_return unknown(read.error());
    block = std::move(*read);
    heard_[&voice].txs = block->txs.size();
  }
  if (block->header.ref.height != height) co_return unknown("a block of another height");

  if (asks_receipts && lacks_method(answers.back())) lacks_block_receipts_.insert(&voice);
  Outcome<std::vector<WireReceipt>> receipts;
  if (is_empty) {
    receipts = std::vector<WireReceipt>{};
  } else if (known) {
    receipts = *std::move(known);
  } else if (lacks_block_receipts_.contains(&voice)) {
    receipts = co_await receipts_one_by_one(voice, *block);
  } else if (answers.back().ok() == nullptr) {
    receipts = answers.back().failure<std::vector<WireReceipt>>();
  } else {
    receipts = outcome_of(read_receipts(*answers.back().ok()));
  }
  if (receipts.ok() == nullptr) co_return receipts.failure<Found>();
  Read<std::vector<domain::MinedTx>> txs = join(*block, *receipts.ok());
  if (!txs) co_return unknown(txs.error());
  co_return Found{ports::Block{.ref = block->header.ref,
                               .parent = block->header.parent,
                               .time_s = block->header.time_s,
                               .txs = std::move(*txs)}};
}

ports::Awaitable<Outcome<Whereabouts>> EvmChain::find_of(Rpc& voice, domain::TxHash hash) {
  std::vector<RpcCall> calls{by_hash("eth_getTransactionByHash", hash),
                             by_hash("eth_getTransactionReceipt", hash)};
  const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
  if (const Answer* failed = first_failure(answers)) co_return failed->failure<Whereabouts>();
  const json::value& tx_answer = *answers[0].ok();
  const json::value& receipt_answer = *answers[1].ok();
  if (tx_answer.is_null() && receipt_answer.is_null()) co_return Whereabouts{};
  if (tx_answer.is_null()) co_return unknown("a receipt without its transaction");
  const Read<WireTx> tx = read_tx(tx_answer);
  if (!tx) co_return unknown(tx.error());
  if (tx->hash != hash) co_return unknown("a transaction of another hash than was asked for");
  if (receipt_answer.is_null()) {
    if (tx->block) co_return unknown("a transaction in a block, and no receipt of it yet");
    co_return Whereabouts{Whereabouts::Place::pending, std::nullopt};
  }
  Read<WireReceipt> receipt = read_receipt(receipt_answer);
  if (!receipt) co_return unknown(receipt.error());
  co_return co_await located(voice, *tx, std::move(*receipt));
}

/// A receipt may come from a block that is canonical no more, or from a node on another fork: it
/// counts when the block now at its height is its block.
ports::Awaitable<Outcome<Whereabouts>> EvmChain::located(Rpc& voice, WireTx tx,
                                                         WireReceipt receipt) {
  const Outcome<Header> header = co_await header_at(voice, receipt.block.height);
  if (header.ok() == nullptr) co_return header.failure<Whereabouts>();
  Read<domain::MinedTx> mined = join(*header.ok(), tx, receipt);
  if (!mined) co_return unknown(mined.error());
  co_return Whereabouts{Whereabouts::Place::mined, std::move(*mined)};
}

/// The lowest height whose state has a count above `at`, at most `final_height`, whose count is
/// above it (the caller has seen that).
ports::Awaitable<Outcome<std::uint64_t>> EvmChain::height_that_passed(
    Rpc& voice, const domain::Address& account, std::uint64_t at, std::uint64_t final_height) {
  std::uint64_t above = final_height;  // count there > at
  std::optional<std::uint64_t> not_above;  // count there <= at
  for (std::uint64_t step = 1; !not_above && above > 0; step *= 4) {
    const std::uint64_t probe = above - std::min(step, above);
    const Outcome<std::uint64_t> count = co_await count_at(voice, account, quantity(probe));
    if (count.ok() == nullptr) co_return count;
    if (*count.ok() > at) {
      above = probe;
    } else {
      not_above = probe;
    }
  }
  if (!not_above) co_return unknown("the account's count is above this number in block zero");
  while (above - *not_above > 1) {
    const std::uint64_t probe = *not_above + (above - *not_above) / 2;
    const Outcome<std::uint64_t> count = co_await count_at(voice, account, quantity(probe));
    if (count.ok() == nullptr) co_return count;
    if (*count.ok() > at) {
      above = probe;
    } else {
      not_above = probe;
    }
  }
  co_return above;
}

ports::Awaitable<Outcome<std::optional<domain::MinedTx>>> EvmChain::consumer_of(
    Rpc& voice, domain::Address account, domain::Sequence at) {
  using Found = std::optional<domain::MinedTx>;
  const Outcome<Header> final = co_await final_block_of(voice);
  if (final.ok() == nullptr) co_return final.failure<Found>();
  const std::uint64_t top = final.ok()->ref.height;
  const Outcome<std::uint64_t> count = co_await count_at(voice, account, quantity(top));
  if (count.ok() == nullptr) co_return count.failure<Found>();
  if (*count.ok() <= at.value) co_return Found{};
  const Outcome<std::uint64_t> height = co_await height_that_passed(voice, account, at.value, top);
  if (height.ok() == nullptr) co_return height.failure<Found>();
  Outcome<std::optional<ports::Block>> read = co_await block_of(voice, *height.ok());
  if (read.ok() == nullptr) co_return read.failure<Found>();
  if (!*read.ok()) co_return unknown("the node has no block at a final height");
  for (domain::MinedTx& tx : (*read.ok())->txs) {
    if (tx.sender == account && tx.sequence == at) co_return Found{std::move(tx)};
  }
  co_return Found{};
}

}  // namespace holdfast::evm
