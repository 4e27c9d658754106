// Owns: the named writes. Each is one step of Store::write: it checks everything first, refuses
// without having written, and otherwise writes all of it.
// Must never: read a clock, make an id, or leave an effect of the table's row to its caller.
#pragma once

#include <span>
#include <vector>

#include <holdfast/domain/success.hpp>
#include <holdfast/store/store.hpp>
#include "store/model.hpp"

namespace holdfast::store {

// ---- intents
// --------------------------------------------------------------------------------------

/// Creates the intent (and, when it is authorized already, its job), or answers a replay of the
/// same request as the first time. `key_reused`, `redemption_taken`. The ref is derived again and
/// must match. Safe to repeat.
Result<Answered> create_intent(Txn& txn, const NewIntent& wanted);
/// The first answer to this request that brought an authorization, also where its intent has ended
/// without being paid and lets another redeem it; empty when there is none. `key_reused`. Reads
/// only.
Result<std::optional<Answered>> submitted_before(Txn& txn, const NewIntent& wanted);
/// The first answer to this request, whatever could be made of it today; empty: it is new.
/// `key_reused`. Reads only.
Result<std::optional<Answered>> born_before(Txn& txn, const domain::IntentId& id_by_key,
                                            const domain::CallerId& caller, const Request& request);
/// Under which of these refs a transaction of ours was found; empty: under none. Reads only.
std::optional<std::size_t> first_found(Txn& txn, const domain::ChainId& chain,
                                       std::span<const domain::Ref> refs);
/// A payout under way from another account that would carry this ref if `payer` sent it: what is
/// chosen among our accounts follows the configuration, and that may have changed. Reads only.
std::optional<domain::Intent> find_by_other_payer(Txn& txn, const domain::ChainId& chain,
                                                  const domain::Address& payer,
                                                  const domain::Ref& ref);

/// One move of the table with its effects; returns the facts after it. Asking for the state it is
/// in already changes nothing. Refusals: TransitionError, StoreError, JournalError.
/// Every effect of the row happens here: enqueue, hold, reservation, post + gas, void, the slot's
/// end; the job's ack; the event. Final evidence and proofs are checked against the rows stored.
Result<domain::Facts> move_intent(Txn& txn, const Move& move);
/// Each as move_intent, in this order: one that is refused changes nothing and stops none of the
/// others.
std::vector<Result<domain::Facts>> move_intents(Txn& txn, std::span<const Move> moves);
/// The blocks whose finality this move stands on: its write notes them as final.
std::vector<domain::BlockRef> final_blocks(const Move& move);

/// As move_intent for the API's requests (authorize, cancel): a repeated request gets the intent as
/// the first answer showed it. `key_reused` when the key came with another request.
Result<Answered> answer_move(Txn& txn, const Move& move);

/// Records that somebody wants out; section 4 decides what becomes of it. Raises the version.
Result<domain::Facts> ask_cancel(Txn& txn, const domain::IntentId& id,
                                 const std::optional<domain::CallerId>& caller, domain::Actor actor,
                                 const Signature& by);

struct Abandoned {
  domain::Intent intent;  ///< as the first answer to this request showed it
  std::optional<domain::Facts> facts;  ///< empty: a repeated request, nothing was written
};
/// An operator, or a caller whose patience ended, wants out: canceled where that is possible still,
/// else asked for as above. With `caller` only of a payment of theirs. For an api caller nothing is
/// written once anything was signed: `facts` is empty then, and the payment goes on.
Result<Abandoned> abandon(Txn& txn, const domain::IntentId& id, const Signature& by,
                          domain::Actor actor = domain::Actor::operator_,
                          const std::optional<domain::CallerId>& caller = {});

/// May this asker be told that the payment succeeded? `first` is on record when this returns, and
/// so is `again` where an earlier life offered it. `not_found`, `no_help` when it is no success.
Result<domain::SuccessOffer> offer_success(Txn& txn, const domain::IntentId& id,
                                           const domain::CallerId& caller,
                                           const domain::SuccessAsker& asker, std::int64_t now_ms);
/// What it would say, and nothing is on record then.
Result<domain::SuccessOffer> peek_success(Txn& txn, const domain::IntentId& id,
                                          const domain::SuccessAsker& asker);
/// The answer that was offered went out; or it did not, and nobody was told: the offer is open
/// again.
void note_delivered(Txn& txn, const domain::IntentId& id, bool written, std::int64_t now_ms);

// ---- slots and attempts -----------------------------------------------------------------------

/// A slot for a settling intent that has none: the claim's reservation again (rules 2 to 4).
Result<domain::Facts> reserve_slot(Txn& txn, const domain::IntentId& id, std::uint64_t version,
                                   const domain::Receipt& receipt,
                                   std::span<const Candidate> candidates,
                                   std::uint32_t max_unconsumed, std::int64_t now_ms);

/// The transaction of section 3 rule 6: intent settling at this version, slot this intent's and
/// reserved (or signed and unconsumed for another attempt), receipt current, epoch ours. Moves the
/// slot to signed. On any refusal the caller destroys the bytes.
Result<domain::Facts> store_attempt(Txn& txn, const AttemptToStore& wanted);

/// Gives a signed, unconsumed slot to the account, which runs a noop there. Being handed over
/// already is no change. Returns the item's facts.
Result<domain::Facts> hand_over(Txn& txn, const HandOver& wanted);
/// Stores a noop before it is posted, whatever the item's state: the slot is signed and unconsumed
/// and was handed over, or is the account's own; the epoch is ours.
Result<domain::AttemptId> store_noop(Txn& txn, const NoopToStore& wanted);
/// A new reservation for the account at a number nobody will use, with its noop. An item that is
/// settling there goes to review in the same write.
Result<GapFilled> fill_gap(Txn& txn, const GapToFill& wanted);

/// What a post told us. Moves the slot to broadcast when accepted. Never a state of the intent; but
/// an answer other than the one before raises its version: read the facts again.
Result<void> record_post(Txn& txn, const PostRecord& record);

/// A slot's own move: consumed (journals the consumer's gas once), quarantined, released unsigned,
/// back to broadcast. Illegal moves are refused; being there already is no change. Raises the
/// version of the slot's item.
Result<void> move_slot(Txn& txn, const SlotMove& move);

/// Takes an account over: its epoch goes up and is returned. First use inserts it.
std::uint64_t take_over_account(Txn& txn, const domain::ChainId& chain,
                                const domain::Address& account, std::string_view who,
                                std::int64_t now_ms);

// ---- chains and accounts
// ---------------------------------------------------------------------------

/// Something a person must know of an ended payment, in its history: once per transaction. False:
/// it stands there already, or there is no such payment.
bool note_used_after_end(Txn& txn, const domain::IntentId& id, const domain::TxHash& tx_hash,
                         std::int64_t now_ms);
/// Remembers whose payment an unknown transaction of our account was, by its ref. All that carry a
/// ref are kept. False: it was known.
bool note_ref_found(Txn& txn, const RefFound& found);
/// `not_found` for an account no engine ever took over. Raises what was answered for; never lowers.
/// The same request again is a replay, and writes nothing: `key_reused` with other content.
Result<Adopted> adopt_account(Txn& txn, const Adoption& adoption);
/// The newest final block that was seen.
void note_final_block(Txn& txn, const domain::ChainId& chain, const domain::BlockRef& block);
/// Nothing is claimed or posted on this chain until `acknowledge_chain`. False: it is halted
/// already, and the first reason stays.
bool halt_chain(Txn& txn, const domain::ChainId& chain, std::string_view why, std::int64_t now_ms);
/// `not_found` when the chain is not halted. Forgets the final block that was seen: what the chain
/// says now counts.
/// True: the same request was answered before, and nothing is written.
Result<bool> acknowledge_chain(Txn& txn, const domain::ChainId& chain, const Signature& by);

// ---- the queue
// --------------------------------------------------------------------------------------

/// Up to receipts.size() jobs, oldest visible first, each with its facts. A lease that ran out is
/// handed out again and counted as lapsed.
std::vector<Leased> lease_jobs(Txn& txn, const LeaseRequest& wanted);
Result<void> extend_lease(Txn& txn, const domain::Receipt& receipt, std::int64_t until_ms);
Result<void> ack_job(Txn& txn, const domain::Receipt& receipt);
/// Visible again at `visible_ms`; spends nothing of the budget.
Result<void> nack_job(Txn& txn, const domain::Receipt& receipt, std::int64_t visible_ms,
                      std::string_view why);
/// A restarted instance that owns the store gets every lease back at once, none counted as lapsed.
/// What was nacked for a later time is visible at `now_ms` too: the queue's time starts anew.
std::size_t return_leases(Txn& txn, std::int64_t now_ms);
/// Idempotent while queued or leased; after an ack the same id is new work. False: it was there.
bool enqueue_job(Txn& txn, const domain::Job& job, std::int64_t visible_ms);
/// Enqueues a settle job for authorized and settling intents that have none, in fair
/// rotation (a cursor per state, kept in the store), at most `limit` looked at; returns the ids.
/// Must normally find none.
std::vector<domain::IntentId> sweep_undriven(Txn& txn, std::int64_t now_ms, std::size_t limit);

/// Payments that nobody signed, whose deadline is at or before `now_s` (wall time), and whose ref
/// was found in no transaction of ours: up to `limit` rows are looked at behind `after`. `next` is
/// where to go on; zero: at the beginning.
struct Unsigned {
  std::vector<domain::Intent> expired;
  std::int64_t next = 0;
};
Unsigned expired_unsigned(Txn& txn, std::int64_t now_s, std::int64_t after, std::size_t limit);

// ---- the store itself
// ----------------------------------------------------------------------------------

/// An operator answers for a store that was put back from a backup: from the next opening on it is
/// one like any other. An event of kind "account". False, and nothing written, when it was not.
bool acknowledge_restored(Txn& txn, std::string_view who, std::int64_t now_ms);

/// Changes one row that means nothing. Its commit says that the store can write.
void probe_write(Txn& txn, std::int64_t now_ms);

// ---- keys
// --------------------------------------------------------------------------------------------

/// `name_taken` (also by a revoked key: the name is a caller's id), `bad_key`. Scopes: pay, payout,
/// ops, x402. A request that made a key before gets that key as it is stored; `key_reused` when it
/// then asked for something else.
Result<AddedKey> add_api_key(Txn& txn, const ApiKey& key, std::string_view who = {});
/// `not_found` when there is no live key of that name.
Result<void> revoke_api_key(Txn& txn, std::string_view name, std::int64_t now_ms,
                            std::string_view who = {});

}  // namespace holdfast::store
