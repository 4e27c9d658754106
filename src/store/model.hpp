// Owns: the plain data of the named writes and reads, and the floor's errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/evidence.hpp>
#include <holdfast/domain/job.hpp>
#include <holdfast/domain/journal.hpp>
#include <holdfast/domain/refs.hpp>
#include <holdfast/domain/transitions.hpp>
#include <holdfast/domain/unredeemable.hpp>

namespace holdfast::store {

enum class StoreError {
  not_found = 1,           ///< no such intent, or another caller's
  version_conflict,        ///< somebody was faster: read again
  key_reused,              ///< the same idempotency key with another request
  stale_receipt,           ///< the job was handed to somebody else, or is gone
  stale_epoch,             ///< another engine has taken over the account
  account_full,            ///< every candidate has max_unconsumed slots open
  released_slot_unusable,  ///< the number is behind the chain or taken: review
  redemption_taken,        ///< this authorization belongs to another intent
  not_signable,            ///< the slot is not this intent's, or in no state to sign for
  already_authorized,      ///< by another authorization
  unproven,                ///< the proof offered does not hold against what is stored
  name_taken,              ///< an API key of this name is there, or was
  illegal_slot_move,       ///< not a move of domain.md section 3: a bug
  bad_key,                 ///< an API key with a bad name or scope
  letter_ended,            ///< a dead letter that was redriven or dropped before
  restored,  ///< put back from a backup: that nothing is on record proves nothing yet
  no_help,                 ///< where the intent stands no job can do anything for it
};
boost::system::error_code make_error_code(StoreError error);

/// Sixteen bytes of SHA-256 over caller, route and idempotency key; and the request's digest.
using RequestKey = FixedBytes<16, struct RequestKeyTag>;
struct Request {
  RequestKey key;
  Digest fingerprint{};
};

/// One step of a life, also the audit trail. `intent` is empty for account and operator events.
/// Kinds: "move" (the birth included: `from` empty), "cancel" (asked for), "slot", "account",
/// "key", "dead_letter", "rebroadcast". Attempts and their answers are rows of their own and bring
/// no event.
struct Event {
  std::int64_t seq = 0;
  std::int64_t at_ms = 0;
  std::optional<domain::IntentId> intent;
  std::string kind;
  std::optional<domain::IntentState> from;
  std::optional<domain::IntentState> to;
  domain::Actor actor = domain::Actor::system;
  std::string who;     ///< the caller, operator or instance
  std::string reason;
  std::optional<domain::TxHash> tx_hash;
  std::uint64_t version = 0;  ///< the intent's, after it
  std::optional<Request> request;
};

struct NewIntent {
  domain::Intent intent;  ///< state created, or authorized (payout, submit)
  Request request;
  /// The queue's time, for the job of an authorized intent. Zero: `intent.created_ms`.
  std::int64_t queue_ms = 0;
  /// Submitted: the id that the same idempotency key makes where nothing is redeemed.
  std::optional<domain::IntentId> id_by_key = std::nullopt;
  /// Submitted: where the payment of this very request ended unsent, it is not the answer; another
  /// begins.
  bool begins_anew = false;
};

/// `intent` as the first answer showed it, whatever happened since.
struct Answered {
  domain::Intent intent;
  bool replayed = false;
};

/// An account a claim may use, with what the engine last read of the chain. A stale reading is
/// safe: the store's own highest number stands above it.
struct Candidate {
  domain::Address account;
  std::uint64_t epoch = 0;
  domain::Sequence chain_latest;
  domain::Sequence chain_pending;
};

/// The reason of a claim that takes no number: somebody else paid already.
inline constexpr std::string_view claimed_as_paid = "paid by another";

/// One move of the transition table, with all the row's effects in the same transaction.
struct Move {
  domain::IntentId id;
  domain::IntentState to = domain::IntentState::created;
  domain::Actor actor = domain::Actor::system;
  std::string who;
  std::string reason;
  std::int64_t now_ms = 0;  ///< wall time
  std::int64_t queue_ms = 0;  ///< the queue's time, for a job this move enqueues. Zero: `now_ms`

