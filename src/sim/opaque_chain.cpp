#include "sim/opaque_chain.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/sha256.hpp>

#include "sim/names.hpp"

namespace holdfast::sim {

namespace {

constexpr std::uint64_t finality_lag = 2;

}  // namespace

OpaqueChain::OpaqueChain(SimClock& clock, domain::ChainId id, std::int64_t block_ms)
    : clock_(clock), block_ms_(block_ms), start_s_(clock.wall_ms() / 1000) {
  ensure(block_ms > 0, "an opaque chain makes blocks of itself");
  info_.id = std::move(id);
  info_.ordered = false;
  info_.opaque = true;
  info_.poll_ms = block_ms;
  info_.answer_at = {domain::FinalityTag::latest, 1};
}

Result<domain::Address> OpaqueChain::parse_address(std::string_view text) const {
  return sim::parse_address(text);
}

Result<domain::AssetId> OpaqueChain::parse_asset(std::string_view text) const {
  return sim::parse_asset(text);
}

ports::Call OpaqueChain::noop_call(const domain::Address& account) const {
  return {account, domain::Amount{}, {}};
}

Digest OpaqueChain::digest(const ports::Order&) const {
  ensure(false, "nothing is signed for an opaque chain");
  return {};
}

Result<ports::SignedTx> OpaqueChain::seal(const ports::Order&, ByteView) const {
  return refuse(ports::ChainError::wrong_bytes, "nothing is signed for an opaque chain");
}

template <class T>
ports::Awaitable<ports::Outcome<T>> OpaqueChain::answer(ChainCall call,
                                                        ports::Outcome<T> otherwise) {
  const auto failure = script_.enter(call);
  co_await clock_.sleep(0);
  if (!failure) co_return otherwise;
  co_return std::visit([](const auto& ending) { return ports::Outcome<T>(ending); }, *failure);
}

std::uint64_t OpaqueChain::height() const {
  return static_cast<std::uint64_t>(clock_.mono_ms() / block_ms_);
}

domain::BlockHash OpaqueChain::hash_at(std::uint64_t height) const {
  return domain::BlockHash{
      FieldHash("sim/opaque-block/1").add(info_.id.value).add(height).finish()};
}

std::int64_t OpaqueChain::time_s_at(std::uint64_t height) const {
  return start_s_ + static_cast<std::int64_t>(height) * block_ms_ / 1000;
}

ports::Awaitable<ports::Outcome<bool>> OpaqueChain::check() {
  if (script_.wrong_chain()) {
    return answer<bool>(ChainCall::check, ports::Refused{ports::RefusalKind::other,
                                                         "the sender is on another chain"});
  }
  return answer<bool>(ChainCall::check, true);
}

ports::Awaitable<ports::Outcome<ports::Head>> OpaqueChain::head() {
  const std::uint64_t latest = height();
  const std::uint64_t last_final = latest > finality_lag ? latest - finality_lag : 0;
  return answer<ports::Head>(ChainCall::head, ports::Head{{latest, hash_at(latest)},
                                                          time_s_at(latest),
                                                          last_final,
                                                          {last_final, hash_at(last_final)},
                                                          time_s_at(last_final)});
}

ports::Awaitable<ports::Outcome<std::optional<ports::Block>>> OpaqueChain::block(std::uint64_t at) {
  std::optional<ports::Block> found;
  if (at <= height()) {
    found.emplace();
    found->ref = {at, hash_at(at)};
    if (at > 0) found->parent = hash_at(at - 1);
    found->time_s = time_s_at(at);
    const auto txs = landed_.find(at);
    if (txs != landed_.end()) found->txs = txs->second;
  }
  return answer<std::optional<ports::Block>>(ChainCall::block, std::move(found));
}

ports::Awaitable<ports::Outcome<std::optional<domain::BlockHash>>> OpaqueChain::block_hash(
    std::uint64_t at) {
  return answer<std::optional<domain::BlockHash>>(
      ChainCall::block_hash, at <= height() ? std::optional(hash_at(at)) : std::nullopt);
}

ports::Awaitable<ports::Outcome<ports::Whereabouts>> OpaqueChain::find(domain::TxHash hash) {
  ports::Whereabouts found;
  for (const auto& [at, txs] : landed_) {
    if (at > height()) break;
    for (const domain::MinedTx& tx : txs) {
      if (tx.hash == hash) found = {ports::Whereabouts::Place::mined, tx};
    }
  }
  return answer<ports::Whereabouts>(ChainCall::find, std::move(found));
}

ports::Awaitable<ports::Outcome<ports::SequenceCounts>> OpaqueChain::sequences(domain::Address) {
  return answer<ports::SequenceCounts>(
      ChainCall::sequences,
      ports::Refused{ports::RefusalKind::no_such_method, "accounts have no sequences here"});
}

ports::Awaitable<ports::Outcome<domain::Amount>> OpaqueChain::native_balance(domain::Address) {
  // The sender pays its own way.
  return answer<domain::Amount>(ChainCall::native_balance, domain::Amount::max());
}

ports::Awaitable<ports::Outcome<ports::Simulated>> OpaqueChain::simulate(domain::Address,
                                                                         ports::Call) {
  return answer<ports::Simulated>(ChainCall::simulate, ports::Simulated{0});
}

ports::Awaitable<ports::Outcome<domain::Fees>> OpaqueChain::quote(std::uint64_t) {
  return answer<domain::Fees>(ChainCall::quote, domain::Fees{});
}

ports::Awaitable<ports::Outcome<std::optional<domain::MinedTx>>> OpaqueChain::consumer(
    domain::Address, domain::Sequence) {
  return answer<std::optional<domain::MinedTx>>(
      ChainCall::consumer,
      ports::Refused{ports::RefusalKind::no_such_method, "accounts have no sequences here"});
}

ports::Awaitable<ports::Outcome<ports::Posted>> OpaqueChain::post(Bytes, domain::TxHash) {
  return answer<ports::Posted>(
      ChainCall::post, ports::Refused{ports::RefusalKind::other, "this sender takes orders only"});
}

domain::TxHash OpaqueChain::hash_of(const domain::IntentId& id) {
  return domain::TxHash{FieldHash("sim/opaque-tx/1").add(id.view()).finish()};
}

OpaqueChain::SendAnswer OpaqueChain::next_send_answer(const domain::IntentId& id,
                                                      const domain::Terms& terms) {
  if (answers_.empty()) return on_order_ ? on_order_(id, terms) : std::optional(hash_of(id));
  SendAnswer next = std::move(answers_.front());
  answers_.pop_front();
  return next;
}

ports::Awaitable<OpaqueChain::SendAnswer> OpaqueChain::send_order(domain::IntentId id,
                                                                  domain::Terms terms) {
  sent_.push_back({id, terms, clock_.mono_ms()});
  return answer<std::optional<domain::TxHash>>(ChainCall::send_order, next_send_answer(id, terms));
}

domain::TxHash OpaqueChain::land(const domain::IntentId& id, const domain::Ref& ref,
                                 std::uint64_t blocks_later) {
  const auto sent =
      std::find_if(sent_.begin(), sent_.end(), [&id](const Sent& entry) { return entry.id == id; });
  ensure(sent != sent_.end(), "only what was asked for can land");
  const std::uint64_t at = height() + 1 + blocks_later;
  domain::MinedTx tx;
  tx.hash = hash_of(id);
  tx.block = {at, hash_at(at)};
  tx.block_time_s = time_s_at(at);
  tx.succeeded = true;
  tx.sender = sent->terms.payer;
  tx.transfers.push_back(
      {sent->terms.asset, sent->terms.payer, sent->terms.payee, sent->terms.amount, 0});
  tx.trailing_ref = ref;
  landed_[at].push_back(tx);
  return tx.hash;
}

std::vector<domain::MinedTx> OpaqueChain::movers(const domain::Ref& ref) const {
  std::vector<domain::MinedTx> out;
  for (const auto& [at, txs] : landed_) {
    if (at > height()) break;
    for (const domain::MinedTx& tx : txs) {
      if (tx.trailing_ref == ref) out.push_back(tx);
    }
  }
  return out;
}

std::size_t OpaqueChain::sends(const domain::IntentId& id) const {
  return static_cast<std::size_t>(std::count_if(
      sent_.begin(), sent_.end(), [&id](const Sent& entry) { return entry.id == id; }));
}

}  // namespace holdfast::sim
