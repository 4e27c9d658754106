// Owns: what the engine asks of one chain. No type of any particular chain passes through here.
// Must never: sign, decide, or take a silence for a no.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/base/result.hpp>
#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/attempt.hpp>
#include <holdfast/domain/finality.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/mined_tx.hpp>
#include <holdfast/ports/outcome.hpp>

namespace holdfast::ports {

template <class T>
using Awaitable = boost::asio::awaitable<T>;

enum class ChainError {
  bad_address = 1,
  bad_asset,
  wrong_bytes,  ///< signed bytes do not say what the record says: destroy them
};
boost::system::error_code make_error_code(ChainError error);

/// How a chain takes payments, and the limits it is used with. Fixed after start.
struct ChainInfo {
  domain::ChainId id;
  bool ordered = true;  ///< accounts have sequences
  bool opaque = false;  ///< takes an order through `send_order`; nothing of ours is signed here
  domain::FinalityRule finality;   ///< what posts and settles
  domain::FinalityRule answer_at;  ///< how deep a waiting caller is told "included"
  std::uint32_t max_unconsumed = 16;  ///< slots an account may have open
  std::int64_t poll_ms = 1000;        ///< how often the head is asked for
  /// An account's posts that may be under way at once and still reach the node in their order: what
  /// one exchange with it holds.
  std::size_t posts_at_once = 100;
  /// The most a transaction may offer per unit of gas, native base units.
  domain::Amount fee_ceiling = domain::Amount::max();
  std::string network{};  ///< CAIP-2, "eip155:8453"; may be empty
};

/// What one of our accounts is to run: a target, native value, and calldata or its like.
struct Call {
  domain::Address target;
  domain::Amount value;
  Bytes payload;
  bool operator==(const Call&) const = default;
};

/// Enough to build one transaction, and to check later that bytes are exactly it.
struct Order {
  domain::Address sender;
  domain::Sequence sequence;  ///< unused on chains without sequences
  Call call;
  domain::Fees fees;
};

struct Head {
  domain::BlockRef latest;
  std::int64_t latest_time_s = 0;
  std::uint64_t safe_height = 0;
  domain::BlockRef finalized;  ///< canonical, whatever else a node says
  std::int64_t finalized_time_s = 0;
};

/// A block with all its transactions' outcomes, one read.
struct Block {
  domain::BlockRef ref;
  domain::BlockHash parent;
  std::int64_t time_s = 0;
  std::vector<domain::MinedTx> txs;
};

/// Where a transaction hash was found.
struct Whereabouts {
  enum class Place { not_found, pending, mined } place = Place::not_found;
  std::optional<domain::MinedTx> tx;  ///< for mined
};

struct SequenceCounts {
  domain::Sequence latest;
  domain::Sequence pending;
  domain::Sequence finalized;
};

struct Simulated {
  std::uint64_t gas = 0;  ///< as the node estimates, without margin
};

struct SignedTx {
  Bytes bytes;
  domain::TxHash hash;
};

/// An accepted post. The node gave no hash, or exactly ours (another hash is an Unknown).
struct Posted {
  bool already_known = false;
};

/// What a transaction is to end: a payment that it made, or one that it left unmade.
enum class Says { paid, unpaid };

class Chain {
 public:
  virtual ~Chain() = default;

  // Pure.
  virtual const ChainInfo& info() const = 0;
  /// For operators, a sentence for each node behind this chain: host, state, and why. May be none.
  virtual std::vector<std::string> endpoints() const { return {}; }
  /// Canonical text; `bad_address` with a sentence.
  virtual Result<domain::Address> parse_address(std::string_view text) const = 0;
  /// Canonical text of a token, or `native_asset`.
  virtual Result<domain::AssetId> parse_asset(std::string_view text) const = 0;
  /// What a `noop` of this account runs: nothing, to itself.
  virtual Call noop_call(const domain::Address& account) const = 0;
  /// The digest to sign for this order.
  virtual Digest digest(const Order& order) const = 0;
  /// Bytes and hash; checks that they decode to exactly this order, signed by its sender.
  virtual Result<SignedTx> seal(const Order& order, ByteView signature) const = 0;
  /// The same where the signer has checked that the signature is the sender's, of the digest it was
  /// given (Signer::checks_itself). The bytes are decoded and compared all the same, and must have
  /// that digest; but a chain that reads the sender out of the signature, by a costly recovery,
  /// need not.
  virtual Result<SignedTx> seal_checked(const Order& order, ByteView signature,
                                        const Digest& signed_digest) const {
    (void)signed_digest;
    return seal(order, signature);
  }

  // Reads: all safe to repeat.
  /// The node is there and is the chain configured. `refused` names a wrong chain id.
  virtual Awaitable<Outcome<bool>> check() = 0;
  virtual Awaitable<Outcome<Head>> head() = 0;
  /// Empty: no block at that height (yet).
  virtual Awaitable<Outcome<std::optional<Block>>> block(std::uint64_t height) = 0;
  virtual Awaitable<Outcome<std::optional<domain::BlockHash>>> block_hash(std::uint64_t height) = 0;
  virtual Awaitable<Outcome<Whereabouts>> find(domain::TxHash hash) = 0;
  virtual Awaitable<Outcome<SequenceCounts>> sequences(domain::Address account) = 0;
  virtual Awaitable<Outcome<domain::Amount>> native_balance(domain::Address account) = 0;
  /// Would this call run now? `refused` with kind reverted and the decoded reason when not.
  virtual Awaitable<Outcome<Simulated>> simulate(domain::Address sender, Call call) = 0;
  /// The same question without the gas, which a node searches for by running the call many times:
  /// would it run now, for no more gas than the chain's cap?
  virtual Awaitable<Outcome<bool>> would_run(domain::Address sender, Call call);
  /// Fees for a new transaction using `gas` (as simulated), with the chain's margin and caps.
  /// `refused` with kind gas when it is over the chain's gas cap.
  virtual Awaitable<Outcome<domain::Fees>> quote(std::uint64_t gas) = 0;
  /// The final transaction of this account at this sequence, fetched and read; empty: not found.
  virtual Awaitable<Outcome<std::optional<domain::MinedTx>>> consumer(domain::Address account,
                                                                      domain::Sequence at) = 0;

  /// Do all nodes behind this chain that are in use say the same of this transaction, which one of
  /// them showed in a canonical block? Asked before a payment or a number ends by it. Never false:
  /// `unknown` when they do not, or when one does not answer; the reason names that one. Where
  /// there is one node: true. Where one of several is left, its word is taken that a payment was
  /// made, and not that it was not.
  virtual Awaitable<Outcome<bool>> vouch(domain::MinedTx, Says) { co_return true; }

  // Acts. Posting the same bytes again is safe, always.
  virtual Awaitable<Outcome<Posted>> post(Bytes bytes, domain::TxHash hash) = 0;
  /// Opaque senders only. Never safe to repeat. `ok` carries a hash when there is one.
  virtual Awaitable<Outcome<std::optional<domain::TxHash>>> send_order(domain::IntentId id,
                                                                       domain::Terms terms) = 0;
};

}  // namespace holdfast::ports
