// Owns: the engine's public face: what a server, an embedder or a harness may ask of it.
// Must never: let a caller's giving up change what happens to a payment.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/attempt.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/journal.hpp>
#include <holdfast/domain/slot.hpp>
#include <holdfast/engine/config.hpp>
#include <holdfast/engine/desk.hpp>
#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/entropy.hpp>
#include <holdfast/ports/method.hpp>
#include <holdfast/ports/signer.hpp>
#include <holdfast/store/store.hpp>

namespace holdfast::engine {

template <class T>
using Awaitable = boost::asio::awaitable<T>;

enum class EngineError {
  unknown_chain = 1,      ///< not configured
  unknown_method,         ///< not offered on this chain
  bad_terms,              ///< address, asset or amount; the sentence names the field
  bad_validity,           ///< a window outside the limits
  not_found,              ///< no such intent, or another caller's
  key_reused,             ///< the same idempotency key with another request
  bad_authorization,      ///< see ports::VerifyError, which is kept as the code where it applies
  already_authorized,     ///< by another authorization
  redemption_taken,       ///< this authorization belongs to another intent
  too_late,               ///< cancel after settling has started, or any move of an ended intent
  draining,               ///< nothing new is taken
  try_again,              ///< a node or the store cannot answer now; nothing was changed
  name_taken,             ///< an API key of this name is there, or was
  wrong_state,            ///< an operator's wish that does not start where the payment stands
  unproven,               ///< an operator's wish whose proof is missing; the sentence names it
};
boost::system::error_code make_error_code(EngineError error);

/// What the engine is built from. All outlive it. The store's waiters are this engine's executor.
struct Parts {
  store::Store& store;
  ports::Clock& clock;
  ports::Entropy& entropy;
  ports::Signer& signer;
  std::vector<ports::Chain*> chains;
  std::vector<ports::Method*> methods;
  std::vector<Account> accounts;
};

/// Who asks, and under which key. `fingerprint` is a digest of the whole request.
struct Caller {
  domain::CallerId id;
  std::string idempotency_key;
  Digest fingerprint{};
};

struct NewPayment {
  std::string chain;
  std::string method;
  std::string asset;
  std::string payer;  ///< may be empty for a payout: one of our accounts is chosen by the id
  std::string payee;
  domain::Amount amount;
  /// Length of the window a payer signs, or until when a payout is posted; 0: as configured.
  std::int64_t validity_s = 0;
};

/// An intent, as the first answer to this request showed it.
struct Answer {
  domain::Intent intent;
  bool replayed = false;
};

/// One step of an intent's life.
struct HistoryItem {
  std::int64_t seq = 0;
  std::int64_t at_ms = 0;
  std::optional<domain::IntentId> intent;
  std::string kind;
  std::string from;
  std::string to;
  std::string actor;
  std::string who;
  std::string reason;
  std::optional<domain::TxHash> tx_hash;
  std::uint64_t version = 0;
};

struct JournalItem {
  std::uint64_t sequence = 0;
  domain::Entry entry;
  Digest hash{};
};

/// Everything about one payment.
struct Detail {
  domain::Intent intent;
  std::optional<domain::Slot> slot;
  std::vector<domain::Slot> earlier_slots;  ///< other numbers an attempt was stored at
  std::vector<domain::Attempt> attempts;
  std::vector<HistoryItem> history;
  std::vector<JournalItem> journal;
};

struct ListQuery {
  std::optional<domain::CallerId> caller;  ///< empty: everybody's (scope ops)
  std::optional<domain::IntentState> state;
  std::size_t limit = 50;
  std::int64_t cursor = 0;
};
struct Page {
  std::vector<domain::Intent> intents;
  std::int64_t next = 0;
};

struct BalanceItem {
  domain::BalanceKey key;
  domain::Balance balance;
};

/// Is a chain usable now, or why not.
struct ChainStatus {
  domain::ChainId id;
  bool usable = false;
  std::string why;  ///< a sentence when it is not
  std::uint64_t latest = 0;
  std::uint64_t finalized = 0;
  std::int64_t latest_age_ms = 0;  ///< since the newest block was last another one, or the start
  std::vector<std::string> methods;
  std::vector<std::string> accounts;
  std::vector<std::string> endpoints;  ///< a sentence for each node: host, state, and why
  std::string network;                 ///< CAIP-2, where the chain has such a name
  std::vector<ports::AssetInfo> assets;  ///< what payers can sign for
  bool can_send = false;  ///< an account of ours may claim, and can pay for gas as far as is known
};

/// How a payment stands for somebody who waits for it.
struct Standing {
  domain::Intent intent;
  /// Of the evidence it stands on, else of its newest attempt; empty: nothing was ever signed.
  std::optional<domain::TxHash> hash;
  bool included = false;  ///< its money moved, `answer_at` deep at least
};

/// May this caller be told that the payment succeeded? See domain/success.hpp.
enum class SuccessOffer { first, again, taken };

/// What `submit` makes of a request whose payment ended, and nothing was ever signed for it.
enum class Ended {
  is_the_answer,  ///< as with every repeated request
  begins_anew,  ///< another payment begins, for the same authorization
};

/// A payment in review, with all that may help to end it.
struct Review {
  Detail detail;
  std::optional<Found> found;
  std::vector<domain::Resolution> possible;  ///< as far as the store can tell
};

/// Chance that a key's token was made from, together with a secret that is not stored.
using KeySalt = FixedBytes<16, struct ApiKeySaltTag>;

/// A key of the HTTP face. Its name is the caller's id; the token itself is never kept.
struct ApiKey {
  std::string name;
  Digest sha256{};
  std::vector<std::string> scopes;  ///< pay, payout, ops, x402
  std::int64_t created_ms = 0;  ///< wall time, set by add_api_key
  std::optional<std::int64_t> revoked_ms;
  std::optional<KeySalt> salt;  ///< where a repeated request is to get the same token
};
struct AddedKey {
  ApiKey key;
  bool replayed = false;  ///< `key` is the one that was added then
};

/// How far a waiter wants to see it. `included`: `answer_at` deep.
enum class WaitFor { confirming, included, settled };

/// Counters for /metrics; monotone except where "now" is said.
struct Stats {
  std::uint64_t leased = 0;
  std::uint64_t acked = 0;
  std::uint64_t nacked = 0;
  std::uint64_t attempts_stored = 0;
  std::uint64_t posts = 0;
  std::uint64_t posts_unknown = 0;
  std::uint64_t settled = 0;
  std::uint64_t failed = 0;
  std::uint64_t canceled = 0;
  std::uint64_t reviews = 0;
  std::uint64_t reorgs = 0;
  std::uint64_t alarms = 0;
  std::uint64_t slot_mismatches = 0;
  std::uint64_t in_flight_now = 0;
  std::uint64_t watched_now = 0;
  bool store_writable = true;  ///< now; false while nothing is leased for want of it
};

/// What reconciling an account changed.
struct ReconcileReport {
  struct Change {
    domain::Sequence sequence;
    domain::SlotState from = domain::SlotState::reserved;
    domain::SlotState to = domain::SlotState::reserved;
    std::string why;
  };
  domain::ChainId chain;
  domain::Address account;
  std::size_t looked_at = 0;  ///< open numbers
  std::size_t skipped = 0;  ///< a job of theirs is being worked on
  std::string trouble;  ///< why the numbers it does not know cannot be read; empty: they can
  std::vector<Change> changes;
};

class Engine {
 public:
  Engine(boost::asio::any_io_executor executor, Config config, Parts parts);
  /// All frames must be gone: after drain(), or after the executor was stopped and abandon().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // ---- life. All members are called on the engine's executor; see `call` for other threads.

