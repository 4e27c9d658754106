#include "sim/chain.hpp"

#include <algorithm>
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
ports::Awaitable<ports::Outcome<T>> ScriptedChain::answer(
    ChainCall call, std::function<ports::Outcome<T>(const View&)> work) {
  auto failure = script_.enter(call);
  const auto mishap = weather_ != nullptr ? weather_->read() : std::nullopt;
  if (mishap == Mishap::read_lost && !failure) failure = unknown();
  co_await travel(options_.latency_ms / 2);
  catch_up();
  const std::size_t endpoint = endpoints_ != nullptr ? endpoints_->next() : 0;
  const std::uint64_t lag = mishap == Mishap::read_lagging ? weather_->lag() : 0;
  ports::Outcome<T> outcome = failure ? failed<T>(*failure) : work(view(lag, endpoint));
  co_await travel(options_.latency_ms - options_.latency_ms / 2);
  if (mishap == Mishap::reply_late) co_await travel(weather_->late_ms(10'000));
  co_return outcome;
}

ScriptedChain::View ScriptedChain::view(std::uint64_t lag, std::size_t endpoint) const {
  if (endpoints_ != nullptr) lag += endpoints_->lag(endpoint);
  const std::uint64_t height = newest().ref.height;
  const std::uint64_t latest = height - std::min(lag, height);
  const std::uint64_t depth = std::min(options_.finality_lag, latest);
  return {latest, lag == 0 ? finalized_ : std::min(finalized_, latest - depth), endpoint};
}

const ports::Block& ScriptedChain::block_at(std::uint64_t height, const View& view) const {
  const ports::Block* const old =
      endpoints_ == nullptr
          ? nullptr
          : endpoints_->old_block(view.endpoint, height, newest().ref.height, finalized_);
  return old != nullptr ? *old : blocks_[height].block;
}

const domain::MinedTx* ScriptedChain::mined_at(const domain::TxHash& hash, const View& view) const {
  if (endpoints_ != nullptr) {
    const auto* const old =
        endpoints_->old_tx(view.endpoint, hash, newest().ref.height, finalized_);
    if (old != nullptr) return old->block.height <= view.latest ? old : nullptr;
  }
  const auto* const tx = index_.by_hash(hash);
  if (tx == nullptr || tx->block.height > view.latest) return nullptr;
  return block_at(tx->block.height, view).ref == tx->block ? tx : nullptr;
}

bool ScriptedChain::knows(const domain::TxHash& hash, const View& view) const {
  return endpoints_ == nullptr || endpoints_->knows(hash, view.endpoint, clock_.mono_ms());
}

domain::MinedTx ScriptedChain::shown(domain::MinedTx tx) const {
  std::erase_if(tx.transfers, [this](const domain::Transfer& one) {
    return books_.token(one.asset) == TokenKind::silent;
  });
  return tx;
}

ports::Awaitable<void> ScriptedChain::travel(std::int64_t ms) {
  // By way of the executor even when it takes no time: others come in between, as on a network.
  co_await clock_.sleep(ms);
}

ports::Awaitable<ports::Outcome<bool>> ScriptedChain::check() {
  return answer<bool>(ChainCall::check, [this](const View&) -> ports::Outcome<bool> {
    if (!script_.wrong_chain()) return true;
    return ports::Refused{ports::RefusalKind::other, "the node is on another chain"};
  });
}

ports::Awaitable<ports::Outcome<ports::Head>> ScriptedChain::head() {
  return answer<ports::Head>(
      ChainCall::head, [this](const View& view) -> ports::Outcome<ports::Head> {
        const ports::Block& latest = block_at(view.latest, view);
        const ports::Block& last_final = block_at(view.finalized, view);
        return ports::Head{script_.take_latest().value_or(latest.ref), latest.time_s,
                           view.finalized, last_final.ref, last_final.time_s};
      });
}

ports::Awaitable<ports::Outcome<std::optional<ports::Block>>> ScriptedChain::block(
    std::uint64_t height) {
  using Answer = std::optional<ports::Block>;
  return answer<Answer>(ChainCall::block,
                        [this, height](const View& view) -> ports::Outcome<Answer> {
                          if (height > view.latest) return Answer();
                          ports::Block block = block_at(height, view);
                          for (domain::MinedTx& tx : block.txs) tx = shown(std::move(tx));
                          return Answer(std::move(block));
                        });
}

ports::Awaitable<ports::Outcome<std::optional<domain::BlockHash>>> ScriptedChain::block_hash(
    std::uint64_t height) {
  using Answer = std::optional<domain::BlockHash>;
  return answer<Answer>(
      ChainCall::block_hash, [this, height](const View& view) -> ports::Outcome<Answer> {
        return height <= view.latest ? Answer(block_at(height, view).ref.hash) : Answer();
      });
}

ports::Awaitable<ports::Outcome<ports::Whereabouts>> ScriptedChain::find(domain::TxHash hash) {
  using Place = ports::Whereabouts::Place;
  return answer<ports::Whereabouts>(
      ChainCall::find, [this, hash](const View& view) -> ports::Outcome<ports::Whereabouts> {
        if (shows_ && shows_->hash == hash) {
          return ports::Whereabouts{Place::mined, shown(*shows_)};
        }
        if (const auto* tx = mined_at(hash, view)) {
          return ports::Whereabouts{Place::mined, shown(*tx)};
        }
        // What a node has not seen mined yet is in its pool still, if it was there.
        const bool waits = index_.by_hash(hash) != nullptr || pool_.has(hash);
        const Place place = waits && knows(hash, view) ? Place::pending : Place::not_found;
        return ports::Whereabouts{place, std::nullopt};
      });
}

ports::Awaitable<ports::Outcome<ports::SequenceCounts>> ScriptedChain::sequences(
    domain::Address account) {
  return answer<ports::SequenceCounts>(
      ChainCall::sequences,
      [this, account = std::move(account)](const View& view)
          -> ports::Outcome<ports::SequenceCounts> { return counts(account, view); });
}

ports::SequenceCounts ScriptedChain::counts(const domain::Address& account,
                                            const View& view) const {
  const std::uint64_t now = books_.count(account);
  std::uint64_t latest = now;
  std::uint64_t finalized = now;
  for (std::size_t height = view.finalized + 1; height < blocks_.size(); ++height) {
    for (const domain::MinedTx& tx : blocks_[height].block.txs) {
      if (tx.sender != account) continue;
      --finalized;
      if (height > view.latest) --latest;
    }
  }
  if (latest != now) return {{latest}, {latest}, {finalized}};
  const auto is_known = [&](const domain::TxHash& hash) { return knows(hash, view); };
  return {{latest}, {pool_.count(account, books_, is_known)}, {finalized}};
}

ports::Awaitable<ports::Outcome<domain::Amount>> ScriptedChain::native_balance(
    domain::Address account) {
  return answer<domain::Amount>(
      ChainCall::native_balance,
      [this, account = std::move(account)](const View&) -> ports::Outcome<domain::Amount> {
        return books_.balance(account, domain::native_asset);
      });
}

ports::Awaitable<ports::Outcome<ports::Simulated>> ScriptedChain::simulate(domain::Address sender,
                                                                           ports::Call call) {
  return answer<ports::Simulated>(ChainCall::simulate,
                                  [this, sender = std::move(sender), call = std::move(call)](
                                      const View&) -> ports::Outcome<ports::Simulated> {
                                    const Books::Ran ran =
                                        books_.run(sender, call, newest().time_s);
                                    if (!ran.succeeded)
                                      return ports::Refused{ports::RefusalKind::reverted, ran.why};
                                    books_.undo(ran);
                                    return ports::Simulated{options_.gas};
                                  });
}

ports::Awaitable<ports::Outcome<domain::Fees>> ScriptedChain::quote(std::uint64_t gas) {
  return answer<domain::Fees>(
      ChainCall::quote, [this, gas](const View&) -> ports::Outcome<domain::Fees> {
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
  return answer<Answer>(
      ChainCall::consumer,
      [this, account = std::move(account), at](const View& view) -> ports::Outcome<Answer> {
        const auto* tx = index_.by_sequence(account, at.value);
        if (tx == nullptr || tx->block.height > view.finalized) return Answer();
        return Answer(shown(*tx));
      });
}

ports::Awaitable<ports::Outcome<bool>> ScriptedChain::vouch(domain::MinedTx tx, ports::Says) {
  return answer<bool>(ChainCall::vouch,
                      [this, tx = std::move(tx)](const View&) -> ports::Outcome<bool> {
                        if (is_invented(tx))
                          return ports::Unknown{"another node has it nowhere", false};
                        return true;
                      });
}

ports::Awaitable<ports::Outcome<ScriptedChain::AuthorizationState>> ScriptedChain::authorization(
    domain::AssetId asset, domain::Address authorizer, domain::Nonce nonce) {
  AuthorizationKey key(std::move(asset), std::move(authorizer), nonce);
  return answer<AuthorizationState>(
      ChainCall::authorization,
      [this, key = std::move(key)](const View& view) -> ports::Outcome<AuthorizationState> {
        return authorization_in(view, key);
      });
}

ScriptedChain::AuthorizationState ScriptedChain::authorization_in(
    const View& view, const AuthorizationKey& key) const {
  const auto& [asset, authorizer, nonce] = key;
  AuthorizationState out;
  out.finalized_time_s = blocks_[view.finalized].block.time_s;
  const auto* tx = index_.by_authorization(key);
  if (tx == nullptr || tx->block.height > view.latest) return out;
  out.latest = books_.authorization(asset, authorizer, nonce);
  out.tx = shown(*tx);
  out.tx_final = tx->block.height <= view.finalized;
  if (out.tx_final) out.finalized = out.latest;
  return out;
}

ports::Awaitable<ports::Outcome<std::optional<domain::TxHash>>> ScriptedChain::send_order(
    domain::IntentId, domain::Terms) {
  using Answer = std::optional<domain::TxHash>;
  return answer<Answer>(ChainCall::send_order, [](const View&) -> ports::Outcome<Answer> {
    return ports::Refused{ports::RefusalKind::other, "this chain takes signed bytes"};
  });
}

// What was scripted goes first; then the weather has its say.
NextPost ScriptedChain::next_post() {
  const auto failure = script_.enter(ChainCall::post);
  if (failure) return {false, failure};
  if (script_.has_post()) return script_.take_post();
  if (weather_ == nullptr) return NextPost::accept();
  const auto mishap = weather_->post();
  if (!mishap) return NextPost::accept();
  switch (*mishap) {
    case Mishap::post_reply_lost: return NextPost::accept_answer_unknown();
    case Mishap::post_lost: return NextPost::drop_answer_unknown();
    case Mishap::post_not_sent: return NextPost::not_sent();
    case Mishap::post_forgotten: return NextPost::drop_answer_ok();
    case Mishap::post_refused: return {false, weather_->refusal()};
    case Mishap::post_refused_kept: return {true, weather_->refusal()};
    case Mishap::post_late: {
      NextPost next = NextPost::drop_answer_unknown();
      next.arrives_late_ms = weather_->late_ms(120'000);
      return next;
    }
    case Mishap::post_doubled: {
      NextPost next = NextPost::accept();
      next.arrives_late_ms = weather_->late_ms(30'000);
      return next;
    }
    case Mishap::reply_late: {
      NextPost next = NextPost::accept();
      next.answers_late_ms = weather_->late_ms(10'000);
      return next;
    }
    case Mishap::read_lost:
    case Mishap::read_lagging: break;
  }
  return NextPost::accept();
}

ports::Awaitable<ports::Outcome<ports::Posted>> ScriptedChain::post(Bytes bytes,
                                                                    domain::TxHash hash) {
  const NextPost next = next_post();
  const std::size_t record = posts_.size();
  posts_.push_back({clock_.mono_ms(), bytes, hash, false, "left, not answered"});
  if (told_of_post_) told_of_post_(hash);
  if (next.arrives_late_ms > 0) {
    late_.emplace(clock_.mono_ms() + next.arrives_late_ms, Late{bytes, hash});
  }
  co_await travel(options_.latency_ms / 2);
  catch_up();
  // "Said yes and forgot it" is what remains when the bytes do not reach the node and nothing else
  // is answered.
  ports::Outcome<ports::Posted> outcome = ports::Posted{false};
  if (next.reaches) {
    posts_[record].reached = true;
    outcome =
        deliver(std::move(bytes), hash, view(0, endpoints_ != nullptr ? endpoints_->next() : 0));
  }
  if (next.answer) outcome = failed<ports::Posted>(*next.answer);
  if (outcome.ok() != nullptr) taken_.insert(hash);
  co_await travel(options_.latency_ms - options_.latency_ms / 2);
  if (next.answers_late_ms > 0) co_await travel(next.answers_late_ms);
  posts_[record].answer = outcome.text();
  co_return outcome;
}

ports::Outcome<ports::Posted> ScriptedChain::deliver(Bytes bytes, const domain::TxHash& hash,
                                                     const View& view) {
  auto tx = decode(bytes);
  if (!tx) return ports::Refused{ports::RefusalKind::malformed, "not a transaction"};
  if (tx->chain != options_.info.id) {
    return ports::Refused{ports::RefusalKind::malformed, "invalid chain id for signer"};
  }
  if (tx->signature != sign_as(tx->order.sender, digest_of(tx->chain, tx->order))) {
    return ports::Refused{ports::RefusalKind::malformed, "invalid sender"};
  }
  if (hash_of(bytes) != hash) return ports::Unknown{"the node answered another hash", false};
  const domain::Address sender = tx->order.sender;
  const domain::Sequence at = tx->order.sequence;
  auto outcome = pool_.admit(std::move(*tx), std::move(bytes), hash, books_, options_.pool_limit);
  const auto* const refused = outcome.refused();
  if (refused != nullptr && refused->kind == ports::RefusalKind::nonce_too_low &&
      at >= counts(sender, view).latest) {
    // It has not seen the number used: it says yes, and drops the bytes when it has.
    if (endpoints_ != nullptr) endpoints_->took_in_vain();
    outcome = ports::Posted{index_.by_hash(hash) != nullptr};
  }
  if (outcome.ok() != nullptr) {
    taken_.insert(hash);
    if (endpoints_ != nullptr) endpoints_->posted(hash, view.endpoint, clock_.mono_ms());
  }
  return outcome;
}

}  // namespace holdfast::sim
