#include "sim/chain.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/base/ensure.hpp>

#include "sim/names.hpp"

// The port's calls. The hand of the test and the making of blocks are in chain_blocks.cpp.

namespace holdfast::sim {

namespace {

template <class T>
ports::Outcome<T> failed(const Failure& failure) {
  return std::visit([](const auto& ending) { return ports::Outcome<T>(ending); }, failure);
}

}  // namespace

Result<domain::Address> ScriptedChain::parse_address(std::string_view text) const {
  return sim::parse_address(text);
}

Result<domain::AssetId> ScriptedChain::parse_asset(std::string_view text) const {
  return sim::parse_asset(text);
}

ports::Call ScriptedChain::noop_call(const domain::Address& account) const {
  return {account, domain::Amount{}, {}};
}

Digest ScriptedChain::digest(const ports::Order& order) const {
  return digest_of(options_.info.id, order);
}

Result<ports::SignedTx> ScriptedChain::seal(const ports::Order& order, ByteView signature) const {
  SimTx tx{options_.info.id, order, Bytes(signature.begin(), signature.end())};
  if (tx.signature != sign_as(order.sender, digest(order))) {
    return refuse(ports::ChainError::wrong_bytes, "the signature is not the sender's");
  }
  Bytes bytes = encode(tx);
  const domain::TxHash hash = hash_of(bytes);
  return ports::SignedTx{std::move(bytes), hash};
}

// A call takes effect half way through its latency; a caller that is gone by the end of it, gone it
// is: the effect stays.
template <class T>
ports::Awaitable<ports::Outcome<T>> ScriptedChain::answer(ChainCall call,
                                                          std::function<ports::Outcome<T>()> work) {
  const auto failure = script_.enter(call);
  co_await travel(options_.latency_ms / 2);
  catch_up();
  ports::Outcome<T> outcome = failure ? failed<T>(*failure) : work();
  co_await travel(options_.latency_ms - options_.latency_ms / 2);
  co_return outcome;
}

ports::Awaitable<void> ScriptedChain::travel(std::int64_t ms) {
  // By way of the executor even when it takes no time: others come in between, as on a network.
  co_await clock_.sleep(ms);
}

ports::Awaitable<ports::Outcome<bool>> ScriptedChain::check() {
  return answer<bool>(ChainCall::check, [this]() -> ports::Outcome<bool> {
    if (!script_.wrong_chain()) return true;
    return ports::Refused{ports::RefusalKind::other, "the node is on another chain"};
  });
}

ports::Awaitable<ports::Outcome<ports::Head>> ScriptedChain::head() {
  return answer<ports::Head>(ChainCall::head, [this]() -> ports::Outcome<ports::Head> {
    const ports::Block& latest = newest();
    const ports::Block& last_final = blocks_[finalized_].block;
    return ports::Head{script_.take_latest().value_or(latest.ref), latest.time_s, finalized_,
                       last_final.ref, last_final.time_s};
  });
}

ports::Awaitable<ports::Outcome<std::optional<ports::Block>>> ScriptedChain::block(
    std::uint64_t height) {
  using Answer = std::optional<ports::Block>;
  return answer<Answer>(ChainCall::block, [this, height]() -> ports::Outcome<Answer> {
    return height < blocks_.size() ? Answer(blocks_[height].block) : Answer();
  });
}

ports::Awaitable<ports::Outcome<std::optional<domain::BlockHash>>> ScriptedChain::block_hash(
    std::uint64_t height) {
  using Answer = std::optional<domain::BlockHash>;
  return answer<Answer>(ChainCall::block_hash, [this, height]() -> ports::Outcome<Answer> {
    return height < blocks_.size() ? Answer(blocks_[height].block.ref.hash) : Answer();
  });
}

ports::Awaitable<ports::Outcome<ports::Whereabouts>> ScriptedChain::find(domain::TxHash hash) {
  using Place = ports::Whereabouts::Place;
  return answer<ports::Whereabouts>(
      ChainCall::find, [this, hash]() -> ports::Outcome<ports::Whereabouts> {
        if (const auto* tx = index_.by_hash(hash)) return ports::Whereabouts{Place::mined, *tx};
        const Place place = pool_.has(hash) ? Place::pending : Place::not_found;
        return ports::Whereabouts{place, std::nullopt};
      });
}

ports::Awaitable<ports::Outcome<ports::SequenceCounts>> ScriptedChain::sequences(
    domain::Address account) {
  return answer<ports::SequenceCounts>(
      ChainCall::sequences,
      [this, account = std::move(account)]() -> ports::Outcome<ports::SequenceCounts> {
        return counts(account);
      });
}

ports::SequenceCounts ScriptedChain::counts(const domain::Address& account) const {
  std::uint64_t not_final = 0;
  for (std::size_t height = finalized_ + 1; height < blocks_.size(); ++height) {
    for (const domain::MinedTx& tx : blocks_[height].block.txs) not_final += tx.sender == account;
  }
  const std::uint64_t latest = books_.count(account);
  return {{latest}, {pool_.count(account, books_)}, {latest - not_final}};
}

ports::Awaitable<ports::Outcome<domain::Amount>> ScriptedChain::native_balance(
    domain::Address account) {
  return answer<domain::Amount>(
      ChainCall::native_balance,
      [this, account = std::move(account)]() -> ports::Outcome<domain::Amount> {
        return books_.balance(account, domain::native_asset);
      });
}

ports::Awaitable<ports::Outcome<ports::Simulated>> ScriptedChain::simulate(domain::Address sender,
                                                                           ports::Call call) {
  return answer<ports::Simulated>(ChainCall::simulate,
                                  [this, sender = std::move(sender),
                                   call = std::move(call)]() -> ports::Outcome<ports::Simulated> {
                                    const Books::Ran ran =
                                        books_.run(sender, call, newest().time_s);
                                    if (!ran.succeeded)
                                      return ports::Refused{ports::RefusalKind::reverted, ran.why};
                                    books_.undo(ran);
                                    return ports::Simulated{options_.gas};
                                  });
}

ports::Awaitable<ports::Outcome<domain::Fees>> ScriptedChain::quote(std::uint64_t gas) {
  return answer<domain::Fees>(ChainCall::quote, [this, gas]() -> ports::Outcome<domain::Fees> {
    const std::uint64_t limit = gas + gas / 5;
    if (limit > options_.gas_cap) {
      return ports::Refused{ports::RefusalKind::gas, "needs more gas than the cap"};
    }
    // Twice the base fee and the tip: room for six full blocks in a row, as wallets do.
    const auto room = options_.base_fee.times(U256(2));
    const auto most = room ? room->plus(options_.priority_fee) : std::nullopt;
    ensure(most.has_value(), "a simulated fee fits into 256 bits");
    return domain::Fees{*most, options_.priority_fee, limit};
  });
}

ports::Awaitable<ports::Outcome<std::optional<domain::MinedTx>>> ScriptedChain::consumer(
    domain::Address account, domain::Sequence at) {
  using Answer = std::optional<domain::MinedTx>;
  return answer<Answer>(ChainCall::consumer,
                        [this, account = std::move(account), at]() -> ports::Outcome<Answer> {
                          const auto* tx = index_.by_sequence(account, at.value);
                          return tx != nullptr && is_final(*tx) ? Answer(*tx) : Answer();
                        });
}

ports::Awaitable<ports::Outcome<ScriptedChain::AuthorizationState>> ScriptedChain::authorization(
    domain::AssetId asset, domain::Address authorizer, domain::Nonce nonce) {
  AuthorizationKey key(std::move(asset), std::move(authorizer), nonce);
  return answer<AuthorizationState>(
      ChainCall::authorization,
      [this, key = std::move(key)]() -> ports::Outcome<AuthorizationState> {
        return authorization_now(key);
      });
}

ScriptedChain::AuthorizationState ScriptedChain::authorization_now(
    const AuthorizationKey& key) const {
  const auto& [asset, authorizer, nonce] = key;
  AuthorizationState out;
  out.latest = books_.authorization(asset, authorizer, nonce);
  out.finalized_time_s = blocks_[finalized_].block.time_s;
  if (const auto* tx = index_.by_authorization(key)) {
    out.tx = *tx;
    out.tx_final = is_final(*tx);
    if (out.tx_final) out.finalized = out.latest;
  }
  return out;
}

ports::Awaitable<ports::Outcome<std::optional<domain::TxHash>>> ScriptedChain::send_order(
    domain::IntentId, domain::Terms) {
  using Answer = std::optional<domain::TxHash>;
  return answer<Answer>(ChainCall::send_order, []() -> ports::Outcome<Answer> {
    return ports::Refused{ports::RefusalKind::other, "this chain takes signed bytes"};
  });
}

ports::Awaitable<ports::Outcome<ports::Posted>> ScriptedChain::post(Bytes bytes,
                                                                    domain::TxHash hash) {
  const auto failure = script_.enter(ChainCall::post);
  const NextPost next = failure ? NextPost{false, failure} : script_.take_post();
  const std::size_t record = posts_.size();
  posts_.push_back({clock_.mono_ms(), bytes, hash, false, "left, not answered"});
  co_await travel(options_.latency_ms / 2);
  catch_up();
  // "Said yes and forgot it" is what remains when the bytes do not reach the node and nothing else
  // is answered.
  ports::Outcome<ports::Posted> outcome = ports::Posted{false};
  if (next.reaches) {
    posts_[record].reached = true;
    outcome = deliver(std::move(bytes), hash);
  }
  if (next.answer) outcome = failed<ports::Posted>(*next.answer);
  co_await travel(options_.latency_ms - options_.latency_ms / 2);
  posts_[record].answer = outcome.text();
  co_return outcome;
}

ports::Outcome<ports::Posted> ScriptedChain::deliver(Bytes bytes, const domain::TxHash& hash) {
  auto tx = decode(bytes);
  if (!tx) return ports::Refused{ports::RefusalKind::malformed, "not a transaction"};
  if (tx->chain != options_.info.id) {
    return ports::Refused{ports::RefusalKind::malformed, "invalid chain id for signer"};
  }
  if (tx->signature != sign_as(tx->order.sender, digest_of(tx->chain, tx->order))) {
    return ports::Refused{ports::RefusalKind::malformed, "invalid sender"};
  }
  if (hash_of(bytes) != hash) return ports::Unknown{"the node answered another hash", false};
  return pool_.admit(std::move(*tx), std::move(bytes), hash, books_, options_.pool_limit);
}

}  // namespace holdfast::sim
