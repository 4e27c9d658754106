// Owns: a whole ordered chain in memory behind the Chain port: blocks, pool, finality, reorgs, and
// its own account of what moved, which the engine never sees.
// Must never: help the engine: it knows intents only as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <holdfast/ports/chain.hpp>

#include "sim/books.hpp"
#include "sim/chain_index.hpp"
#include "sim/clock.hpp"
#include "sim/endpoints.hpp"
#include "sim/mempool.hpp"
#include "sim/script.hpp"
#include "sim/weather.hpp"

namespace holdfast::sim {

struct ScriptedChainOptions {
  ports::ChainInfo info = {.id = {"sim:1"},
                           .ordered = true,
                           .opaque = false,
                           .finality = {},
                           .answer_at = {domain::FinalityTag::latest, 1}};
  std::int64_t block_ms = 0;  ///< a block each so many ms of the clock; 0: only by mine()
  std::uint64_t finality_lag = 2;
  std::uint64_t gas = 50'000;       ///< what any call uses
  std::uint64_t gas_cap = 500'000;  ///< quote refuses over this
  U256 base_fee = 1'000;
  U256 priority_fee = 100;
  std::int64_t latency_ms = 0;  ///< of each call, half on the way there; 0: two executor turns
  std::size_t pool_limit = 10'000;
};

class ScriptedChain final : public ports::Chain {
 public:
  explicit ScriptedChain(SimClock& clock, ScriptedChainOptions options = {});

  // ---- the port
  const ports::ChainInfo& info() const override { return options_.info; }
  /// Lower case letters, digits and ":_-", 1 to 64; upper case is lowered.
  Result<domain::Address> parse_address(std::string_view text) const override;
  Result<domain::AssetId> parse_asset(std::string_view text) const override;
  ports::Call noop_call(const domain::Address& account) const override;
  Digest digest(const ports::Order& order) const override;
  Result<ports::SignedTx> seal(const ports::Order& order, ByteView signature) const override;

  ports::Awaitable<ports::Outcome<bool>> check() override;
  ports::Awaitable<ports::Outcome<ports::Head>> head() override;
  ports::Awaitable<ports::Outcome<std::optional<ports::Block>>> block(
      std::uint64_t height) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::BlockHash>>> block_hash(
      std::uint64_t height) override;
  ports::Awaitable<ports::Outcome<ports::Whereabouts>> find(domain::TxHash hash) override;
  ports::Awaitable<ports::Outcome<ports::SequenceCounts>> sequences(
      domain::Address account) override;
  ports::Awaitable<ports::Outcome<domain::Amount>> native_balance(domain::Address account) override;
  ports::Awaitable<ports::Outcome<ports::Simulated>> simulate(domain::Address sender,
                                                              ports::Call call) override;
  ports::Awaitable<ports::Outcome<domain::Fees>> quote(std::uint64_t gas) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::MinedTx>>> consumer(
      domain::Address account, domain::Sequence at) override;
  /// True, unless it is told to fail, or asked of what was invented: then another node has it
  /// nowhere.
  ports::Awaitable<ports::Outcome<bool>> vouch(domain::MinedTx tx, ports::Says says) override;
  ports::Awaitable<ports::Outcome<ports::Posted>> post(Bytes bytes, domain::TxHash hash) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::TxHash>>> send_order(
      domain::IntentId id, domain::Terms terms) override;

  // ---- beside the port, for methods of this chain
  struct AuthorizationState {
    Books::Authorized latest = Books::Authorized::unused;
    Books::Authorized finalized = Books::Authorized::unused;
    std::int64_t finalized_time_s = 0;
    std::optional<domain::MinedTx> tx;  ///< that used or canceled it
    bool tx_final = false;
  };
  ports::Awaitable<ports::Outcome<AuthorizationState>> authorization(domain::AssetId asset,
                                                                     domain::Address authorizer,
                                                                     domain::Nonce nonce);

