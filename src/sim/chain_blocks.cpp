#include <algorithm>
#include <tuple>
#include <utility>

#include <holdfast/base/ensure.hpp>

#include "sim/chain.hpp"

// The making of blocks, the hand of the test, and the chain's own account.

namespace holdfast::sim {

ScriptedChain::ScriptedChain(SimClock& clock, ScriptedChainOptions options)
    : clock_(clock), options_(std::move(options)) {
  Mined first;
  first.block.ref.hash = domain::BlockHash{
      FieldHash("sim/block/1").add(options_.info.id.value).add(std::uint64_t{0}).finish()};
  first.block.time_s = clock_.wall_ms() / 1000;
  blocks_.push_back(std::move(first));
  next_block_ms_ = clock_.mono_ms() + options_.block_ms;
}

void ScriptedChain::set_block_ms(std::int64_t block_ms) {
  catch_up();
  options_.block_ms = block_ms;
  next_block_ms_ = clock_.mono_ms() + block_ms;
}

// Blocks on a timetable are made when somebody looks: each then holds what had arrived by its time,
// since every arrival looks first. So the chain needs no coroutine of its own.
void ScriptedChain::catch_up() {
  while (options_.block_ms > 0 && next_block_ms_ <= clock_.mono_ms()) {
    deliver_late(next_block_ms_);
    mine_at(wall_s_at(next_block_ms_), hold_);
    next_block_ms_ += options_.block_ms;
  }
  deliver_late(clock_.mono_ms());
}

void ScriptedChain::deliver_late(std::int64_t until_ms) {
  while (!late_.empty() && late_.begin()->first <= until_ms) {
    Late arrived = std::move(late_.begin()->second);
    late_.erase(late_.begin());
    std::ignore = deliver(std::move(arrived.bytes), arrived.hash, view(0));  // nobody hears it
  }
}

std::int64_t ScriptedChain::wall_s_at(std::int64_t mono_ms) const {
  return (wall_at_zero_ms_ + mono_ms) / 1000;
}

void ScriptedChain::mine(std::size_t blocks) {
  catch_up();
  for (; blocks > 0; --blocks) mine_at(wall_s_at(clock_.mono_ms()), hold_);
}

void ScriptedChain::mine_at(std::int64_t time_s, bool empty) {
  Mined mined;
  ports::Block& block = mined.block;
  const ports::Block& parent = newest();
  block.ref.height = parent.ref.height + 1;
  block.parent = parent.ref.hash;
  block.time_s = std::max(time_s, parent.time_s);
  block.ref.hash = domain::BlockHash{
      FieldHash("sim/block/1").add(block.parent.view()).add(block.ref.height).add(fork_).finish()};
  if (!empty) {
    std::set<domain::Address> blocked;
    for (Mempool::Pending& pending : pool_.ready(books_)) {
      const domain::Address sender = pending.tx.order.sender;
      if (blocked.contains(sender)) continue;
      if (auto tx = run(block, pending)) {
        index_.add(*tx);
        ever_mined_.insert(tx->hash);
        block.txs.push_back(std::move(*tx));
        mined.txs.push_back(std::move(pending));
      } else {
        blocked.insert(sender);
      }
    }
    pool_.settle(books_);
  }
  blocks_.push_back(std::move(mined));
  const std::uint64_t newest_height = newest().ref.height;
  if (newest_height > options_.finality_lag) {
    finalized_ = std::max(finalized_, newest_height - options_.finality_lag);
  }
}

std::optional<domain::MinedTx> ScriptedChain::run(const ports::Block& block,
                                                  const Mempool::Pending& pending) {
  const ports::Order& order = pending.tx.order;
  if (order.fees.max_fee < options_.base_fee) return std::nullopt;
  const auto wanted = options_.base_fee.plus(order.fees.priority_fee);
  const U256 price = wanted ? std::min(*wanted, order.fees.max_fee) : order.fees.max_fee;
  const bool enough_gas = order.fees.gas_limit >= options_.gas;
  const auto fee = price.times(U256(enough_gas ? options_.gas : order.fees.gas_limit));
  if (!fee || !books_.take(order.sender, domain::native_asset, *fee)) return std::nullopt;

  books_.raise_count(order.sender);
  Books::Ran ran;
  if (enough_gas) ran = books_.run(order.sender, order.call, block.time_s);
  return as_mined(block, pending, std::move(ran), *fee);
}

domain::MinedTx ScriptedChain::as_mined(const ports::Block& block, const Mempool::Pending& pending,
                                        Books::Ran ran, const U256& fee) {
  const ports::Order& order = pending.tx.order;
  domain::MinedTx tx;
  tx.hash = pending.hash;
  tx.block = block.ref;
  tx.block_time_s = block.time_s;
  tx.succeeded = ran.succeeded;
  tx.sender = order.sender;
  tx.sequence = order.sequence;
  tx.fee_paid = fee;
  tx.transfers = std::move(ran.transfers);
  tx.authorizations = std::move(ran.authorizations);
  const ByteView payload(order.call.payload);
  if (payload.size() >= domain::Ref::size) {
    tx.trailing_ref = domain::Ref::from(payload.last(domain::Ref::size));
  }
  return tx;
}

bool ScriptedChain::invent(const domain::TxHash& hash) {
  catch_up();
  const auto* const pending = pool_.find(hash);
  if (pending == nullptr || finalized_ == 0) return false;
  const ports::Block& block = blocks_[finalized_].block;
  const ports::Order& order = pending->tx.order;
  Books::Ran ran = books_.run(order.sender, order.call, block.time_s);
  if (!ran.succeeded) return false;
  books_.undo(ran);
  shows_ = as_mined(block, *pending, std::move(ran), options_.base_fee);
  invented_.insert(hash);
  return true;
}

bool ScriptedChain::is_invented(const domain::MinedTx& tx) const {
  const auto* const there = index_.by_hash(tx.hash);
  return invented_.contains(tx.hash) && (there == nullptr || there->block != tx.block);
}

void ScriptedChain::give(const domain::Address& owner, const domain::AssetId& asset,
                         const domain::Amount& amount) {
  books_.give(owner, asset, amount);
}

void ScriptedChain::forget_pool() {
  catch_up();
  pool_.clear();
}

bool ScriptedChain::forget(const domain::TxHash& hash) {
  catch_up();
  return pool_.drop(hash);
}

void ScriptedChain::reorg(std::size_t depth, Fate fate) {
  catch_up();
  ensure(depth < blocks_.size(), "a reorg leaves the first block");
  if (endpoints_ != nullptr) {
    std::vector<ports::Block> old;
    for (std::size_t at = blocks_.size() - depth; at < blocks_.size(); ++at) {
      old.push_back(blocks_[at].block);
    }
    endpoints_->taken_back(std::move(old));
  }
  std::vector<Mempool::Pending> returned;
  for (std::size_t taken = 0; taken < depth; ++taken) {
    Mined& last = blocks_.back();
    for (auto tx = last.block.txs.rbegin(); tx != last.block.txs.rend(); ++tx) {
      index_.remove(*tx);
      books_.undo(*tx);
    }
    std::move(last.txs.rbegin(), last.txs.rend(), std::back_inserter(returned));
    blocks_.pop_back();
  }
  ++fork_;
  if (fate == Fate::repooled) {
    for (auto pending = returned.rbegin(); pending != returned.rend(); ++pending) {
      // Refused where something else has the number by now: then that stays.
      (void)pool_.admit(std::move(pending->tx), std::move(pending->bytes), pending->hash, books_,
                        options_.pool_limit);
    }
  }
  for (std::size_t made = 0; made < depth; ++made) mine_at(wall_s_at(clock_.mono_ms()), true);
}

domain::TxHash ScriptedChain::run_elsewhere(const ports::Order& order) {
  const auto hash = try_elsewhere(order);
  ensure(hash.has_value(), "the node takes what is run elsewhere");
  return *hash;
}

std::optional<domain::TxHash> ScriptedChain::try_elsewhere(const ports::Order& order) {
  catch_up();
  auto sealed = seal(order, sign_as(order.sender, digest(order)));
  ensure(sealed.has_value(), "an order signed by its sender can be sealed");
  const domain::TxHash hash = sealed->hash;
  if (deliver(std::move(sealed->bytes), hash, view(0)).ok() == nullptr) return std::nullopt;
  return hash;
}

void ScriptedChain::use_number(const domain::Address& account) {
  catch_up();
  books_.raise_count(account);
}

bool ScriptedChain::is_used_by_nothing(const domain::Address& account, std::uint64_t number) {
  catch_up();
  return number < books_.count(account) && index_.by_sequence(account, number) == nullptr;
}

std::optional<ports::Call> ScriptedChain::next_pending(const domain::Address& account) {
  catch_up();
  return pool_.call_at(account, books_.count(account));
}

domain::Sequence ScriptedChain::next_number(const domain::Address& account) {
  catch_up();
  return {pool_.count(account, books_)};
}

bool ScriptedChain::take(const domain::Address& owner, const domain::AssetId& asset,
                         const domain::Amount& amount) {
  catch_up();
  return books_.take(owner, asset, amount);
}

std::vector<domain::TxHash> ScriptedChain::pooled() {
  catch_up();
  return pool_.hashes();
}

std::uint64_t ScriptedChain::height() {
  catch_up();
  return newest().ref.height;
}

std::uint64_t ScriptedChain::finalized() {
  catch_up();
  return finalized_;
}

std::size_t ScriptedChain::pool_size() {
  catch_up();
  return pool_.size();
}

domain::Amount ScriptedChain::balance(const domain::Address& owner, const domain::AssetId& asset) {
  catch_up();
  return books_.balance(owner, asset);
}

std::uint64_t ScriptedChain::count(const domain::Address& account) {
  catch_up();
  return books_.count(account);
}

std::size_t ScriptedChain::moved(const domain::Ref& ref) {
  catch_up();
  return index_.moved(ref);
}

std::vector<domain::MinedTx> ScriptedChain::movers(const domain::Ref& ref) {
  catch_up();
  std::vector<domain::MinedTx> out;
  for (const domain::TxHash& hash : index_.movers(ref)) out.push_back(*index_.by_hash(hash));
  return out;
}

std::uint64_t ScriptedChain::final_count(const domain::Address& account) {
  catch_up();
  return counts(account, view(0)).finalized.value;
}

std::int64_t ScriptedChain::time_s() {
  catch_up();
  return newest().time_s;
}

std::int64_t ScriptedChain::final_time_s() {
  catch_up();
  return blocks_[finalized_].block.time_s;
}

std::optional<domain::MinedTx> ScriptedChain::mined(const domain::TxHash& hash) {
  catch_up();
  const auto* tx = index_.by_hash(hash);
  return tx != nullptr ? std::optional(*tx) : std::nullopt;
}

std::vector<domain::MinedTx> ScriptedChain::newest_txs(std::size_t blocks) {
  catch_up();
  std::vector<domain::MinedTx> out;
  for (std::size_t at = blocks_.size() - std::min(blocks, blocks_.size()); at < blocks_.size();
       ++at) {
    const auto& txs = blocks_[at].block.txs;
    out.insert(out.end(), txs.begin(), txs.end());
  }
  return out;
}

std::optional<domain::TxHash> ScriptedChain::used_in(const domain::AssetId& asset,
                                                     const domain::Address& payer,
                                                     const domain::Nonce& nonce) {
  catch_up();
  const auto* tx = index_.by_authorization({asset, payer, nonce});
  return tx != nullptr ? std::optional(tx->hash) : std::nullopt;
}

std::set<Bytes> ScriptedChain::bodies(const domain::Address& account,
                                      domain::Sequence sequence) const {
  std::set<Bytes> out;
  for (const PostRecord& record : posts_) {
    const auto tx = decode(record.bytes);
    if (tx && tx->order.sender == account && tx->order.sequence == sequence) {
      out.insert(record.bytes);
    }
  }
  return out;
}

}  // namespace holdfast::sim
