// Owns: what of the EVM chain is pure: names, orders, and the check of signed bytes.
#include "evm/chain.hpp"

#include <algorithm>
#include <charconv>

#include <holdfast/base/ensure.hpp>

#include "evm/chain_fee_cache.hpp"

namespace holdfast::evm {
namespace {

using ports::ChainError;

/// Addresses in records went through `parse_address` on their way in: the checksum of their letters
/// is not made once more.
Address20 recorded(const domain::Address& address) {
  const auto read = Address20::from_text(address.value);
  ensure(read.has_value(), "a recorded EVM address cannot be read");
  return *read;
}

Error wrong_bytes(const Error& why) { return refuse(ChainError::wrong_bytes, why.detail); }

}  // namespace

std::optional<std::uint64_t> chain_number(const domain::ChainId& id) {
  constexpr std::string_view prefix = "eip155:";
  const std::string_view text = id.value;
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::optional<U256> number = U256::from_decimal(text.substr(prefix.size()));
  const std::optional<std::uint64_t> small = number ? number->to_u64() : std::nullopt;
  if (!small || *small == 0 || *small > wire_limits::number) return std::nullopt;
  return small;
}

EvmChain::EvmChain(EvmOptions options, Rpc& rpc, ports::Clock& clock)
    : number_(chain_number(options.id).value_or(0)),
      rpc_(rpc),
      clock_(clock),
      info_{.id = options.id,
            .ordered = true,
            .opaque = false,
            .finality = options.finality,
            .answer_at = options.answer_at,
            .max_unconsumed = options.max_unconsumed,
            .poll_ms = options.poll_ms,
            .posts_at_once = options.posts_at_once,
            .fee_ceiling = options.fees.max_fee,
            .network = "eip155:" + std::to_string(chain_number(options.id).value_or(0))},
      confirmations_only_(options.confirmations_only),
      tags_every_ms_(uses_safe() ? std::min<std::int64_t>(8 * options.poll_ms, 2'000)
                                 : std::min<std::int64_t>(16 * options.poll_ms, 4'000)),
      fee_policy_(options.fees),
      fee_cache_(std::make_shared<FeeCache>()) {
  ensure(number_ != 0, "an EVM chain id is eip155: and a number");
}

EvmChain::~EvmChain() { fee_cache_->close(); }

Result<domain::Address> EvmChain::parse_address(std::string_view text) const {
  const Result<Address20> parsed = evm::parse_address(text);
  if (!parsed) return refuse(ChainError::bad_address, parsed.error().detail);
  return domain::Address{to_checksum(*parsed)};
}

Result<domain::AssetId> EvmChain::parse_asset(std::string_view text) const {
  if (text == domain::native_asset.value) return domain::native_asset;
  const Result<Address20> parsed = evm::parse_address(text);
  if (!parsed) {
    return refuse(ChainError::bad_asset,
                  "an asset is \"native\" or a token's address: " + parsed.error().detail);
  }
  return domain::AssetId{to_checksum(*parsed)};
}

ports::Call EvmChain::noop_call(const domain::Address& account) const {
  return {.target = account, .value = {}, .payload = {}};
}

Transaction1559 EvmChain::transaction(const ports::Order& order) const {
  return {.chain_id = number_,
          .nonce = order.sequence.value,
          .max_priority_fee = order.fees.priority_fee,
          .max_fee = order.fees.max_fee,
          .gas_limit = order.fees.gas_limit,
          .to = recorded(order.call.target),
          .value = order.call.value,
          .data = order.call.payload};
}

Digest EvmChain::digest(const ports::Order& order) const {
  return signing_digest(transaction(order)).value;
}

Result<ports::SignedTx> EvmChain::seal(const ports::Order& order, ByteView signature) const {
  const Result<Signature> parsed = parse_signature(signature);
  if (!parsed) return wrong_bytes(parsed.error());
  const Transaction1559 recorded_tx = transaction(order);
  Bytes bytes = encode_signed(recorded_tx, *parsed);
  // Read back as a stranger's: what is posted is what these bytes say, not what we meant to encode.
  const Result<SignedTransaction> read = decode_signed(bytes);
  if (!read) return wrong_bytes(read.error());
  const Result<void> says = check_says(*read, recorded_tx, recorded(order.sender));
  if (!says) return wrong_bytes(says.error());
  return ports::SignedTx{std::move(bytes), {read->hash.value}};
}

// Who signed is the signer's word: that its signature is that account's of that digest. That the
// bytes carry this signature and have this digest is read from them.
Result<ports::SignedTx> EvmChain::seal_checked(const ports::Order& order, ByteView signature,
                                               const Digest& signed_digest) const {
  const Result<Signature> parsed = parse_signature(signature);
  if (!parsed) return wrong_bytes(parsed.error());
  const Transaction1559 recorded_tx = transaction(order);
  Bytes bytes = encode_signed(recorded_tx, *parsed);
  const Result<UnprovenTransaction> read = decode_unproven(bytes);
  if (!read) return wrong_bytes(read.error());
  const Result<void> says = check_says(*read, recorded_tx, {*parsed, {signed_digest}});
  if (!says) return wrong_bytes(says.error());
  const domain::TxHash hash{tx_hash(bytes).value};
  return ports::SignedTx{std::move(bytes), hash};
}

}  // namespace holdfast::evm
