#include "ledger.hpp"

#include <algorithm>
#include <chrono>

#include "evm/transaction.hpp"

namespace holdfast::load {

using ports::Outcome;
using ports::RefusalKind;

namespace {

// Twice the largest block and more: the engine reads a block soon after it was made. What is kept
// here counts as the run's memory.
constexpr std::size_t most_remembered = 120'000;

/// Of those whose call was tried, all the same: an engine that signs with a wrong key is found out.
constexpr std::uint64_t one_recovered_in = 64;

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

std::uint32_t Ledger::account_of(const domain::Address& name) {
  const auto [known, is_new] =
      account_places_.try_emplace(name, static_cast<std::uint32_t>(accounts_.size()));
  if (is_new) accounts_.push_back({.name = name, .count = 0, .pool = {}, .mined = {}});
  return known->second;
}

std::optional<std::uint32_t> Ledger::sender_of(const PostedTx& says, ByteView bytes) {
  const auto noted = notes_ == nullptr ? std::nullopt : notes_->take(says.signed_by);
  if (noted) return account_of(*noted);
  const auto by = says.ref ? tried_.find(head_of(says.ref->view())) : tried_.end();
  if (by != tried_.end()) {
    const std::uint32_t account = by->second;
    tried_.erase(by);
    if (++believed_ % one_recovered_in != 0) return account;
  }
  const auto read = evm::decode_signed(bytes);
  if (!read) return std::nullopt;
  return account_of({evm::to_checksum(read->sender)});
}

void Ledger::note_trial(const domain::Ref& tail, const domain::Address& from) {
  const auto known = account_places_.find(from);
  if (notes_ != nullptr || known == account_places_.end()) return;
  if (tried_.size() >= most_remembered) tried_.clear();  // of calls that nobody sent
  tried_.insert_or_assign(head_of(tail.view()), known->second);
}

Ledger::Ledger(std::int64_t now_s, SignerNotes* notes, const std::optional<domain::BlockRef>& first)
    : notes_(notes) {
  const domain::BlockRef from_nothing{0, domain::BlockHash{sha256(as_bytes("the first block"))}};
  blocks_.push_back({.ref = first.value_or(from_nothing), .parent = {}, .time_s = now_s});
}

Outcome<ports::Posted> Ledger::take(ByteView bytes) {
  const domain::TxHash hash{evm::tx_hash(bytes).value};
  if (waiting_.contains(hash) || places_.contains(hash)) return ports::Posted{true};
  const auto says = read_posted(bytes);
  const auto sender = says ? sender_of(*says, bytes) : std::nullopt;
  if (!sender) {
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

void Ledger::mine(std::int64_t now_s, std::size_t most) {
  if (waiting_.empty()) return;
  const Block& parent = blocks_.back();
  Block block;
  block.parent = parent.ref.hash;
  block.ref.height = parent.ref.height + 1;
  block.ref.hash = domain::BlockHash{
      FieldHash("load/block/1").add(block.parent.view()).add(block.ref.height).finish()};
  block.time_s = std::max(now_s, parent.time_s);
  block.first = forgotten_ + mined_.size();
  for (Account& account : accounts_) {
    for (auto next = account.pool.begin();
         next != account.pool.end() && next->first == account.count && block.count < most;
         next = account.pool.erase(next)) {
      mine_tx(block, account, next->second);
    }
  }
  if (block.count == 0) return;
  blocks_.push_back(block);
  forget_old();
}

void Ledger::mine_tx(Block& block, Account& account, Tx tx) {
  const std::uint64_t place = block.first + block.count++;
  tx.height = block.ref.height;
  // As the token has it: an authorization is used once, a second use reverts. Its signature was
  // judged by the engine, and is not looked at here.
  if (tx.says.authorization) tx.succeeded = uses_.try_emplace(*tx.says.authorization, place).second;
  waiting_.erase(tx.hash);
  places_.emplace(tx.hash, place);
  account.mined.emplace(account.count, place);
  ++account.count;
  if (tx.succeeded && !tx.says.amount.is_zero()) {
    books_.push_back({tx.says.ref ? head_of(tx.says.ref->view()) : 0, head_of(tx.says.payee.view()),
                      tx.says.amount.to_u64().value_or(0), tx.posted_us});
  }
  mined_.push_back(tx);
}

void Ledger::forget_old() {
  while (mined_.size() > most_remembered) {
    const Tx& oldest = mined_.front();
    places_.erase(oldest.hash);
    if (oldest.says.authorization && oldest.succeeded) uses_.erase(*oldest.says.authorization);
    accounts_[oldest.account].mined.erase(oldest.says.nonce);
    mined_.pop_front();
    ++forgotten_;
  }
}

const Ledger::Tx* Ledger::at(std::uint64_t place) const {
  return place < forgotten_ ? nullptr : &mined_[place - forgotten_];
}

const Ledger::Block* Ledger::block(std::uint64_t height) const {
  const std::uint64_t first = blocks_.front().ref.height;
  return height >= first && height - first < blocks_.size() ? &blocks_[height - first] : nullptr;
}

const Ledger::Tx* Ledger::mined(const domain::TxHash& hash) const {
  const auto place = places_.find(hash);
  return place == places_.end() ? nullptr : at(place->second);
}

const Ledger::Tx* Ledger::known(const domain::TxHash& hash) const {
  const auto waiting = waiting_.find(hash);
  if (waiting == waiting_.end()) return mined(hash);
  for (const auto& [number, tx] : accounts_[waiting->second].pool) {
    if (tx.hash == hash) return &tx;
  }
  return nullptr;
}

const Ledger::Tx* Ledger::mined(const domain::Address& account, std::uint64_t number) const {
  const auto known = account_places_.find(account);
  if (known == account_places_.end()) return nullptr;
  const auto& mined = accounts_[known->second].mined;
  const auto place = mined.find(number);
  return place == mined.end() ? nullptr : at(place->second);
}

const Ledger::Tx* Ledger::use(const AuthorizationKey& key) const {
  const auto place = uses_.find(key);
  return place == uses_.end() ? nullptr : at(place->second);
}

Ledger::Counts Ledger::counts(const domain::Address& account) const {
  const auto known = account_places_.find(account);
  if (known == account_places_.end()) return {};
  const Account& of = accounts_[known->second];
  Counts out{of.count, of.count};
  while (of.pool.contains(out.pending)) ++out.pending;
  return out;
}

}  // namespace holdfast::load
