#include "toy_chain.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <holdfast/domain/evidence.hpp>

#include "toy_token.hpp"

namespace line_server {
namespace {

using namespace hf::ports;
using namespace hf::domain;

constexpr std::int64_t block_every_ms = 100;
constexpr std::uint64_t blocks_to_finality = 2;
constexpr std::uint64_t gas = 1;
constexpr std::size_t longest_name = 42;

// A transaction is a line of words; names hold no space, so that it reads back as it was written.
std::string text_of(const Order& order) {
  std::ostringstream out;
  out << "toy:1 " << order.sender.value << ' ' << order.sequence.value << ' '
      << order.call.target.value << ' ' << order.call.value.decimal() << ' '
      << hf::to_0x(order.call.payload) << ' ' << order.fees.max_fee.decimal() << ' '
      << order.fees.priority_fee.decimal() << ' ' << order.fees.gas_limit;
  return out.str();
}

hf::Digest digest_of(const Order& order) { return hf::sha256(hf::as_bytes(text_of(order))); }

hf::Bytes signature_of(const Address& account, const hf::Digest& digest) {
  const hf::Digest made =
      hf::FieldHash("toy/signature").add(account.value).add(hf::ByteView(digest)).finish();
  return {made.begin(), made.end()};
}

// Empty: not a transaction, or not signed by its sender.
std::optional<Order> read_order(hf::ByteView bytes) {
  std::istringstream in{std::string(hf::as_text(bytes))};
  std::string chain, value, payload, max_fee, priority_fee, signature;
  Order order;
  in >> chain >> order.sender.value >> order.sequence.value >> order.call.target.value >> value >>
      payload >> max_fee >> priority_fee >> order.fees.gas_limit >> signature;
  const auto amount = hf::U256::from_decimal(value);
  const auto data = hf::from_hex(payload);
  const auto most = hf::U256::from_decimal(max_fee);
  const auto tip = hf::U256::from_decimal(priority_fee);
  if (!in || !amount || !data || !most || !tip) return std::nullopt;
  order.call.value = *amount;
  order.call.payload = *data;
  order.fees.max_fee = *most;
  order.fees.priority_fee = *tip;
  if (hf::from_hex(signature) != signature_of(order.sender, digest_of(order))) return std::nullopt;
  return order;
}

}  // namespace

ToyChain::ToyChain(hf::ports::Clock& clock, std::map<Address, hf::U256> balances)
    : clock_(clock), balances_(std::move(balances)) {
  info_.id = {"toy:1"};
  info_.network = info_.id.value;
  info_.answer_at = {FinalityTag::latest, 1};
  info_.max_unconsumed = 64;
  info_.poll_ms = 50;
  mine();
  next_block_ms_ = clock_.mono_ms() + block_every_ms;
}

hf::Result<Address> ToyChain::parse_address(std::string_view text) const {
  const bool good =
      !text.empty() && text.size() <= longest_name &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  if (!good) return hf::refuse(ChainError::bad_address, "1 to 42 of a-z, 0-9 and '-'");
  return Address{std::string(text)};
}

hf::Result<AssetId> ToyChain::parse_asset(std::string_view text) const {
  if (text == native_asset.value) return native_asset;
  if (text == toy_token.value) return toy_token;
  return hf::refuse(ChainError::bad_asset, "this chain has the native asset and one token");
}

Call ToyChain::noop_call(const Address& account) const { return {account, {}, {}}; }

hf::Digest ToyChain::digest(const Order& order) const { return digest_of(order); }

hf::Result<SignedTx> ToyChain::seal(const Order& order, hf::ByteView signature) const {
  const std::string text = text_of(order) + ' ' + hf::to_0x(signature);
  const hf::Bytes bytes(text.begin(), text.end());
  const auto read = read_order(bytes);
  if (!read || text_of(*read) != text_of(order)) {
    return hf::refuse(ChainError::wrong_bytes, "the bytes do not say what was ordered");
  }
  return SignedTx{bytes, TxHash{hf::sha256(bytes)}};
}

ToyChain::Answer<bool> ToyChain::check() { co_return true; }

ToyChain::Answer<Head> ToyChain::head() {
  mine_what_is_due();
  const Block& newest = blocks_.back();
  const std::uint64_t final_height = finalized();
  const Block& last_final = blocks_[final_height];
  co_return Head{newest.ref, newest.time_s, final_height, last_final.ref, last_final.time_s};
}

ToyChain::Answer<std::optional<Block>> ToyChain::block(std::uint64_t height) {
  if (height < blocks_.size()) co_return std::optional(blocks_[height]);
  co_return std::optional<Block>();
}

ToyChain::Answer<std::optional<BlockHash>> ToyChain::block_hash(std::uint64_t height) {
  if (height < blocks_.size()) co_return std::optional(blocks_[height].ref.hash);
  co_return std::optional<BlockHash>();
}

ToyChain::Answer<Whereabouts> ToyChain::find(TxHash hash) {
  mine_what_is_due();
  if (const MinedTx* tx = mined(hash)) co_return Whereabouts{Whereabouts::Place::mined, *tx};
  const bool waits = std::any_of(pool_.begin(), pool_.end(),
                                 [&](const auto& one) { return one.second.hash == hash; });
  co_return Whereabouts{waits ? Whereabouts::Place::pending : Whereabouts::Place::not_found, {}};
}

ToyChain::Answer<SequenceCounts> ToyChain::sequences(Address account) {
  mine_what_is_due();
  const std::uint64_t latest = count(account, blocks_.size());
  std::uint64_t pending = latest;
  while (pool_.contains({account, Sequence{pending}})) ++pending;
  co_return SequenceCounts{{latest}, {pending}, {count(account, finalized())}};
}

ToyChain::Answer<Amount> ToyChain::native_balance(Address account) { co_return balance(account); }

ToyChain::Answer<Simulated> ToyChain::simulate(Address sender, Call call) {
  const std::string refusal = refusal_of(call, clock_.wall_ms() / 1000);
  if (!refusal.empty()) co_return Refused{RefusalKind::reverted, refusal};
  if (balance(sender) >= call.value) co_return Simulated{gas};
  co_return Refused{RefusalKind::unfunded, "the account holds less than the amount"};
}

ToyChain::Answer<Fees> ToyChain::quote(std::uint64_t units) { co_return Fees{1, 0, units}; }

ToyChain::Answer<std::optional<MinedTx>> ToyChain::consumer(Address account, Sequence at) {
  for (std::uint64_t height = 0; height <= finalized(); ++height) {
    for (const MinedTx& tx : blocks_[height].txs) {
      if (tx.sender == account && tx.sequence == at) co_return std::optional(tx);
    }
  }
  co_return std::optional<MinedTx>();
}

ToyChain::Answer<Posted> ToyChain::post(hf::Bytes bytes, TxHash hash) {
  mine_what_is_due();
  const auto order = read_order(bytes);
  if (!order) co_return Refused{RefusalKind::malformed, "not a transaction of this chain"};
  if (mined(hash) != nullptr) co_return Posted{true};
  if (order->sequence.value < count(order->sender, blocks_.size())) {
    co_return Refused{RefusalKind::nonce_too_low, "the number is taken"};
  }
  const auto [at, added] =
      pool_.try_emplace({order->sender, order->sequence}, Pending{*order, hash});
  if (at->second.hash != hash) {
    co_return Refused{RefusalKind::replacement_underpriced, "another transaction waits there"};
  }
  co_return Posted{!added};
}

ToyChain::Answer<std::optional<TxHash>> ToyChain::send_order(IntentId, Terms) {
  co_return Refused{RefusalKind::other, "this chain takes signed bytes"};
}

// Blocks are made when somebody looks: the chain needs no coroutine of its own.
void ToyChain::mine_what_is_due() {
  for (; next_block_ms_ <= clock_.mono_ms(); next_block_ms_ += block_every_ms) mine();
}

void ToyChain::mine() {
  Block block;
  block.ref.height = blocks_.size();
  block.ref.hash.value = hf::FieldHash("toy/block").add(block.ref.height).finish();
  if (!blocks_.empty()) block.parent = blocks_.back().ref.hash;
  block.time_s = clock_.wall_ms() / 1000;
  // In order of account and number, so an account's transactions in a row all fit in.
  for (auto next = pool_.begin(); next != pool_.end();) {
    const auto& [sender, sequence] = next->first;
    std::uint64_t expected = count(sender, blocks_.size());
    for (const MinedTx& tx : block.txs) expected += tx.sender == sender ? 1 : 0;
    if (sequence.value == expected) {
      block.txs.push_back(run(next->second, block));
      next = pool_.erase(next);
    } else {
      ++next;
    }
  }
  blocks_.push_back(std::move(block));
}

MinedTx ToyChain::run(const Pending& pending, const Block& block) {
  const Order& order = pending.order;
  MinedTx tx;
  tx.hash = pending.hash;
  tx.block = block.ref;
  tx.block_time_s = block.time_s;
  tx.sender = order.sender;
  tx.sequence = order.sequence;
  tx.trailing_ref = Ref::from(order.call.payload);
  if (order.call.target.value == toy_token.value) {
    run_token(order, tx);
  } else {
    run_native(order, tx);
  }
  return tx;
}

void ToyChain::run_native(const Order& order, MinedTx& tx) {
  hf::U256& from = balances_[order.sender];
  const auto rest = from.minus(order.call.value);
  const auto sum = balances_[order.call.target].plus(order.call.value);
  tx.succeeded = rest && sum;
  if (!tx.succeeded) return;
  from = *rest;
  balances_[order.call.target] = *sum;
  if (!order.call.value.is_zero()) {
    tx.transfers.push_back(
        {native_asset, order.sender, order.call.target, order.call.value, /*index=*/0});
  }
}

std::string ToyChain::refusal_of(const Call& call, std::int64_t time_s) const {
  if (call.target.value != toy_token.value) return {};
  const auto transfer = read_transfer(call.payload);
  if (!transfer) return "not a transfer";
  const Authorization& authorization = transfer->authorization;
  if (authorization.signature != signature_of(*transfer)) return "wrong signature";
  if (time_s <= authorization.validity.after_s) return "not valid yet";
  if (time_s >= authorization.validity.before_s) return "expired";
  if (use_of(transfer->from, authorization.nonce) != nullptr) return "used";
  return token_balance(transfer->from) < transfer->value ? "too little" : "";
}

void ToyChain::run_token(const Order& order, MinedTx& tx) {
  tx.succeeded = refusal_of(order.call, tx.block_time_s).empty();
  if (!tx.succeeded) return;
  const ToyTransfer transfer = *read_transfer(order.call.payload);
  tokens_[transfer.from] = *token_balance(transfer.from).minus(transfer.value);
  mint(transfer.to, transfer.value);
  tx.authorizations.push_back({toy_token, transfer.from, transfer.authorization.nonce, false, 0});
  tx.transfers.push_back({toy_token, transfer.from, transfer.to, transfer.value, /*index=*/1});
}

void ToyChain::mint(const Address& owner, const hf::U256& amount) {
  tokens_[owner] = *token_balance(owner).plus(amount);
}

hf::U256 ToyChain::token_balance(const Address& owner) const {
  const auto found = tokens_.find(owner);
  return found == tokens_.end() ? hf::U256{} : found->second;
}

// What is used in a block that is still being made is not seen: nobody signs the same thing twice
// in one block here.
const MinedTx* ToyChain::use_of(const Address& owner, const Nonce& nonce) const {
  for (const Block& block : blocks_) {
    for (const MinedTx& tx : block.txs) {
      for (const AuthorizationEvent& one : tx.authorizations) {
        if (one.authorizer == owner && one.nonce == nonce) return &tx;
      }
    }
  }
  return nullptr;
}

std::uint64_t ToyChain::finalized() const {
  const std::uint64_t newest = blocks_.size() - 1;
  return newest - std::min(newest, blocks_to_finality);
}

// How many transactions of the account are mined in blocks up to this height.
std::uint64_t ToyChain::count(const Address& account, std::uint64_t up_to_height) const {
  std::uint64_t out = 0;
  for (const Block& block : blocks_) {
    if (block.ref.height > up_to_height) break;
    for (const MinedTx& tx : block.txs) out += tx.sender == account ? 1 : 0;
  }
  return out;
}

const MinedTx* ToyChain::mined(const TxHash& hash) const {
  for (const Block& block : blocks_) {
    for (const MinedTx& tx : block.txs) {
      if (tx.hash == hash) return &tx;
    }
  }
  return nullptr;
}

hf::U256 ToyChain::balance(const Address& owner) const {
  const auto found = balances_.find(owner);
  return found == balances_.end() ? hf::U256{} : found->second;
}

std::size_t ToyChain::times_moved(const Ref& ref) const {
  std::size_t times = 0;
  for (const Block& block : blocks_) {
    for (const MinedTx& tx : block.txs) times += tx.trailing_ref == ref ? tx.transfers.size() : 0;
  }
  return times;
}

hf::Result<void> ToyPayout::check_terms(const Terms& terms) const {
  if (terms.payee == terms.payer) {
    return hf::refuse(VerifyError::bad_terms, "payee: must not be the account that pays");
  }
  return {};
}

Awaitable<hf::Result<void>> ToyPayout::verify(Intent, Authorization, Moment) {
  co_return hf::refuse(VerifyError::bad_signature, "nobody signs a payout");
}

hf::Result<Call> ToyPayout::call(const Intent& intent) const {
  const hf::ByteView ref = intent.ref.view();
  return Call{intent.terms.payee, intent.terms.amount, {ref.begin(), ref.end()}};
}

Evidence ToyPayout::evidence(const Intent& intent, const MinedTx& tx, bool own_hash) const {
  return evidence_of_payout(intent, tx, own_hash);
}

Awaitable<AuthorizationSeen> ToyPayout::read_authorization(Intent) {
  co_return AuthorizationSeen{};
}

boost::asio::awaitable<Outcome<hf::Bytes>> ToySigner::sign(Address account, hf::Digest digest) {
  if (account != account_) co_return Refused{RefusalKind::other, "no key for this account"};
  co_return signature_of(account, digest);
}

}  // namespace line_server