  /// Takes the accounts' epochs and own leases back, checks each chain's id (a chain that is down
  /// or wrong is unusable until it is right; it does not stop the start), recovers, starts leasing.
  /// Throws StoreUnavailable / StoreInDoubt.
  Awaitable<void> start();
  /// Stops leasing, lets what is in flight finish for `deadline_ms`, leaves the rest recoverable.
  /// Afterwards no coroutine of the engine is left. Returns how many were cut short.
  Awaitable<std::size_t> drain(std::int64_t deadline_ms);
  /// For teardown without a drain (a crash in the simulator): drops every parked frame.
  void abandon();
  /// Set when the engine has stopped itself: the store is in doubt, another engine took an account
  /// over, or a coroutine of its own failed. The owner drains, opens the store again and starts a
  /// new engine: what is on disk decides.
  bool broken() const;
  bool draining() const;
  /// Why nothing is leased though the engine is whole: one sentence for anybody (the store's disk
  /// is full, or takes no writes); empty when all is well. It ends by itself.
  std::string trouble() const;
  /// After drain(), on another store than before (its file opened again): a new engine under this
  /// name, with the same configuration and parts, to be started. Calls still in progress end with
  /// the store they began with, which outlives them. The counters go on.
  void renew(store::Store& store);

  // ---- payments

