// Owns: an instant EVM chain in this process, behind the Chain port. Bytes are built, signed and
// checked as for a real one.
// Must never: help the engine: it knows payments only as posted bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>

#include "dice.hpp"
#include "evm/chain.hpp"
#include "ledger.hpp"
#include "node_answers.hpp"

namespace holdfast::load {

struct NullChainOptions {
  domain::ChainId id{"eip155:31337"};
  std::uint32_t max_unconsumed = 16;
  std::int64_t poll_ms = 10;
  std::int64_t block_ms = 0;  ///< at least so long between two blocks
  double fault_rate = 0;      ///< of the posts
  std::uint64_t seed = 1;
  std::optional<domain::BlockRef> first = {};  ///< the block that it goes on from
  SignerNotes* notes = nullptr;                ///< who signed what, where that is known
};

/// Blocks are made when somebody asks for the head, so the chain needs no coroutine.
class NullChain final : public ports::Chain {
 public:
  NullChain(NullChainOptions options, ports::Clock& clock);

  /// For payment methods: what is pure of the chain, and what they read of it.
  evm::EvmChain& shape() { return shape_; }
  std::vector<Moved>& books() { return ledger_.books(); }
  /// No blocks while held: everything posted stays in the pool.
  void hold(bool held) { held_ = held; }
  std::size_t waiting() const { return ledger_.waiting(); }
  std::uint64_t calls() const { return calls_; }  ///< what would be JSON-RPC calls to a node
  std::uint64_t faults() const { return faults_; }

  const ports::ChainInfo& info() const override { return info_; }
  Result<domain::Address> parse_address(std::string_view text) const override;
  Result<domain::AssetId> parse_asset(std::string_view text) const override;
  ports::Call noop_call(const domain::Address& account) const override;
  Digest digest(const ports::Order& order) const override;
  Result<ports::SignedTx> seal(const ports::Order& order, ByteView signature) const override;
  Result<ports::SignedTx> seal_checked(const ports::Order& order, ByteView signature,
                                       const Digest& signed_digest) const override;

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
  /// Answers without a node what the methods ask of one.
  class InProcess final : public evm::Rpc {
   public:
    explicit InProcess(NullChain& chain) : chain_(chain) {}
    boost::asio::awaitable<evm::Answer> call(std::string method,
                                             boost::json::array params) override;

   private:
    NullChain& chain_;
  };
  domain::MinedTx shown(const Ledger::Tx& tx) const;

  NullChainOptions options_;
  ports::Clock& clock_;
  Ledger ledger_;
  NodeAnswers answers_;
  InProcess rpc_;
  evm::EvmChain shape_;
  ports::ChainInfo info_;
  Dice dice_;
  std::int64_t last_block_ms_ = 0;
  bool held_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t faults_ = 0;
};

}  // namespace holdfast::load
