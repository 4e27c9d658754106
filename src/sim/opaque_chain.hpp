// Owns: an opaque sender behind the Chain port: it takes an order, keeps no bytes for us and has no
// sequences. What it answers and what really happens are scripted apart.
// Must never: forgive a second call: each one counts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <holdfast/ports/chain.hpp>

#include "sim/clock.hpp"
#include "sim/script.hpp"

namespace holdfast::sim {

class OpaqueChain final : public ports::Chain {
 public:
  using SendAnswer = ports::Outcome<std::optional<domain::TxHash>>;

  /// Blocks each `block_ms` of the clock, final at once two blocks later; asked for as often.
  explicit OpaqueChain(SimClock& clock, domain::ChainId id = {"opaque:1"},
                       std::int64_t block_ms = 1000);

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
  ports::Awaitable<SendAnswer> send_order(domain::IntentId id, domain::Terms terms) override;

  ChainScript& script() { return script_; }
  /// What the next send_order answers; when none is scripted, ok with a hash of the intent.
  void next_answer(SendAnswer answer) { answers_.push_back(std::move(answer)); }
  /// What is answered where nothing is scripted; told of each order.
  using OnOrder = std::function<SendAnswer(const domain::IntentId&, const domain::Terms&)>;
  void on_order(OnOrder told) { on_order_ = std::move(told); }
  /// The payment of this intent, which was asked for, is in the next block or so many later,
  /// whatever was answered.
  domain::TxHash land(const domain::IntentId& id, const domain::Ref& ref,
                      std::uint64_t blocks_later = 0);
  /// What its transaction is called, if there ever is one.
  static domain::TxHash hash_of(const domain::IntentId& id);

  /// How often it was asked to pay this intent: never more than once.
  std::size_t sends(const domain::IntentId& id) const;
  std::size_t sends() const { return sent_.size(); }
  /// Landed by now, with this ref.
  std::vector<domain::MinedTx> movers(const domain::Ref& ref) const;

 private:
  struct Sent {
    domain::IntentId id;
    domain::Terms terms;
    std::int64_t at_ms = 0;
  };
  SendAnswer next_send_answer(const domain::IntentId& id, const domain::Terms& terms);
  std::uint64_t height() const;
  domain::BlockHash hash_at(std::uint64_t height) const;
  std::int64_t time_s_at(std::uint64_t height) const;
  template <class T>
  ports::Awaitable<ports::Outcome<T>> answer(ChainCall call, ports::Outcome<T> otherwise);

  SimClock& clock_;
  ports::ChainInfo info_;
  std::int64_t block_ms_;
  std::int64_t start_s_;
  ChainScript script_;
  std::deque<SendAnswer> answers_;
  OnOrder on_order_;
  std::vector<Sent> sent_;
  std::map<std::uint64_t, std::vector<domain::MinedTx>> landed_;
};

}  // namespace holdfast::sim