  /// Would this authorization pay these terms now? Reads only: nothing is written.
  /// The method's own checks, then the exact call simulated, then the reason for a refusal. Errors:
  /// ports::VerifyError, and those of `create`; `try_again` and `node_trouble` say nothing of the
  /// payment.
  Awaitable<Result<void>> verify(NewPayment terms, domain::Authorization authorization);

  /// A new intent: `created`, or `authorized` with its job for a method nobody signs (payout).
  /// Safe to repeat with the same caller and key: replayed.
  Awaitable<Result<Answer>> create(Caller caller, NewPayment payment);
  /// The payer's signature for a created intent: verified, then `authorized` with its job.
  Awaitable<Result<Answer>> authorize(Caller caller, domain::IntentId id, Bytes signature);
  /// Both in one write, for a payer who brings a nonce of their own. The id is derived from what is
  /// redeemed, so every door leads to the same intent. Refuses what `verify` refuses, and stores
  /// nothing then; but what somebody else ran already, in exactly this transfer, is followed as
  /// paid. Safe to repeat. `redemption_taken`: another caller's payment has it.
  Awaitable<Result<Answer>> submit(Caller caller, NewPayment payment,
                                   domain::Authorization authorization,
                                   Ended ended_before = Ended::is_the_answer);
  /// The payment that redeems exactly this authorization and has not ended unsent, whoever's it is.
  /// `not_found`. Reads only.
  Awaitable<Result<domain::Intent>> find_submitted(NewPayment payment,
                                                   domain::Authorization authorization);
  /// The transaction of the payment that redeems this nonce of the payer's on exactly these terms,
  /// whoever's it is and however it was signed. Empty: none is known here. Reads only.
  Awaitable<std::optional<domain::TxHash>> redeemed_in(NewPayment payment, domain::Nonce nonce);
  /// Before settling only; afterwards `too_late` and nothing changes.
  Awaitable<Result<Answer>> cancel(Caller caller, domain::IntentId id, std::string reason);
  /// An operator wants out: cancel if it can be, else `cancel_asked` is recorded and the rules
  /// decide. Safe to repeat: the same key and request gets the first answer again.
  Awaitable<Result<Answer>> abandon(Caller who, domain::IntentId id, std::string reason);

  // ---- reads. `caller` empty: anybody's. `not_found` for another caller's.

  Awaitable<Result<domain::Intent>> find(std::optional<domain::CallerId> caller,
                                         domain::IntentId id);
  Awaitable<Result<Detail>> detail(std::optional<domain::CallerId> caller, domain::IntentId id);
  Awaitable<Result<domain::Intent>> find_ref(std::optional<domain::CallerId> caller,
                                             domain::Ref ref);
  Awaitable<Page> list(ListQuery query);
  Awaitable<std::vector<BalanceItem>> balances(std::size_t limit);
  Awaitable<std::vector<HistoryItem>> events(std::int64_t after, std::size_t limit);
  std::vector<ChainStatus> chains() const;
  /// What the payer signs; empty text where nobody signs or the chain is not configured.
  std::string typed_data(const domain::Intent& intent) const;
  Stats stats() const;

  /// Returns when the intent is that far, has ended, is in review, or `deadline_ms` of time has
  /// passed: always the intent as it then is. Giving up changes nothing.
  Awaitable<Result<domain::Intent>> wait(std::optional<domain::CallerId> caller,
                                         domain::IntentId id, WaitFor level,
                                         std::int64_t deadline_ms);

