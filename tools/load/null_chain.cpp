// The port of the null chain; how its blocks come about is in null_chain_blocks.cpp.
#include "null_chain.hpp"

#include <utility>

#include "evm/transaction.hpp"

namespace holdfast::load {

using ports::Outcome;
using ports::RefusalKind;

namespace {

constexpr std::uint64_t gas_price = 1'000'000'000;  // wei: the base fee and the builder's part
constexpr std::uint64_t gas_of_a_transfer = 60'000;

evm::EvmOptions evm_options(const NullChainOptions& options) {
  evm::EvmOptions out;
  out.id = options.id;
  out.max_unconsumed = options.max_unconsumed;
  out.poll_ms = options.poll_ms;
  out.posts_at_once = 1'000;
  return out;
}

}  // namespace

boost::asio::awaitable<evm::Answer> NullChain::NoNode::call(std::string, boost::json::array) {
  co_return ports::NotSent{"the null chain has no node"};
}

NullChain::NullChain(NullChainOptions options, ports::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      shape_(evm_options(options_), no_node_, clock),
      info_(shape_.info()),
      dice_(options_.seed) {
  blocks_.push_back({.ref = {0, domain::BlockHash{sha256(as_bytes("null chain"))}},
                     .parent = {},
                     .time_s = clock_.wall_ms() / 1000});
}

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
  auto sealed = shape_.seal(order, signature);
  if (sealed) sealed_.emplace(sealed->hash, order.sender);
  return sealed;
}

ports::Awaitable<Outcome<bool>> NullChain::check() {
  ++calls_;
  co_return true;
}

ports::Awaitable<Outcome<ports::Head>> NullChain::head() {
  ++calls_;
  mine();
  const Block& newest = blocks_.back();
  co_return ports::Head{.latest = newest.ref,
                        .latest_time_s = newest.time_s,
                        .safe_height = newest.ref.height,
                        .finalized = newest.ref,
                        .finalized_time_s = newest.time_s};
}

ports::Awaitable<Outcome<std::optional<ports::Block>>> NullChain::block(std::uint64_t height) {
  ++calls_;
  if (height >= blocks_.size()) co_return std::optional<ports::Block>{};
  const Block& known = blocks_[height];
  ports::Block out{known.ref, known.parent, known.time_s, {}};
  out.txs.reserve(known.count);
  for (std::uint64_t place = known.first; place < known.first + known.count; ++place) {
    const Tx* const tx = at(place);
    if (tx == nullptr) co_return ports::Unknown{"a block older than this chain remembers"};
    out.txs.push_back(shown(*tx));
  }
  co_return std::optional(std::move(out));
}

ports::Awaitable<Outcome<std::optional<domain::BlockHash>>> NullChain::block_hash(
    std::uint64_t height) {
  ++calls_;
  if (height >= blocks_.size()) co_return std::optional<domain::BlockHash>{};
  co_return std::optional(blocks_[height].ref.hash);
}

ports::Awaitable<Outcome<ports::Whereabouts>> NullChain::find(domain::TxHash hash) {
  ++calls_;
  using Place = ports::Whereabouts::Place;
  if (waiting_.contains(hash)) co_return ports::Whereabouts{Place::pending, {}};
  const auto place = places_.find(hash);
  if (place == places_.end()) co_return ports::Whereabouts{};
  co_return ports::Whereabouts{Place::mined, shown(*at(place->second))};
}

ports::Awaitable<Outcome<ports::SequenceCounts>> NullChain::sequences(domain::Address account) {
  ++calls_;
  const Account& of = accounts_[account_of(account)];
  std::uint64_t pending = of.count;
  while (of.pool.contains(pending)) ++pending;
  co_return ports::SequenceCounts{{of.count}, {pending}, {of.count}};
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
    domain::Address account, domain::Sequence at_number) {
  ++calls_;
  const Account& of = accounts_[account_of(account)];
  const auto place = of.mined.find(at_number.value);
  if (place == of.mined.end()) co_return std::optional<domain::MinedTx>{};
  co_return std::optional(shown(*at(place->second)));
}

// A fault hits what reaches the node, the way back, or both.
ports::Awaitable<Outcome<ports::Posted>> NullChain::post(Bytes bytes, domain::TxHash hash) {
  ++calls_;
  if (!dice_.hits(options_.fault_rate)) co_return take(bytes, hash);
  ++faults_;
  switch (dice_.number() % 4) {
    case 0: co_return ports::Unknown{"the request was lost", false};
    case 1: co_return ports::Refused{RefusalKind::pool_full, "the pool is full"};
    case 2: (void)take(bytes, hash); co_return ports::Unknown{"the answer was lost", false};
    default: (void)take(bytes, hash); co_return take(bytes, hash);
  }
}

ports::Awaitable<Outcome<std::optional<domain::TxHash>>> NullChain::send_order(domain::IntentId,
                                                                               domain::Terms) {
  co_return ports::Refused{RefusalKind::other, "this chain takes signed bytes, not orders"};
}

}  // namespace holdfast::load
