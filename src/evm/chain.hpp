// Owns: an EVM chain as the engine asks for it: reads, simulation, fees, orders, posting.
// Must never: take a silence, a garbled answer or a half-read block for an answer; hold a key.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>

#include "evm/address.hpp"
#include "evm/agreement.hpp"
#include "evm/chain_calls.hpp"
#include "evm/fees.hpp"
#include "evm/known_gas.hpp"
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
  std::size_t posts_at_once = 100;  ///< see ChainInfo; the calls one request to the node holds
  FeePolicy fees{};
};

/// All of it runs on one executor. `rpc` and `clock` outlive it. No call changes anything but
/// `post`, and posting the same bytes again is safe.
///
/// Endings of every read: `refused` is the node's own no; `unknown` covers silence, answers of
/// another shape or over a limit, and answers that contradict one another (the chain may have
/// changed between two of them). All reads are safe to repeat.
///
/// Over several endpoints (Rpc::voices) each read is made of one endpoint's answers, the next one
/// being asked where it has none. What decides about payments is asked of all of them
/// (agreement.hpp): the head, which block is canonical; and only where they agree is a hash not
/// found, a transaction failed, a number consumed, a call refused, a contract not there. Bytes go
/// to all of them.
class EvmChain final : public ports::Chain {
 public:
  /// `options.id` must be one that `chain_number` takes: check a configuration first.
  EvmChain(EvmOptions options, Rpc& rpc, ports::Clock& clock);
  ~EvmChain() override;

  const ports::ChainInfo& info() const override { return info_; }
  std::vector<std::string> endpoints() const override { return rpc_.endpoint_texts(); }
  Result<domain::Address> parse_address(std::string_view text) const override;
  Result<domain::AssetId> parse_asset(std::string_view text) const override;
  ports::Call noop_call(const domain::Address& account) const override;
  Digest digest(const ports::Order& order) const override;
  Result<ports::SignedTx> seal(const ports::Order& order, ByteView signature) const override;
  Result<ports::SignedTx> seal_checked(const ports::Order& order, ByteView signature,
                                       const Digest& signed_digest) const override;

  ports::Awaitable<ports::Outcome<bool>> check() override;
  /// One call while the chain goes on (and the next block's receipts, where each look has found a
  /// block with transactions): the tags are asked for every sixteen polls, at most four
  /// seconds apart (half of that where "safe" is waited for), and at once when the newest block
  /// does not go on from the one before. "safe" is
  /// asked for where a rule of ours names it; it is taken to be the final block elsewhere. Over
  /// several endpoints: what all of them have come to, those aside that are behind (agreed_head,
  /// Rpc::behind). `unknown` when they do not have the same final block.
  ports::Awaitable<ports::Outcome<ports::Head>> head() override;
  ports::Awaitable<ports::Outcome<std::optional<ports::Block>>> block(
      std::uint64_t height) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::BlockHash>>> block_hash(
      std::uint64_t height) override;
  ports::Awaitable<ports::Outcome<ports::Whereabouts>> find(domain::TxHash hash) override;
  ports::Awaitable<ports::Outcome<ports::SequenceCounts>> sequences(
      domain::Address account) override;
  ports::Awaitable<ports::Outcome<domain::Amount>> native_balance(domain::Address account) override;
  /// eth_estimateGas at the newest block; eth_call with the gas that calls like it needed a moment
  /// ago, and the estimate only where that does not run. A call that carries no value is for a
  /// contract: where
  /// there is none it would run and do nothing, so it is `refused` as a revert. A revert is
  /// `refused` with kind reverted and the contract's decoded reason; want of native money for gas
  /// is kind unfunded, not a revert.
  ports::Awaitable<ports::Outcome<ports::Simulated>> simulate(domain::Address sender,
                                                              ports::Call call) override;
  /// eth_call at the newest block with the gas of the chain's cap; what that refuses is put to
  /// `simulate`, and ends as it does.
  ports::Awaitable<ports::Outcome<bool>> would_run(domain::Address sender,
                                                   ports::Call call) override;
  /// See fees_for. eth_feeHistory is asked at most once in fee_history_ms, however many ask; while
  /// heads are read that often, their base fee stands for the history's, up to rewards_ms.
  ports::Awaitable<ports::Outcome<domain::Fees>> quote(std::uint64_t gas) override;
  /// Searches the account's count back from the final block, by ever wider steps and then by
  /// halving: about 2·log2(age in blocks) small reads and one block. Needs a node that keeps the
  /// state of that age; one that does not gives `unknown`. Empty when the count is not above `at`
  /// yet, or no transaction of the account in the block that raised it has this number (the number
  /// was spent in another way, such as an EIP-7702 delegation).
  ports::Awaitable<ports::Outcome<std::optional<domain::MinedTx>>> consumer(
      domain::Address account, domain::Sequence at) override;