  // ---- the hand of the test
  ChainScript& script() { return script_; }
  /// From now on calls go wrong as this says; null: they do not. It outlives the chain.
  void stand_in(ChainWeather* weather) { weather_ = weather; }
  /// From now on each call is answered by one of these; null: by one that sees everything. They
  /// outlive the chain.
  void stand_behind(Endpoints* endpoints) { endpoints_ = endpoints; }
  /// How this token behaves, from now on.
  void set_token(const domain::AssetId& asset, TokenKind kind) {
    catch_up();
    books_.set_token(asset, kind);
  }
  TokenKind token(const domain::AssetId& asset) const { return books_.token(asset); }
  /// Called with each post as it leaves the engine.
  void on_post(std::function<void(const domain::TxHash&)> told) { told_of_post_ = std::move(told); }
  /// As if it had been there from the first block: no reorg takes it back.
  void give(const domain::Address& owner, const domain::AssetId& asset,
            const domain::Amount& amount);
  void mine(std::size_t blocks = 1);
  /// Blocks from now on stay empty while set: everything pending is stuck.
  void hold_pool(bool hold) { catch_up(), hold_ = hold; }
  /// The pool is gone, as after a node's restart.
  void forget_pool();
  /// False when it was not pending.
  bool forget(const domain::TxHash& hash);
  /// Whoever looks for this pending transaction is shown it as succeeded in a final block that does
  /// not hold it, until nothing is invented any more. False when it cannot be: it does not wait, or
  /// would fail.
  bool invent(const domain::TxHash& hash);
  void invent_nothing() { shows_.reset(); }
  enum class Fate { repooled, dropped };
  /// Replaces the newest `depth` blocks by empty ones; what they held goes back to the pool, or is
  /// gone. Also below finality, which a real chain promises never to do.
  void reorg(std::size_t depth, Fate fate);
  /// Somebody else with this account's key, or with an authorization in hand, posts this order.
  /// Ends the process when the node refuses it.
  domain::TxHash run_elsewhere(const ports::Order& order);
  /// As an EIP-7702 authorization by its key does: its next number is used, and no transaction did.
  /// No reorg takes it back.
  void use_number(const domain::Address& account);
  /// This number is used, and no transaction of the canonical chain did.
  bool is_used_by_nothing(const domain::Address& account, std::uint64_t number);
  /// The call of this account's next transaction to be mined, if it is pending.
  std::optional<ports::Call> next_pending(const domain::Address& account);
  /// The same; empty when the node refuses it.
  std::optional<domain::TxHash> try_elsewhere(const ports::Order& order);
  /// The next number of this account, as its pool stands.
  domain::Sequence next_number(const domain::Address& account);
  /// As if it had never been there; false, and nothing changed, when there is less.
  bool take(const domain::Address& owner, const domain::AssetId& asset,
            const domain::Amount& amount);
  /// Hashes in the pool, in no order that means anything.
  std::vector<domain::TxHash> pooled();
  void set_gas(std::uint64_t gas) { options_.gas = gas; }
  void set_base_fee(const U256& fee) { catch_up(), options_.base_fee = fee; }
  void set_block_ms(std::int64_t block_ms);

  // ---- its own account
  std::uint64_t height();
  std::uint64_t finalized();
  std::size_t pool_size();
  domain::Amount balance(const domain::Address& owner, const domain::AssetId& asset);
  std::uint64_t count(const domain::Address& account);
  /// How many transactions of the canonical chain moved value for this ref (as nonce or at the end
  /// of the payload). At most one, or the engine broke its promise.
  std::size_t moved(const domain::Ref& ref);
  std::vector<domain::MinedTx> movers(const domain::Ref& ref);
  /// How many numbers of this account final blocks have used.
  std::uint64_t final_count(const domain::Address& account);
  std::int64_t time_s();  ///< of the newest block
  std::int64_t final_time_s();  ///< of the newest final block
  std::optional<domain::MinedTx> mined(const domain::TxHash& hash);
  /// Some block held it once, canonical still or not.
  bool was_mined(const domain::TxHash& hash) const { return ever_mined_.contains(hash); }
  /// A block was said to hold it, which did not.
  bool was_invented(const domain::TxHash& hash) const { return invented_.contains(hash); }
  /// What the newest so many blocks hold.
  std::vector<domain::MinedTx> newest_txs(std::size_t blocks);
  /// The canonical transaction that used or canceled this authorization.
  std::optional<domain::TxHash> used_in(const domain::AssetId& asset, const domain::Address& payer,
                                        const domain::Nonce& nonce);
  const std::vector<PostRecord>& posts() const { return posts_; }
  /// A node had it once, or said that it has.
  bool was_taken(const domain::TxHash& hash) const { return taken_.contains(hash); }
  /// The different bytes ever posted for this account and number.
  std::set<Bytes> bodies(const domain::Address& account, domain::Sequence sequence) const;

