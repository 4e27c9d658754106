// Owns: an EVM chain as the engine asks for it: reads, simulation, fees, orders, posting.
// Must never: take a silence, a garbled answer or a half-read block for an answer; hold a key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>

#include "evm/address.hpp"
#include "evm/chain_calls.hpp"
#include "evm/fees.hpp"
#include "evm/rpc.hpp"
#include "evm/transaction.hpp"
#include "evm/wire.hpp"

namespace holdfast::evm {

/// "eip155:N" with N from 1 to 2^63 − 1 in plain decimal; empty otherwise (CAIP-2).
std::optional<std::uint64_t> chain_number(const domain::ChainId& id);

struct EvmOptions {
  domain::ChainId id;                                         ///< see chain_number
  domain::FinalityRule finality{};                              ///< what posts and settles
  domain::FinalityRule answer_at{domain::FinalityTag::latest, 1};  ///< what a waiter is told
  /// For nodes without the tags safe and finalized: both are then taken to be the block that is
  /// `finality.confirmations` deep.
  bool confirmations_only = false;
  std::uint32_t max_unconsumed = 16;
  std::int64_t poll_ms = 1000;
  FeePolicy fees{};
};

/// All of it runs on one executor. `rpc` and `clock` outlive it. No call changes anything but
/// `post`, and posting the same bytes again is safe.
///
/// Endings of every read: `refused` is the node's own no; `unknown` covers silence, answers of
/// another shape or over a limit, and answers that contradict one another (the chain may have
/// changed between two of them). All reads are safe to repeat.
class EvmChain final : public ports::Chain {
 public:
  /// `options.id` must be one that `chain_number` takes: check a configuration first.
  EvmChain(EvmOptions options, Rpc& rpc, ports::Clock& clock);
  ~EvmChain() override;

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
  /// eth_estimateGas at the newest block. A revert is `refused` with kind reverted and the
  /// contract's decoded reason; want of native money for gas is kind unfunded, not a revert.
  ports::Awaitable<ports::Outcome<ports::Simulated>> simulate(domain::Address sender,
                                                              ports::Call call) override;
  /// See fees_for. eth_feeHistory is asked at most twice a second, however many ask.
  ports::Awaitable<ports::Outcome<domain::Fees>> quote(std::uint64_t gas) override;
  /// Searches the account's count back from the final block, by ever wider steps and then by
  /// halving: about 2·log2(age in blocks) small reads and one block. Needs a node that keeps the
  /// state of that age; one that does not gives `unknown`. Empty when the count is not above `at`
  /// yet, or no transaction of the account in the block that raised it has this number (the number
  /// was spent in another way, such as an EIP-7702 delegation).
  ports::Awaitable<ports::Outcome<std::optional<domain::MinedTx>>> consumer(
      domain::Address account, domain::Sequence at) override;

  ports::Awaitable<ports::Outcome<ports::Posted>> post(Bytes bytes, domain::TxHash hash) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::TxHash>>> send_order(
      domain::IntentId id, domain::Terms terms) override;

  // For this wing's methods, not in the port.

  std::uint64_t number() const { return number_; }
  Rpc& rpc() { return rpc_; }
  /// The newest block that is final by the rule of `info().finality`.
  ports::Awaitable<ports::Outcome<Header>> final_block();
  /// eth_call in the state of `at` (a tag, or a height as a quantity); at most 4 KiB come back.
  ports::Awaitable<ports::Outcome<Bytes>> call_contract(Address20 contract, Bytes data,
                                                        std::string at);

 private:
  struct FeeCache;

  ports::Awaitable<ports::Outcome<Header>> header_at(std::uint64_t height);
  /// Empty: null, no such block.
  ports::Awaitable<ports::Outcome<std::optional<Header>>> maybe_header_at(std::uint64_t height);
  ports::Awaitable<ports::Outcome<std::uint64_t>> count_at(const domain::Address& account,
                                                           std::string at);
  ports::Awaitable<ports::Outcome<std::vector<WireReceipt>>> receipts_one_by_one(
      const WireBlock& block);
  ports::Awaitable<ports::Outcome<ports::Whereabouts>> located(WireTx tx, WireReceipt receipt);
  ports::Awaitable<ports::Outcome<std::uint64_t>> height_that_passed(const domain::Address& account,
                                                                     std::uint64_t at,
                                                                     std::uint64_t final_height);
  ports::Awaitable<ports::Outcome<FeeHistory>> fee_history();
  Transaction1559 transaction(const ports::Order& order) const;
  /// The final height, given those of the tags.
  std::uint64_t final_height(std::uint64_t latest, std::uint64_t tagged) const;
  /// True when the final block is exactly the block of the rule's tag.
  bool tag_is_final() const;

  std::uint64_t number_;
  Rpc& rpc_;
  ports::Clock& clock_;
  ports::ChainInfo info_;
  bool confirmations_only_;
  FeePolicy fee_policy_;
  bool lacks_block_receipts_ = false;  ///< learnt from a refusal, until the process ends
  std::unique_ptr<FeeCache> fee_cache_;
};

}  // namespace holdfast::evm
