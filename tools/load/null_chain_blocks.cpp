// How the null chain takes transactions and makes blocks of them.
#include <chrono>

#include "evm/transaction.hpp"
#include "null_chain.hpp"

namespace holdfast::load {

using ports::Outcome;
using ports::RefusalKind;

namespace {

constexpr std::size_t most_remembered = 1'000'000;
constexpr std::uint64_t fee_of_a_transfer = 60'000ULL * 1'000'000'000ULL;

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// A node's rule: a tenth more.
bool outbids(const PostedTx& newer, const PostedTx& older) {
  const auto least = older.max_fee.times(U256(11));
  const auto offered = newer.max_fee.times(U256(10));
  return least && offered && *offered >= *least;
}

}  // namespace

std::uint32_t NullChain::account_of(const domain::Address& name) {
  const auto [known, is_new] =
      account_places_.try_emplace(name, static_cast<std::uint32_t>(accounts_.size()));
  if (is_new) accounts_.push_back({.name = name, .count = 0, .pool = {}, .mined = {}});
  return known->second;
}

std::optional<std::uint32_t> NullChain::sender_of(const domain::TxHash& hash, ByteView bytes) {
  if (const auto sealed = sealed_.find(hash); sealed != sealed_.end()) {
    const std::uint32_t account = account_of(sealed->second);
    sealed_.erase(sealed);
    return account;
  }
  const auto read = evm::decode_signed(bytes);
  if (!read) return std::nullopt;
  return account_of({evm::to_checksum(read->sender)});
}

Outcome<ports::Posted> NullChain::take(ByteView bytes, const domain::TxHash& claimed) {
  const domain::TxHash hash{evm::tx_hash(bytes).value};
  if (hash != claimed) return ports::Unknown{"another hash than the poster's", false};
  if (waiting_.contains(hash) || places_.contains(hash)) return ports::Posted{true};
  const auto says = read_posted(bytes);
  const auto sender = sender_of(hash, bytes);
  if (!says || !sender) {
    return ports::Refused{RefusalKind::malformed, "these bytes are no transfer"};
  }
  Account& account = accounts_[*sender];
  if (says->nonce < account.count) {
    return ports::Refused{RefusalKind::nonce_too_low, "nonce too low"};
  }
  if (const auto older = account.pool.find(says->nonce); older != account.pool.end()) {
    if (!outbids(*says, older->second.says)) {
      return ports::Refused{RefusalKind::replacement_underpriced, "replacement underpriced"};
    }
    waiting_.erase(older->second.hash);
    account.pool.erase(older);
  }
  waiting_.emplace(hash, *sender);
  account.pool.emplace(says->nonce, Tx{*says, hash, *sender, now_us(), 0});
  return ports::Posted{};
}

void NullChain::mine() {
  if (waiting_.empty()) return;
  const std::int64_t now_ms = clock_.mono_ms();
  if (options_.block_ms > 0 && now_ms - last_block_ms_ < options_.block_ms) return;
  last_block_ms_ = now_ms;
  const Block& parent = blocks_.back();
  Block block;
  block.parent = parent.ref.hash;
  block.ref.height = parent.ref.height + 1;
  block.ref.hash = domain::BlockHash{
      FieldHash("null/block/1").add(block.parent.view()).add(block.ref.height).finish()};
  block.time_s = std::max(clock_.wall_ms() / 1000, parent.time_s);
  block.first = forgotten_ + mined_.size();
  for (Account& account : accounts_) {
    for (auto next = account.pool.begin();
         next != account.pool.end() && next->first == account.count;
         next = account.pool.erase(next)) {
      mine_tx(block, account, next->second);
    }
  }
  if (block.count == 0) return;
  blocks_.push_back(block);
  forget_old();
}

void NullChain::mine_tx(Block& block, Account& account, Tx tx) {
  const std::uint64_t place = block.first + block.count++;
  tx.height = block.ref.height;
  waiting_.erase(tx.hash);
  places_.emplace(tx.hash, place);
  account.mined.emplace(account.count, place);
  ++account.count;
  if (!tx.says.amount.is_zero()) {
    books_.push_back({tx.says.ref ? head_of(tx.says.ref->view()) : 0, head_of(tx.says.payee.view()),
                      tx.says.amount.to_u64().value_or(0), tx.posted_us});
  }
  mined_.push_back(tx);
}

void NullChain::forget_old() {
  while (mined_.size() > most_remembered) {
    const Tx& oldest = mined_.front();
    places_.erase(oldest.hash);
    accounts_[oldest.account].mined.erase(oldest.says.nonce);
    mined_.pop_front();
    ++forgotten_;
  }
}

const NullChain::Tx* NullChain::at(std::uint64_t place) const {
  return place < forgotten_ ? nullptr : &mined_[place - forgotten_];
}

domain::MinedTx NullChain::shown(const Tx& tx) const {
  const Block& block = blocks_[tx.height];
  domain::MinedTx out;
  out.hash = tx.hash;
  out.block = block.ref;
  out.block_time_s = block.time_s;
  out.succeeded = true;
  out.sender = accounts_[tx.account].name;
  out.sequence = {tx.says.nonce};
  out.fee_paid = domain::Amount(fee_of_a_transfer);
  out.trailing_ref = tx.says.ref;
  if (!tx.says.amount.is_zero()) {
    const domain::AssetId asset =
        tx.says.token ? domain::AssetId{evm::to_checksum(*tx.says.token)} : domain::native_asset;
    out.transfers.push_back(
        {asset, out.sender, {evm::to_checksum(tx.says.payee)}, tx.says.amount, 0});
  }
  return out;
}

}  // namespace holdfast::load