  ports::Awaitable<ports::Outcome<bool>> vouch(domain::MinedTx tx, ports::Says says) override;

  ports::Awaitable<ports::Outcome<ports::Posted>> post(Bytes bytes, domain::TxHash hash) override;
  ports::Awaitable<ports::Outcome<std::optional<domain::TxHash>>> send_order(
      domain::IntentId id, domain::Terms terms) override;

  // For this wing's methods, not in the port.

  std::uint64_t number() const { return number_; }
  Rpc& rpc() { return rpc_; }
  /// The others are configured, and cannot be asked now: what one says against a payment ends none.
  bool is_sole_voice(const Voices& voices) const;
  /// Whether there is code at an address now. Not remembered. That there is none is believed of all
  /// endpoints together.
  ports::Awaitable<ports::Outcome<bool>> has_code(domain::Address address);
  /// The newest block that is final by the rule of `info().finality`: where the endpoints differ,
  /// the lowest.
  ports::Awaitable<ports::Outcome<Header>> final_block();
  ports::Awaitable<ports::Outcome<Header>> final_block_of(Rpc& voice);
  /// eth_call in the state of `at` (a tag, or a height as a quantity); at most 4 KiB come back.
  ports::Awaitable<ports::Outcome<Bytes>> call_contract(Address20 contract, Bytes data,
                                                        std::string at);
  ports::Awaitable<ports::Outcome<Bytes>> call_contract_of(Rpc& voice, Address20 contract,
                                                           Bytes data, std::string at);

 private:
  struct FeeCache;

  // What one endpoint says.
  ports::Awaitable<ports::Outcome<ports::Head>> head_of(Rpc& voice, bool with_block);
  ports::Awaitable<ports::Outcome<std::optional<ports::Block>>> block_of(Rpc& voice,
                                                                         std::uint64_t height);
  ports::Awaitable<ports::Outcome<std::optional<domain::BlockHash>>> block_hash_of(
      Rpc& voice, std::uint64_t height);
  ports::Awaitable<ports::Outcome<ports::Whereabouts>> find_of(Rpc& voice, domain::TxHash hash);
  ports::Awaitable<ports::Outcome<ports::SequenceCounts>> sequences_of(Rpc& voice,
                                                                       domain::Address account);
  ports::Awaitable<ports::Outcome<std::optional<domain::MinedTx>>> consumer_of(
      Rpc& voice, domain::Address account, domain::Sequence at);
  ports::Awaitable<ports::Outcome<ports::Simulated>> estimate_of(Rpc& voice,
                                                                 boost::json::array params);
  ports::Awaitable<ports::Outcome<bool>> run_of(Rpc& voice, boost::json::array params);
  /// What `ask` makes of the endpoints' answers to `params`: a no is asked of all of them.
  template <class T, class Ask>
  ports::Awaitable<ports::Outcome<T>> would_run_by(domain::Address sender, ports::Call call,
                                                   std::optional<std::uint64_t> gas, Ask ask);
  ports::Awaitable<ports::Outcome<bool>> has_code_of(Rpc& voice, domain::Address address);
  ports::Awaitable<ports::Outcome<Header>> header_at(Rpc& voice, std::uint64_t height);
  /// Empty: null, no such block.
  ports::Awaitable<ports::Outcome<std::optional<Header>>> maybe_header_at(Rpc& voice,
                                                                          std::uint64_t height);
  ports::Awaitable<ports::Outcome<std::uint64_t>> count_at(Rpc& voice,
                                                           const domain::Address& account,
                                                           std::string at);
  ports::Awaitable<ports::Outcome<std::vector<WireReceipt>>> receipts_one_by_one(
      Rpc& voice, const WireBlock& block);
  ports::Awaitable<ports::Outcome<ports::Whereabouts>> located(Rpc& voice, WireTx tx,
                                                               WireReceipt receipt);
  ports::Awaitable<ports::Outcome<std::uint64_t>> height_that_passed(Rpc& voice,
                                                                     const domain::Address& account,
                                                                     std::uint64_t at,
                                                                     std::uint64_t final_height);

