// Owns: what to do next with one leased job, as a pure function: domain.md section 4, row by row.
// Must never: do anything; the settle coroutine asks it, acts, and asks again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/base/boxed.hpp>
#include <holdfast/domain/finality.hpp>
#include <holdfast/domain/job.hpp>
#include <holdfast/domain/mined_tx.hpp>
#include <holdfast/domain/retry.hpp>
#include <holdfast/domain/unredeemable.hpp>

namespace holdfast::domain {

// ---- what the world answered since the facts were read ---------------------------------------

/// Why there is no send slot now. None of these writes anything.
enum class Blocked { throttled, node_down, paused, account_full, unfunded };
std::string_view to_text(Blocked why);

struct SendSlotSeen {
  std::optional<Blocked> blocked;  ///< empty: a slot was taken
};

struct SimulationSeen {
  enum class Result {
    passes,
    refused,       ///< the contract says no, for this reason, as far as simulation can tell
    over_gas_cap,  ///< it would pass, at more gas than the chain's cap
    unknown,       ///< no readable answer: says nothing about the payment
  } result = Result::unknown;
  std::string reason;  ///< decoded, bounded
};

struct AuthorizationSeen {
  enum class Result {
    unknown,         ///< no readable answer
    unused,          ///< and not canceled, in the state of the newest block
    used_exactly,    ///< in `tx`, together with exactly this intent's transfer
    used_otherwise,  ///< in `tx`, in a transfer that is not this intent's
    canceled,
  } result = Result::unknown;
  std::optional<MinedTx> tx;
  bool is_final = false;
  /// Also unused in the state of the newest final block, whose time this is.
  std::optional<std::int64_t> unused_at_final_s;
};

/// What a look for one of our own hashes found.
struct HashSeen {
  enum class Result {
    unknown,
    not_found,  ///< says nothing about whether it can still run
    pending,    ///< in a node's pool
    included,
    reverted,
    final_included,
    final_reverted,
  } result = Result::unknown;
  AttemptId attempt;
  std::optional<MinedTx> tx;
};

struct ConsumerSeen {
  std::optional<MinedTx> tx;  ///< the final transaction at our slot; empty: not found or unreadable
  SlotId slot;  ///< which slot was asked about
  bool is_unanswered = false;  ///< the node said nothing: that proves nothing about the slot
};

/// A transaction that carries our ref, seen in a block once.
struct RefSeen {
  std::optional<MinedTx> tx;  ///< as it is in a block now; empty: in none, or no readable answer
  bool is_unanswered = false;  ///< the nodes did not say: that is no sign that it is gone
  bool is_final = false;
  bool is_replaced = false;  ///< another is final at its number: it can never run again
};
/// Of several, the one that is nearest to having paid. `all` is not empty.
RefSeen nearest_to_paid(std::span<const RefSeen> all);

/// Why Reserve or ReserveFresh gave no slot. Nothing was written.
struct ReserveSeen {
  enum class Result {
    account_full,
    released_slot_unusable,  ///< section 3 rule 4: the number is taken or the chain has passed it
  } result = Result::account_full;
};

/// Why SignAndStore or Replace stored no attempt, when it was not the contract (that goes into
/// `simulation`). Nothing was written, and bytes that were signed are destroyed.
struct SignSeen {
  enum class Result {
    signer_unavailable,
    wrong_bytes,  ///< they do not say what the record says: raise the alarm
    at_ceiling,  ///< a replacement would offer more than the chain's ceiling
  } result = Result::signer_unavailable;
};

/// How the newest post of this delivery ended.
enum class PostAnswer {
  accepted,  ///< or already known
  nonce_too_low,  ///< search all our own hashes before anything else
  refused_transient,  ///< pool full, gap, unfunded, busy: the same bytes again later
  refused_curable,  ///< gas, type or fee: other bytes at the same sequence would do
  refused_for_good,  ///< no bytes at all would do
  not_sent,  ///< provably never left
  not_its_turn,  ///< nor this: the account's earlier numbers did not get out in time
  unknown,
};
std::string_view to_text(PostAnswer answer);

struct PostSeen {
  PostAnswer answer = PostAnswer::unknown;
  AttemptId attempt;
  bool looked_again = false;  ///< a definite refusal was looked up once more on every endpoint
};

/// Starts empty and is cleared whenever the facts are read again; `stored_now` is then set when the
/// write between was this delivery's own SignAndStore or Replace. What an act that wrote nothing
/// met goes in without clearing: Claim without room → `send_slot`, SignAndStore refused by the
/// contract, over the gas cap or without an answer → `simulation`, else `reserve` or `sign`.
struct Seen {
  std::optional<SendSlotSeen> send_slot;
  std::optional<SimulationSeen> simulation;
  Boxed<AuthorizationSeen> authorization;
  std::optional<std::vector<HashSeen>> search;  ///< one per attempt that has a hash
  std::optional<Sequence> final_sequence;  ///< the account's count in the newest final block
  Boxed<ConsumerSeen> consumer;
  std::optional<PostSeen> post;
  /// Stored by this delivery a moment ago: it is posted without a search. Kept over Post, until
  /// Seen is cleared: a node that refuses a correction too gets one a delivery, not one after
  /// another.
  std::optional<AttemptId> stored_now;
  Boxed<RefSeen> ref_found;  ///< what became of those in facts.ref_found_in
  std::optional<ReserveSeen> reserve;
  std::optional<SignSeen> sign;
  std::vector<ConsumerSeen> earlier_consumers;  ///< one per FetchConsumer of an earlier slot
};

// ---- what holds for chain, method and moment ---------------------------------------------------

struct Policy {
  bool ordered = true;  ///< the chain has sequences: a claim reserves a slot
  bool opaque = false;  ///< an outside sender takes an order and keeps no bytes for us
  std::int64_t stuck_after_ms = 30'000;
  std::int64_t review_after_ms = 300'000;
  std::int64_t grace_s = 86'400;
  std::uint32_t max_lapsed_leases = 5;
  /// A final transfer of which less arrived than was asked (a token that takes a fee) settles, with
  /// the rest booked as a fee; otherwise it goes to review.
  bool settle_short = false;
  RetryPolicy retry;
};

struct Now {
  std::int64_t wall_ms = 0;
  std::int64_t chain_s = 0;  ///< time of the newest block; zero when unknown
  std::optional<std::int64_t> since_post_ms;  ///< monotonic; empty: not posted by this process
  std::uint32_t tries = 0;  ///< deliveries before this one, for the backoff
  std::uint64_t jitter = 0;
  std::uint32_t lapsed_leases = 0;  ///< of this job: what spends the delivery budget
  bool declared_poison = false;  ///< its deliveries go round in circles: the budget counts as spent
  /// A block came since the post. While none comes, a higher fee buys nothing.
  bool block_since_post = true;
  /// Chain time since this process first saw the payment as its record is now; empty: not known.
  std::optional<std::int64_t> unchanged_s = std::nullopt;
  /// The store was put back from a backup, and nobody has answered for it yet.
  bool is_restored = false;
  /// Wall time at the process's start plus monotonic time since; zero: not known.
  std::int64_t steady_ms = 0;
};

// ---- steps --------------------------------------------------------------------------------------

namespace step {
// Questions; the answer goes into the Seen member of the same name.
struct TakeSendSlot {};
struct Simulate {};
struct SearchAttempts {};
struct ReadFinalSequence {};
/// Of the slot in facts.slot → `consumer`; of another → `earlier_consumers`.
struct FetchConsumer {
  SlotId slot;
};
struct ReadAuthorization {};
/// All transactions that carry this payment's ref → `ref_found`, the nearest to having paid.
struct ReadRefFound {};
/// After a definite refusal: search on every endpoint → `search` anew, and post.looked_again.
struct LookAgain {};

// Acts. After a write the facts are read again and Seen is cleared, except where said.

/// CAS to settling + hold + reservation.
struct Claim {};
/// Claim without a slot, then confirming with that hash.
struct ClaimPaid {
  MinedTx tx;
};
/// A slot for an intent that is settling without one.
struct Reserve {};
/// Once, after another transaction consumed the slot.
struct ReserveFresh {
  MinedTx consumer;
  bool foreign = false;  ///< it is none of our own: raise the alarm
};
/// Build, sign, check the bytes, store the attempt; then `stored_now` names it.
struct SignAndStore {};
/// Opaque: store the attempt row, then call, never twice.
struct AskSender {};
/// The stored bytes. The answer is recorded and the facts are read again, but Seen keeps all save
/// `post`.
struct Post {
  AttemptId attempt;
};
/// A new attempt at the same sequence; then `stored_now` names it.
struct Replace {
  bool dearer = false;
};
/// The account runs a noop at this slot.
struct HandOver {
  std::string reason;
};
/// settling → confirming and ack, one write.
struct Confirm {
  TxHash hash;
};
/// authorized → canceled (actor system) and ack, one write.
struct Cancel {
  std::string reason;
};
/// → failed and ack, one write.
struct Fail {
  std::string reason;
  Proof proof;
};
/// → needs_review and ack, one write. The reason is one of review_reasons().
struct Review {
  std::string reason;
};
struct Ack {};
/// Writes nothing. `why` is a token for logs and metrics.
struct Nack {
  std::int64_t delay_ms = 0;
  std::string why;
};
}  // namespace step

using Step =
    std::variant<step::TakeSendSlot, step::Simulate, step::SearchAttempts, step::ReadFinalSequence,
                 step::FetchConsumer, step::ReadAuthorization, step::ReadRefFound, step::LookAgain,
                 step::Claim, step::ClaimPaid, step::Reserve, step::ReserveFresh,
                 step::SignAndStore, step::AskSender, step::Post, step::Replace, step::HandOver,
                 step::Confirm, step::Cancel, step::Fail, step::Review, step::Ack, step::Nack>;

/// The name of a step, for logs and tests.
std::string_view name_of(const Step& step);

/// When the payment's record changed last, by what is in it (wall time).
std::int64_t last_record_ms(const Facts& facts);

/// First matching row wins. Total: every combination of facts, seen and policy has a step, and no
/// step is a question that `seen` answers already.
Step decide(const Facts& facts, const Seen& seen, const Policy& policy, const Now& now);

}  // namespace holdfast::domain
