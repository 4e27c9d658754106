// The scripted node's pool and blocks. What it answers is in scripted_node_answers.cpp.
#include "support/scripted_node.hpp"

#include <algorithm>

#include "evm/keccak.hpp"
#include "support/real_time.hpp"

namespace holdfast::test {
namespace {

evm::Address20 address(const std::string& text) { return *evm::Address20::from_text(text); }

evm::Hash32 block_hash(std::uint64_t height, const evm::Hash32& parent, std::uint64_t salt) {
  return evm::keccak256("block " + std::to_string(height) + " " + parent.hex() + " " +
                        std::to_string(salt));
}

}  // namespace

ScriptedNode::ScriptedNode(ScriptedNodeOptions options)
    : options_(options), face_([this](const HttpMessage& request) { return handle(request); }) {
  const std::lock_guard lock(mutex_);
  ScriptedBlock genesis;
  genesis.hash = block_hash(0, {}, 0);
  time_ahead_s_ = options_.time_ahead_s;
  genesis.time_s = wall_ms() / 1000 + time_ahead_s_;
  blocks_.push_back(std::move(genesis));
  for (int i = 0; i < 3; ++i) mine_one();
  if (options_.block_ms > 0) miner_ = std::thread([this] { tick(); });
}

ScriptedNode::~ScriptedNode() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  face_.stop();
  if (miner_.joinable()) miner_.join();
}

void ScriptedNode::tick() {
  for (;;) {
    face_.wait_ms(options_.block_ms);
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    mine_one();
  }
}

void ScriptedNode::give_native(const std::string& account, const U256& amount) {
  const std::lock_guard lock(mutex_);
  blocks_.back().after.native[address(account)] = amount;
}

void ScriptedNode::add_token(const std::string& token, std::string_view name,
                             std::string_view version) {
  const std::lock_guard lock(mutex_);
  const evm::Address20 at = address(token);
  blocks_.back().after.tokens[at].domain = {std::string(name), std::string(version),
                                            options_.chain_id, at};
}

void ScriptedNode::give_token(const std::string& token, const std::string& account,
                              const U256& amount) {
  const std::lock_guard lock(mutex_);
  blocks_.back().after.tokens.at(address(token)).balances[address(account)] = amount;
}

std::uint64_t ScriptedNode::token_balance(const std::string& token,
                                          const std::string& account) const {
  const std::lock_guard lock(mutex_);
  const auto& balances = blocks_.back().after.tokens.at(address(token)).balances;
  const auto found = balances.find(address(account));
  return found == balances.end() ? 0 : found->second.to_u64().value_or(0);
}

void ScriptedNode::mine(unsigned blocks) {
  const std::lock_guard lock(mutex_);
  for (unsigned i = 0; i < blocks; ++i) mine_one();
}

void ScriptedNode::mine_one() {
  const ScriptedBlock& before = blocks_.back();
  ScriptedBlock next;
  next.height = before.height + 1;
  next.parent = before.hash;
  next.hash = block_hash(next.height, before.hash, salt_);
  next.time_s = std::max(before.time_s + 1, wall_ms() / 1000 + time_ahead_s_);
  next.after = before.after;
  const U256 base_fee(options_.base_fee);
  for (auto at = pool_.begin(); at != pool_.end() && !hold_pool_;) {
    const evm::SignedTransaction& tx = at->second.tx;
    const std::uint64_t count = next.after.nonce(tx.sender);
    const auto gas = base_fee.plus(tx.tx.max_priority_fee)->times(scripted_gas);
    const bool can_pay = next.after.balance(tx.sender) >= *gas;
    if (tx.tx.nonce > count || tx.tx.max_fee < base_fee || !can_pay) {
      ++at;  // stuck and alive
      continue;
    }
    if (tx.tx.nonce == count) {
      next.after.nonces[tx.sender] = count + 1;
      next.after.native[tx.sender] = *next.after.balance(tx.sender).minus(*gas);
      ScriptedTx mined = at->second;
      mined.result =
          run_call(next.after, tx.sender, tx.tx.to, tx.tx.value, tx.tx.data, next.time_s);
      next.txs.push_back(std::move(mined));
    }
    at = pool_.erase(at);
  }
  blocks_.push_back(std::move(next));
}

void ScriptedNode::reorg(unsigned depth, bool back_to_pool) {
  const std::lock_guard lock(mutex_);
  std::vector<ScriptedTx> taken_back;
  for (unsigned i = 0; i < depth && blocks_.size() > 1; ++i) {
    auto& txs = blocks_.back().txs;
    taken_back.insert(taken_back.end(), txs.begin(), txs.end());
    blocks_.pop_back();
  }
  ++salt_;
  const bool held = std::exchange(hold_pool_, true);
  for (unsigned i = 0; i < depth; ++i) mine_one();
  hold_pool_ = held;
  if (!back_to_pool) return;
  for (ScriptedTx& one : taken_back) enter_pool(std::move(one.tx), std::move(one.raw));
}

void ScriptedNode::push_raw(const std::string& raw) {
  auto tx = evm::decode_signed(*from_hex(raw));
  const std::lock_guard lock(mutex_);
  if (tx) enter_pool(std::move(*tx), raw);
}

void ScriptedNode::drop(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pool_, [&](const auto& one) { return one.second.tx.hash.hex() == hash; });
}

void ScriptedNode::drop_all() {
  const std::lock_guard lock(mutex_);
  pool_.clear();
}

