// Owns: a chain in memory behind holdfast's ports, with the method and the signer that go with it:
// what an embedder writes for a chain of their own. Blocks every 100 ms, the newest two not final.
// Must never: be used for money: its signature is a digest anybody can make.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/method.hpp>
#include <holdfast/ports/signer.hpp>

namespace line_server {

namespace hf = holdfast;

/// A token beside the native asset, named as EVM assets are: see toy_token.hpp.
inline const hf::domain::AssetId toy_token{"0x70757265746f79000000000000000000000000a1"};

/// Pays in its native asset, and in its one token. Like the engine that asks it, it lives on one
/// executor.
class ToyChain final : public hf::ports::Chain {
 public:
  template <class T>
  using Answer = hf::ports::Awaitable<hf::ports::Outcome<T>>;

  ToyChain(hf::ports::Clock& clock, std::map<hf::domain::Address, hf::U256> balances);

  // Pure.
  const hf::ports::ChainInfo& info() const override { return info_; }
  hf::Result<hf::domain::Address> parse_address(std::string_view text) const override;
  hf::Result<hf::domain::AssetId> parse_asset(std::string_view text) const override;
  hf::ports::Call noop_call(const hf::domain::Address& account) const override;
  hf::Digest digest(const hf::ports::Order& order) const override;
  hf::Result<hf::ports::SignedTx> seal(const hf::ports::Order& order,
                                       hf::ByteView signature) const override;

  // Reads.
  Answer<bool> check() override;
  Answer<hf::ports::Head> head() override;
  Answer<std::optional<hf::ports::Block>> block(std::uint64_t height) override;
  Answer<std::optional<hf::domain::BlockHash>> block_hash(std::uint64_t height) override;
  Answer<hf::ports::Whereabouts> find(hf::domain::TxHash hash) override;
  Answer<hf::ports::SequenceCounts> sequences(hf::domain::Address account) override;
  Answer<hf::domain::Amount> native_balance(hf::domain::Address account) override;
  Answer<hf::ports::Simulated> simulate(hf::domain::Address sender, hf::ports::Call call) override;
  Answer<hf::domain::Fees> quote(std::uint64_t gas) override;
  Answer<std::optional<hf::domain::MinedTx>> consumer(hf::domain::Address account,
                                                      hf::domain::Sequence at) override;

  // Acts.
  Answer<hf::ports::Posted> post(hf::Bytes bytes, hf::domain::TxHash hash) override;
  Answer<std::optional<hf::domain::TxHash>> send_order(hf::domain::IntentId id,
                                                       hf::domain::Terms terms) override;

  /// Out of nothing, before anything else happens.
  void mint(const hf::domain::Address& owner, const hf::U256& amount);
  /// The transaction that used what the owner signed; null: none has.
  const hf::domain::MinedTx* use_of(const hf::domain::Address& owner,
                                    const hf::domain::Nonce& nonce) const;
  std::uint64_t final_height() const { return finalized(); }
  std::int64_t final_time_s() const { return blocks_[finalized()].time_s; }

  // The chain's own books, which the engine never sees.
  hf::U256 balance(const hf::domain::Address& owner) const;
  hf::U256 token_balance(const hf::domain::Address& owner) const;
  std::size_t times_moved(const hf::domain::Ref& ref) const;

 private:
  struct Pending {
    hf::ports::Order order;
    hf::domain::TxHash hash;
  };

  void mine_what_is_due();
  void mine();
  hf::domain::MinedTx run(const Pending& pending, const hf::ports::Block& block);
  void run_native(const hf::ports::Order& order, hf::domain::MinedTx& tx);
  void run_token(const hf::ports::Order& order, hf::domain::MinedTx& tx);
  /// Why the token refuses this now; empty: it runs.
  std::string refusal_of(const hf::ports::Call& call, std::int64_t time_s) const;
  std::uint64_t finalized() const;
  std::uint64_t count(const hf::domain::Address& account, std::uint64_t up_to_height) const;
  const hf::domain::MinedTx* mined(const hf::domain::TxHash& hash) const;

  hf::ports::Clock& clock_;
  hf::ports::ChainInfo info_;
  std::map<hf::domain::Address, hf::U256> balances_;
  std::map<hf::domain::Address, hf::U256> tokens_;
  std::vector<hf::ports::Block> blocks_;  // by height
  std::map<std::pair<hf::domain::Address, hf::domain::Sequence>, Pending> pool_;
  std::int64_t next_block_ms_ = 0;
};

/// `payout`: from one of our accounts, the ref as the call's payload.
class ToyPayout final : public hf::ports::Method {
 public:
  explicit ToyPayout(const ToyChain& chain) : chain_(chain) {}

  hf::domain::MethodName name() const override { return {"payout"}; }
  hf::domain::ChainId chain() const override { return chain_.info().id; }
  bool bearer() const override { return false; }
  hf::Result<void> check_terms(const hf::domain::Terms& terms) const override;
  std::string typed_data(const hf::domain::Intent&) const override { return {}; }
  hf::ports::Awaitable<hf::Result<void>> verify(hf::domain::Intent, hf::domain::Authorization,
                                                hf::ports::Moment) override;
  hf::Result<hf::ports::Call> call(const hf::domain::Intent& intent) const override;
  hf::domain::Evidence evidence(const hf::domain::Intent& intent, const hf::domain::MinedTx& tx,
                                bool own_hash) const override;
  hf::ports::Awaitable<hf::domain::AuthorizationSeen> read_authorization(
      hf::domain::Intent intent) override;

 private:
  const ToyChain& chain_;
};

class ToySigner final : public hf::ports::Signer {
 public:
  explicit ToySigner(hf::domain::Address account) : account_(std::move(account)) {}

  std::vector<hf::domain::Address> accounts() const override { return {account_}; }
  bool local() const override { return true; }
  boost::asio::awaitable<hf::ports::Outcome<hf::Bytes>> sign(hf::domain::Address account,
                                                             hf::Digest digest) override;

 private:
  hf::domain::Address account_;
};

}  // namespace line_server