  /// Reads only. `not_found`.
  Awaitable<Result<Standing>> standing(std::optional<domain::CallerId> caller, domain::IntentId id);
  /// The caller's time is over. Where nothing was signed the payment is canceled, or its cancel is
  /// asked for, and what came of it within `deadline_ms` is returned: its end, or a hash under
  /// which it may still be made. What was signed goes on as if nobody had given up. Safe to repeat.
  /// `not_found`.
  Awaitable<Result<Standing>> give_up(Caller caller, domain::IntentId id, std::string reason,
                                      std::int64_t deadline_ms);
  /// On record before it returns: exactly one success is told for a payment. Whoever gets `first`
  /// or `again` calls `delivered` once. Without an idempotency key nobody is told twice. Errors:
  /// `key_reused`, `not_found` (also another caller's), `wrong_state` (it is not confirming or
  /// settled, perhaps any more: a block was taken back); throws what the store throws, and then
  /// nobody is to be told.
  Awaitable<Result<SuccessOffer>> offer_success(Caller caller, domain::IntentId id);
  /// Would `offer_success` let this caller be told? Reads only. Errors: as there.
  Awaitable<Result<bool>> may_be_told(Caller caller, domain::IntentId id);
  /// The answer was written, or it was not: then the next who asks may be told.
  Awaitable<void> delivered(domain::IntentId id, bool written);

  // ---- the operators' desk (scope ops; desk.cpp). `who` signs in the history.

  Awaitable<DeadLetterPage> dead_letters(std::size_t limit, std::int64_t cursor, bool open_only);
  Awaitable<Result<DeadLetter>> dead_letter(std::int64_t number);
  /// Queues the parked job again; it moves nothing by itself. `not_found`, `wrong_state`. Replayed
  /// when repeated with the same key, as the three below.
  Awaitable<Result<DeadLetterAnswer>> redrive(Caller who, std::int64_t number, std::string reason);
  Awaitable<Result<DeadLetterAnswer>> drop_dead_letter(Caller who, std::int64_t number,
                                                       std::string reason);
  /// `wrong_state` unless it is in review.
  Awaitable<Result<Review>> review(domain::IntentId id);
  /// One of the resolutions of domain/review.hpp, with its proof read from the chain. Nothing is
  /// changed by a refusal: `wrong_state`, `unproven` (the sentence names what is missing),
  /// `try_again` (a node cannot answer).
  Awaitable<Result<Resolved>> resolve(Caller who, domain::IntentId id, Resolve wanted);
  Awaitable<DeskCounts> desk_counts();
  Awaitable<std::vector<AccountStatus>> accounts();
  /// Derives the account's open numbers again from the chain. Safe to repeat. `not_found`,
  /// `try_again`.
  Awaitable<Result<ReconcileReport>> reconcile(std::string who, domain::ChainId chain,
                                               domain::Address account);
  /// An operator answers for what used this account without this store: its claims go on from the
  /// chain's count, which is returned. Refused until those transactions were searched for payments
  /// of ours (`try_again`), and when it is not blocked (`wrong_state`). Safe to repeat: the same
  /// key and request is answered as before, and adopts nothing else.
  Awaitable<Result<Adopted>> adopt(Caller who, domain::ChainId chain, domain::Address account,
                                   std::string reason);
  /// An operator has looked at a chain that took back finality: claims and posts go on.
  /// `wrong_state` when it is not halted. Safe to repeat, as `adopt`; true says that it was.
  Awaitable<Result<bool>> acknowledge(Caller who, domain::ChainId chain, std::string reason);

  // ---- keys

  Awaitable<std::vector<ApiKey>> api_keys();
  /// Refused with a sentence when the name is taken or a scope is unknown. With `who` a repeated
  /// request is answered as the first time, and history says who it was.
  Awaitable<Result<AddedKey>> add_api_key(ApiKey key, std::optional<Caller> who = {});
  Awaitable<Result<void>> revoke_api_key(std::string name, std::string who = {});

  boost::asio::any_io_executor executor() const;

  /// From any thread or executor: runs `ask(*this)` (a function returning an awaitable) on the
  /// engine's executor and completes `token` with what it returns.
  template <class Ask, class Token>
  auto call(Ask ask, Token&& token) {
    return boost::asio::co_spawn(
        executor(), [this, ask = std::move(ask)]() mutable { return ask(*this); },
        std::forward<Token>(token));
  }

  class Core;

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::engine

template <>
struct boost::system::is_error_code_enum<holdfast::engine::EngineError> : std::true_type {};