void ScriptedNode::set_base_fee(std::uint64_t wei) {
  const std::lock_guard lock(mutex_);
  options_.base_fee = wei;
}

void ScriptedNode::set_time_ahead(std::int64_t seconds) {
  const std::lock_guard lock(mutex_);
  time_ahead_s_ = seconds;
}

void ScriptedNode::hold_pool(bool on) {
  const std::lock_guard lock(mutex_);
  hold_pool_ = on;
}

void ScriptedNode::delegate(const std::string& account) {
  const std::lock_guard lock(mutex_);
  delegated_.insert(address(account));
}

void ScriptedNode::judge(Judge judge) {
  const std::lock_guard lock(mutex_);
  judge_ = std::move(judge);
}

void ScriptedNode::script(const std::string& method, Script script) {
  const std::lock_guard lock(mutex_);
  scripts_[method] = std::move(script);
}

void ScriptedNode::unscript(const std::string& method) {
  const std::lock_guard lock(mutex_);
  scripts_.erase(method);
}

std::vector<std::string> ScriptedNode::pool() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  out.reserve(pool_.size());
  for (const auto& [place, one] : pool_) out.push_back(one.tx.hash.hex());
  return out;
}

std::vector<std::string> ScriptedNode::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

std::uint64_t ScriptedNode::height() const {
  const std::lock_guard lock(mutex_);
  return blocks_.back().height;
}

bool ScriptedNode::mined(const std::string& hash) const {
  const std::lock_guard lock(mutex_);
  return find(hash).has_value();
}

std::uint64_t ScriptedNode::account_nonce(const std::string& account) const {
  const std::lock_guard lock(mutex_);
  return blocks_.back().after.nonce(address(account));
}

std::size_t ScriptedNode::transfers(const std::string& token, const std::string& from,
                                    const std::string& to) const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const ScriptedBlock& block : blocks_) {
    for (const ScriptedTx& tx : block.txs) {
      for (const evm::Log& log : tx.result.logs) {
        const auto event = evm::decode_transfer_event(log);
        if (event && event->token == address(token) && event->from == address(from) &&
            event->to == address(to)) {
          ++count;
        }
      }
    }
  }
  return count;
}

// ---- the pool's rules, as geth's
// ------------------------------------------------------------------

std::uint64_t ScriptedNode::pending_nonce(const evm::Address20& account) const {
  std::uint64_t next = blocks_.back().after.nonce(account);
  while (pool_.contains({account, next})) ++next;
  return next;
}

std::optional<NodeError> ScriptedNode::refusal(const evm::SignedTransaction& tx) const {
  const auto error = [](std::string message) { return NodeError{-32000, std::move(message)}; };
  if (tx.tx.chain_id != options_.chain_id) return error("invalid chain id for signer");
  const ScriptedState& now = blocks_.back().after;
  const auto there = pool_.find({tx.sender, tx.tx.nonce});
  if (there != pool_.end() && there->second.tx.hash == tx.hash) return error("already known");
  const std::uint64_t count = now.nonce(tx.sender);
  if (tx.tx.nonce < count) {
    return error("nonce too low: next nonce " + std::to_string(count) + ", tx nonce " +
                 std::to_string(tx.tx.nonce));
  }
  if (there == pool_.end()) {
    if (delegated_.contains(tx.sender) &&
        std::ranges::any_of(pool_, [&](const auto& one) { return one.first.first == tx.sender; })) {
      return error("in-flight transaction limit reached for delegated accounts");
    }
    if (options_.refuse_gaps && tx.tx.nonce > pending_nonce(tx.sender)) {
      return error("nonce too high: tx nonce " + std::to_string(tx.tx.nonce) + ", gapped-nonce");
    }
  }
  const auto cost = tx.tx.max_fee.times(tx.tx.gas_limit);
  const auto all = cost ? cost->plus(tx.tx.value) : std::nullopt;
  if (!all || now.balance(tx.sender) < *all) {
    return error("insufficient funds for gas * price + value: balance " +
                 now.balance(tx.sender).decimal());
  }
  if (there != pool_.end()) {
    const evm::Transaction1559& old = there->second.tx.tx;
    const auto enough = [&](const U256& was, const U256& is) {
      const auto least = was.times(100 + options_.replacement_percent);
      return is > was && is.times(100) >= least;
    };
    if (!enough(old.max_fee, tx.tx.max_fee) ||
        !enough(old.max_priority_fee, tx.tx.max_priority_fee)) {
      return error("replacement transaction underpriced");
    }
  }
  return std::nullopt;
}

void ScriptedNode::enter_pool(evm::SignedTransaction tx, std::string raw) {
  const std::pair place{tx.sender, tx.tx.nonce};
  pool_.insert_or_assign(place, ScriptedTx{std::move(tx), std::move(raw)});
}

boost::json::value ScriptedNode::send_raw(const std::string& raw) {
  received_.push_back(raw);
  const auto bytes = from_hex(raw);
  auto tx =
      bytes ? evm::decode_signed(*bytes) : Result<evm::SignedTransaction>(evm::decode_signed({}));
  if (!tx) throw NodeError{-32602, "failed to decode signed transaction"};
  const std::string hash = tx->hash.hex();
  if (const auto verdict = judge_ ? judge_(*tx) : std::nullopt) {
    if (verdict->keep) enter_pool(std::move(*tx), raw);
    throw verdict->error;
  }
  if (auto no = refusal(*tx)) throw std::move(*no);
  enter_pool(std::move(*tx), raw);
  return boost::json::string(hash);
}

}  // namespace holdfast::test