  ports::Unknown nobody_else() const;
  ports::Awaitable<ports::Outcome<bool>> vouched_by(Voices voices, domain::MinedTx tx);
  ports::Awaitable<ports::Outcome<ports::Head>> same_final_block(Voices voices,
                                                                 std::vector<ports::Head> heads);
  /// The first answer that has it, in the order of preference; empty when all say that there is
  /// none.
  template <class T, class Read>
  ports::Awaitable<ports::Outcome<std::optional<T>>> whoever_has_it(Read read);

  /// ok, or what a call to an address without code ends with.
  ports::Awaitable<ports::Outcome<bool>> check_code(domain::Address target);
  ports::Awaitable<ports::Outcome<FeeHistory>> fee_history();
  /// At most what the next block's can be; empty: no head was read a moment ago.
  std::optional<U256> next_base_fee(std::int64_t now_ms) const;
  Transaction1559 transaction(const ports::Order& order) const;
  /// The final height, given those of the tags.
  std::uint64_t final_height(std::uint64_t latest, std::uint64_t tagged) const;
  /// True when the final block is exactly the block of the rule's tag.
  bool tag_is_final() const;

  /// What one endpoint said last. What is final moves slowly: while the newest block goes on from
  /// the one that was heard, the tags are asked for now and then; whatever contradicts it asks
  /// anew.
  struct Heard {
    domain::BlockRef latest;
    Header finalized;
    std::uint64_t safe_height = 0;
    std::optional<std::int64_t> asked_ms{};  ///< for the tags, monotonic
    std::size_t txs = 0;  ///< of the newest block that was read whole
    std::optional<WireBlock> newest{};  ///< read with the head, until its receipts are asked for
    std::optional<std::vector<WireReceipt>> receipts{};  ///< and these, where they came with it
    int in_a_row = 0;  ///< looks that found the next block, and transactions in it
    std::optional<U256> base_fee{};  ///< the newest block's
    std::int64_t newest_ms = 0;  ///< monotonic: when that block was the newest
  };

  ports::Awaitable<ports::Outcome<ports::Head>> head_by_depth(Rpc& voice);
  ports::Awaitable<ports::Outcome<ports::Head>> head_with_tags(Rpc& voice, bool with_block);
  RpcCall newest_call(Rpc& voice, bool with_block);
  ports::Outcome<Header> read_newest(Rpc& voice, const RpcCall& asked, const Answer& answer);
  /// While every look finds the next block, its receipts are asked for beside it.
  std::optional<std::uint64_t> expected_block(Rpc& voice, const RpcCall& newest);
  void keep_receipts(Rpc& voice, std::uint64_t height, const Answer& answer);
  struct Newest {
    WireBlock block;
    std::optional<std::vector<WireReceipt>> receipts;
  };
  /// The block of this height, if it came with the head; once.
  std::optional<Newest> take_newest(Rpc& voice, std::uint64_t height);
  ports::Head note_newest(Rpc& voice, const Header& told);
  bool uses_safe() const;

  std::uint64_t number_;
  Rpc& rpc_;
  ports::Clock& clock_;
  ports::ChainInfo info_;
  bool confirmations_only_;
  std::int64_t tags_every_ms_;
  FeePolicy fee_policy_;
  /// Endpoints that offer no block's receipts at once: learnt from a refusal.
  std::set<const Rpc*> lacks_block_receipts_;
  std::map<const Rpc*, Heard> heard_;  ///< they live as long as `rpc_`
  std::set<domain::Address> has_code_;  ///< contracts that were seen to be there
  KnownGas known_gas_;
  std::shared_ptr<FeeCache> fee_cache_;  ///< shared with whoever asks
};

}  // namespace holdfast::evm