  std::optional<std::uint64_t> version;  ///< compare-and-set; empty: the row's `from` decides
  std::optional<domain::CallerId> caller;  ///< set: the intent must be theirs (else not_found)
  std::optional<domain::IntentState> from;  ///< set: only from this state (else version_conflict)
  std::optional<Request> request;  ///< remembered with the event, for replays
  std::optional<domain::Authorization> authorization;  ///< created → authorized, bearer
  std::optional<domain::TxHash> tx_hash;
  std::optional<domain::AttemptId> accepted;  ///< its outcome becomes accepted, its slot broadcast
  /// The transaction read, for final evidence (its fee is journalled when we paid it).
  std::optional<domain::MinedTx> final_tx;
  /// A final block as high as final_tx's is on record by now: many payments end by one block, and
  /// the first of them notes it.
  bool final_is_noted = false;
  domain::Amount arrived;  ///< with final_tx, to the payee
  std::optional<domain::Proof> proof;
  /// For the claim on an ordered chain, and review → settling.
  std::vector<Candidate> candidates;
  std::uint32_t max_unconsumed = 16;
  /// Must be the job's current one; the job is acked in this write when `ack`.
  std::optional<domain::Receipt> receipt;
  bool ack = false;
  /// With `ack`: the job becomes a dead letter with this verdict; empty: it just ends.
  std::string park;
};

struct AttemptToStore {
  domain::IntentId id;
  std::uint64_t version = 0;
  domain::Receipt receipt;
  std::uint64_t epoch = 0;  ///< unused without a slot
  domain::Attempt attempt;  ///< its slot empty for an opaque sender
  std::int64_t now_ms = 0;
};

/// A payment's signed slot, given to the account: by its delivery (receipt and version are then
/// checked) or by the account itself.
struct HandOver {
  domain::IntentId id;
  domain::SlotId slot;
  std::uint64_t epoch = 0;
  std::optional<std::uint64_t> version;
  std::optional<domain::Receipt> receipt;
  std::string why;
  std::int64_t now_ms = 0;
};

/// A noop at a slot that was handed over, or that the account took for itself.
struct NoopToStore {
  domain::SlotId slot;
  std::uint64_t epoch = 0;
  domain::Attempt attempt;  ///< its kind, slot and intent are set by the write
  std::int64_t now_ms = 0;
};

struct GapToFill {
  domain::ChainId chain;
  domain::Address account;
  std::uint64_t epoch = 0;
  domain::Sequence sequence;
  domain::Sequence chain_latest;  ///< the chain's count as read last
  domain::Attempt attempt;  ///< its kind and slot are set by the write
  std::string who;
  std::int64_t now_ms = 0;
  /// Below this a store that was put back may have forgotten bytes: taken without being a gap.
  std::optional<domain::Sequence> lost_end = {};
};
struct GapFilled {
  domain::AttemptId attempt;
  std::optional<domain::Facts> reviewed;  ///< its item was settling: now in review "gap_filled"
};

struct PostRecord {
  domain::AttemptId attempt;
  domain::AttemptOutcome outcome = domain::AttemptOutcome::unknown;
  std::string detail;
  std::optional<domain::TxHash> hash;  ///< an opaque sender's answer
  std::int64_t now_ms = 0;
};

struct SlotMove {
  domain::SlotId slot;
  std::uint64_t epoch = 0;
  /// Where it was read to stand, for all moves but to consumed, which brings its own proof: what
  /// was concluded of a number that has moved since is not true of it any more.
  domain::SlotState from = domain::SlotState::reserved;
  domain::SlotState to = domain::SlotState::consumed;
  std::optional<domain::MinedTx> consumer;  ///< for consumed: its fee is journalled, once
  std::string why;
  std::int64_t now_ms = 0;
};

struct LeaseRequest {
  std::int64_t now_ms = 0;  ///< the queue's time: steady, see engine
  std::int64_t lease_ms = 30'000;
  domain::InstanceId instance;
  std::vector<domain::Receipt> receipts;  ///< one for each job wanted, fresh
  std::vector<domain::ChainId> paused;  ///< jobs of these chains stay where they are
};

struct Leased {
  domain::Lease lease;
  domain::Facts facts;
};

struct JobRow {
  domain::Job job;
  std::int64_t visible_ms = 0;
  bool leased = false;
  std::uint32_t deliveries = 0;
  std::uint32_t lapsed_leases = 0;
  std::uint32_t nacks = 0;
  std::string why;  ///< the last nack's
};

/// A transaction of our account, unknown to this store, that carries a ref.
struct RefFound {
  domain::ChainId chain;
  domain::Address account;
  domain::Sequence sequence;
  domain::Ref ref;
  domain::TxHash tx_hash;
  std::int64_t now_ms = 0;
};

/// Who decided something, why, and by which request.
struct Signature {
  std::string who;
  std::string why;  ///< needed for a drop
  std::optional<Request> request;
  std::int64_t now_ms = 0;  ///< wall time
  std::int64_t queue_ms = 0;  ///< the queue's time, for the job. Zero: `now_ms`
};

/// An operator answers for an account's numbers below `sequence`.
struct Adoption {
  domain::ChainId chain;
  domain::Address account;
  domain::Sequence sequence;
  std::string who;
  std::string reason;
  std::int64_t now_ms = 0;
  std::optional<Request> request = std::nullopt;
};
struct Adopted {
  domain::Sequence goes_on_from;
  bool replayed = false;  ///< the same request was answered before; nothing was written
};

/// What is kept of a chain from one process to the next.
struct ChainRecord {
  std::optional<domain::BlockRef> final_block;
  std::string halted;  ///< why nothing is claimed or posted there; empty: it is
  bool answered_for = false;  ///< acknowledged since the store was put back from a backup
  bool refs_were_found = false;  ///< in transactions that the store knows nothing of
};

struct AccountRow {
  domain::ChainId chain;
  domain::Address account;
  std::uint64_t epoch = 0;
  std::uint32_t unconsumed = 0;
  std::optional<domain::Sequence> highest_used;
  std::optional<domain::Sequence> adopted;  ///< answered for by an operator
  bool answered_for = false;  ///< adopted since the store was put back from a backup
};

/// A slot with everything signed for it.
struct OpenSlot {
  domain::Slot slot;
  std::vector<domain::Attempt> attempts;
  std::optional<domain::Intent> item;
  bool item_leased = false;
  bool is_left = false;  ///< the chain took it back, and its item has got another number since
};

struct BalanceRow {
  domain::BalanceKey key;
  domain::Balance balance;
};

struct EntryRow {
  std::uint64_t sequence = 0;
  domain::Entry entry;
  Digest previous{};
  Digest hash{};
};

struct ListFilter {
  std::optional<domain::CallerId> caller;
  std::optional<domain::IntentState> state;
  std::size_t limit = 50;  ///< 1 … 500
  std::int64_t before = 0;  ///< rowid cursor, newest first; zero: from the newest
};
struct IntentPage {
  std::vector<domain::Intent> intents;
  std::int64_t next = 0;  ///< cursor; zero: no more
};

/// Chance that a key's token was made from, together with a secret that is not stored.
using KeySalt = FixedBytes<16, struct KeySaltTag>;

struct ApiKey {
  std::string name;  ///< also the caller's id
  Digest sha256{};  ///< of the token; the token itself is never stored
  std::vector<std::string> scopes;
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> revoked_ms;
  std::optional<Request> request;  ///< that made it
  std::optional<KeySalt> salt;
};
struct AddedKey {
  ApiKey key;
  bool replayed = false;
};

}  // namespace holdfast::store

template <>
struct boost::system::is_error_code_enum<holdfast::store::StoreError> : std::true_type {};
