#include "null_chain.hpp"

#include <limits>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "evm/method_names.hpp"
#include "evm/transaction.hpp"

namespace holdfast::load {

using ports::Outcome;
using ports::RefusalKind;

namespace {

evm::EvmOptions evm_options(const NullChainOptions& options) {
  evm::EvmOptions out;
  out.id = options.id;
  out.max_unconsumed = options.max_unconsumed;
  out.poll_ms = options.poll_ms;
  out.posts_at_once = 1'000;
  return out;
}

}  // namespace

boost::asio::awaitable<evm::Answer> NullChain::InProcess::call(std::string method,
                                                               boost::json::array params) {
  ++chain_.calls_;
  const boost::json::value request =
      boost::json::object{{"id", 1}, {"method", std::move(method)}, {"params", std::move(params)}};
  const std::int64_t wall_s = chain_.clock_.wall_ms() / 1000;
  const boost::json::value answer =
      boost::json::parse(chain_.answers_.answer(request, chain_.clock_.mono_ms(), wall_s));
  const boost::json::value* const result = answer.get_object().if_contains("result");
  if (result == nullptr) co_return ports::Unknown{"the null chain does not say", false};
  co_return *result;
}

NullChain::NullChain(NullChainOptions options, ports::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      ledger_(clock.wall_ms() / 1000, options_.notes, options_.first),
      // No blocks of its own accord: those are made by head().
      answers_({.block_ms = std::numeric_limits<std::int64_t>::max()}, options_.seed, ledger_),
      rpc_(*this),
      shape_(evm_options(options_), rpc_, clock),
      info_(shape_.info()),
      dice_(options_.seed) {}

Result<domain::Address> NullChain::parse_address(std::string_view text) const {
  return shape_.parse_address(text);
}

Result<domain::AssetId> NullChain::parse_asset(std::string_view text) const {
  return shape_.parse_asset(text);
}

ports::Call NullChain::noop_call(const domain::Address& account) const {
  return shape_.noop_call(account);
}

Digest NullChain::digest(const ports::Order& order) const { return shape_.digest(order); }

Result<ports::SignedTx> NullChain::seal(const ports::Order& order, ByteView signature) const {
  return shape_.seal(order, signature);
}

Result<ports::SignedTx> NullChain::seal_checked(const ports::Order& order, ByteView signature,
                                                const Digest& signed_digest) const {
  return shape_.seal_checked(order, signature, signed_digest);
}

ports::Awaitable<Outcome<bool>> NullChain::check() {
  ++calls_;
  co_return true;
}

ports::Awaitable<Outcome<ports::Head>> NullChain::head() {
  ++calls_;
  const std::int64_t now_ms = clock_.mono_ms();
  if (!held_ && now_ms - last_block_ms_ >= options_.block_ms) {
    ledger_.mine(clock_.wall_ms() / 1000);
    last_block_ms_ = now_ms;
  }
  const Ledger::Block& newest = ledger_.newest();
  co_return ports::Head{.latest = newest.ref,
                        .latest_time_s = newest.time_s,
                        .safe_height = newest.ref.height,
                        .finalized = newest.ref,
                        .finalized_time_s = newest.time_s};
}

ports::Awaitable<Outcome<std::optional<ports::Block>>> NullChain::block(std::uint64_t height) {
  ++calls_;
  const Ledger::Block* const found = ledger_.block(height);
  if (found == nullptr) co_return std::optional<ports::Block>{};
  const Ledger::Block known = *found;
  ports::Block out{known.ref, known.parent, known.time_s, {}};
  out.txs.reserve(known.count);
  for (std::uint64_t place = known.first; place < known.first + known.count; ++place) {
    const Ledger::Tx* const tx = ledger_.at(place);
    if (tx == nullptr) co_return ports::Unknown{"a block older than this chain remembers"};
    out.txs.push_back(shown(*tx));
  }
  co_return std::optional(std::move(out));
}

ports::Awaitable<Outcome<std::optional<domain::BlockHash>>> NullChain::block_hash(
    std::uint64_t height) {
  ++calls_;
  const Ledger::Block* const found = ledger_.block(height);
  if (found == nullptr) co_return std::optional<domain::BlockHash>{};
  co_return std::optional(found->ref.hash);
}

ports::Awaitable<Outcome<ports::Whereabouts>> NullChain::find(domain::TxHash hash) {
  ++calls_;
  using Place = ports::Whereabouts::Place;
  if (ledger_.is_waiting(hash)) co_return ports::Whereabouts{Place::pending, {}};
  const Ledger::Tx* const tx = ledger_.mined(hash);
  if (tx == nullptr) co_return ports::Whereabouts{};
  co_return ports::Whereabouts{Place::mined, shown(*tx)};
}

ports::Awaitable<Outcome<ports::SequenceCounts>> NullChain::sequences(domain::Address account) {
  ++calls_;
  const Ledger::Counts counts = ledger_.counts(account);
  co_return ports::SequenceCounts{{counts.mined}, {counts.pending}, {counts.mined}};
}

ports::Awaitable<Outcome<domain::Amount>> NullChain::native_balance(domain::Address) {
  ++calls_;
  co_return domain::Amount(std::uint64_t{1} << 63U);
}

ports::Awaitable<Outcome<ports::Simulated>> NullChain::simulate(domain::Address, ports::Call) {
  ++calls_;
  co_return ports::Simulated{gas_of_a_transfer};
}

ports::Awaitable<Outcome<domain::Fees>> NullChain::quote(std::uint64_t gas) {
  co_return evm::fees_for(gas, {.next_base_fee = gas_price, .rewards = {}}, {});
}

ports::Awaitable<Outcome<std::optional<domain::MinedTx>>> NullChain::consumer(
    domain::Address account, domain::Sequence at) {
  ++calls_;
  const Ledger::Tx* const tx = ledger_.mined(account, at.value);
  if (tx == nullptr) co_return std::optional<domain::MinedTx>{};
  co_return std::optional(shown(*tx));
}

// A fault hits what reaches the node, the way back, or both.
ports::Awaitable<Outcome<ports::Posted>> NullChain::post(Bytes bytes, domain::TxHash hash) {
  ++calls_;
  if (hash.value != evm::tx_hash(bytes).value) {
    co_return ports::Unknown{"another hash than the poster's", false};
  }
  if (!dice_.hits(options_.fault_rate)) co_return ledger_.take(bytes);
  ++faults_;
  switch (dice_.number() % 4) {
    case 0: co_return ports::Unknown{"the request was lost", false};
    case 1: co_return ports::Refused{RefusalKind::pool_full, "the pool is full"};
    case 2: (void)ledger_.take(bytes); co_return ports::Unknown{"the answer was lost", false};
    default: (void)ledger_.take(bytes); co_return ledger_.take(bytes);
  }
}

ports::Awaitable<Outcome<std::optional<domain::TxHash>>> NullChain::send_order(domain::IntentId,
                                                                               domain::Terms) {
  co_return ports::Refused{RefusalKind::other, "this chain takes signed bytes, not orders"};
}

domain::MinedTx NullChain::shown(const Ledger::Tx& tx) const {
  const Ledger::Block& block = *ledger_.block(tx.height);
  domain::MinedTx out;
  out.hash = tx.hash;
  out.block = block.ref;
  out.block_time_s = block.time_s;
  out.succeeded = tx.succeeded;
  out.sender = ledger_.sender(tx);
  out.sequence = {tx.says.nonce};
  out.fee_paid = domain::Amount(gas_of_a_transfer * gas_price);
  if (!tx.says.authorization) out.trailing_ref = tx.says.ref;
  if (!tx.succeeded || tx.says.amount.is_zero()) return out;
  const domain::AssetId asset =
      tx.says.token ? domain::AssetId{evm::to_checksum(*tx.says.token)} : domain::native_asset;
  domain::Address from = out.sender;
  if (tx.says.authorization) {
    const AuthorizationKey& key = *tx.says.authorization;
    from = {evm::to_checksum(key.payer)};
    out.authorizations.push_back({.asset = asset,
                                  .authorizer = from,
                                  .nonce = {key.nonce.value},
                                  .method = evm::transfer_authorization_name});
  }
  out.transfers.push_back({asset, from, {evm::to_checksum(tx.says.payee)}, tx.says.amount, 1});
  return out;
}

}  // namespace holdfast::load