 private:
  struct Mined {
    ports::Block block;
    std::vector<Mempool::Pending> txs;
  };
  /// How far the endpoint that answers sees.
  struct View {
    std::uint64_t latest = 0;
    std::uint64_t finalized = 0;
    std::size_t endpoint = 0;
  };
  struct Late {
    Bytes bytes;
    domain::TxHash hash;
  };
  template <class T>
  ports::Awaitable<ports::Outcome<T>> answer(ChainCall call,
                                             std::function<ports::Outcome<T>(const View&)> work);
  ports::Awaitable<void> travel(std::int64_t ms);
  View view(std::uint64_t lag, std::size_t endpoint = 0) const;
  /// Its block at a height that it sees.
  const ports::Block& block_at(std::uint64_t height, const View& view) const;
  /// The transaction, if it shows it in a block.
  const domain::MinedTx* mined_at(const domain::TxHash& hash, const View& view) const;
  static domain::MinedTx as_mined(const ports::Block& block, const Mempool::Pending& pending,
                                  Books::Ran ran, const U256& fee);
  bool is_invented(const domain::MinedTx& tx) const;
  bool knows(const domain::TxHash& hash, const View& view) const;
  /// As this endpoint shows it: without the events of a token that has none.
  domain::MinedTx shown(domain::MinedTx tx) const;

  void catch_up();
  void deliver_late(std::int64_t until_ms);
  NextPost next_post();
  void mine_at(std::int64_t time_s, bool empty);
  /// Empty: its sender cannot pay for it in this block.
  std::optional<domain::MinedTx> run(const ports::Block& block, const Mempool::Pending& pending);
  std::int64_t wall_s_at(std::int64_t mono_ms) const;
  const ports::Block& newest() const { return blocks_.back().block; }
  ports::SequenceCounts counts(const domain::Address& account, const View& view) const;
  AuthorizationState authorization_in(const View& view, const AuthorizationKey& key) const;
  ports::Outcome<ports::Posted> deliver(Bytes bytes, const domain::TxHash& hash, const View& view);

  SimClock& clock_;
  /// The chain has a clock of its own: setting ours moves no block.
  std::int64_t wall_at_zero_ms_ = clock_.wall_ms() - clock_.mono_ms();
  ScriptedChainOptions options_;
  ChainScript script_;
  ChainWeather* weather_ = nullptr;
  Endpoints* endpoints_ = nullptr;
  std::function<void(const domain::TxHash&)> told_of_post_;
  std::multimap<std::int64_t, Late> late_;  ///< on their way, by when they arrive
  std::vector<Mined> blocks_;  ///< by height; the first is the empty beginning
  Books books_;  ///< after the newest block
  ChainIndex index_;
  Mempool pool_;
  std::vector<PostRecord> posts_;
  std::set<domain::TxHash> taken_;
  std::set<domain::TxHash> ever_mined_;
  std::optional<domain::MinedTx> shows_;  ///< as mined, by one node alone
  std::set<domain::TxHash> invented_;  ///< ever
  std::uint64_t finalized_ = 0;
  std::uint64_t fork_ = 0;  ///< part of block hashes: a block mined again is another block
  std::int64_t next_block_ms_ = 0;
  bool hold_ = false;
};

}  // namespace holdfast::sim
