// Owns: an instant EVM chain in this process, behind the Chain port: its pool, its blocks (each
// final at once), its books. Bytes are built, signed and checked as for a real one.
// Must never: help the engine: it knows payments only as posted bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>

#include "books.hpp"
#include "dice.hpp"
#include "evm/chain.hpp"
#include "posted_tx.hpp"

namespace holdfast::load {

struct NullChainOptions {
  domain::ChainId id{"eip155:31337"};
  std::uint32_t max_unconsumed = 16;
  std::int64_t poll_ms = 10;
  std::int64_t block_ms = 0;  ///< at least so long between two blocks
  double fault_rate = 0;      ///< of the posts
  std::uint64_t seed = 1;
};

/// Blocks are made when somebody asks for the head, from all that waits in an unbroken line of
/// numbers: so the chain needs no coroutine. A `find` knows the newest million transactions.
class NullChain final : public ports::Chain {
 public:
  NullChain(NullChainOptions options, ports::Clock& clock);

  /// What is pure of the chain; it has no node. For payment methods, which read no more of it.
  evm::EvmChain& shape() { return shape_; }
  std::vector<Moved>& books() { return books_; }
  std::uint64_t calls() const { return calls_; }  ///< what would be JSON-RPC calls to a node
  std::uint64_t faults() const { return faults_; }

  const ports::ChainInfo& info() const override { return info_; }
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
  ports::Awaitable<ports::Outcome<ports::Posted>> post(Bytes bytes, domain::TxHash hash) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::TxHash>>> send_order(
      domain::IntentId id, domain::Terms terms) override;

 private:
  /// There is no node to ask.
  class NoNode final : public evm::Rpc {
   public:
    boost::asio::awaitable<evm::Answer> call(std::string method,
                                             boost::json::array params) override;
  };
  struct Tx {
    PostedTx says;
    domain::TxHash hash;
    std::uint32_t account = 0;
    std::int64_t posted_us = 0;
    std::uint64_t height = 0;  ///< 0: it waits
  };
  struct Account {
    domain::Address name;
    std::uint64_t count = 0;  ///< mined
    std::map<std::uint64_t, Tx> pool;  ///< by number, from `count` on
    std::unordered_map<std::uint64_t, std::uint64_t> mined;  ///< number to place, see at()
  };
  struct Block {
    domain::BlockRef ref;
    domain::BlockHash parent;
    std::int64_t time_s = 0;
    std::uint64_t first = 0;  ///< place of its first transaction
    std::uint64_t count = 0;
  };

  std::uint32_t account_of(const domain::Address& name);
  std::optional<std::uint32_t> sender_of(const domain::TxHash& hash, ByteView bytes);
  ports::Outcome<ports::Posted> take(ByteView bytes, const domain::TxHash& hash);
  void mine();
  void mine_tx(Block& block, Account& account, Tx tx);
  void forget_old();
  /// Empty: forgotten.
  const Tx* at(std::uint64_t place) const;
  domain::MinedTx shown(const Tx& tx) const;

  NullChainOptions options_;
  ports::Clock& clock_;
  NoNode no_node_;
  evm::EvmChain shape_;
  ports::ChainInfo info_;
  Dice dice_;
  std::vector<Account> accounts_;
  std::unordered_map<domain::Address, std::uint32_t> account_places_;
  /// Who signed bytes that were sealed here; of others the key is recovered.
  mutable std::unordered_map<domain::TxHash, domain::Address> sealed_;
  std::deque<Tx> mined_;            ///< by place, from `forgotten_` on
  std::uint64_t forgotten_ = 0;
  std::unordered_map<domain::TxHash, std::uint64_t> places_;
  std::unordered_map<domain::TxHash, std::uint32_t> waiting_;  ///< whose pool it is in
  std::vector<Block> blocks_;  ///< by height
  std::int64_t last_block_ms_ = 0;
  std::vector<Moved> books_;
  std::uint64_t calls_ = 0;
  std::uint64_t faults_ = 0;
};

}  // namespace holdfast::load
