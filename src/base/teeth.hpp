// Owns: the teeth: faults that are planted at the very place of a guard, to see that the simulator
// bites. A tooth is on only in a build with HOLDFAST_TEETH (preset `teeth`, which builds nothing
// but the simulator, and preset `asan`) and there only when `holdfast-sim --tooth NAME` names it.
// In every other build `planted` is the constant `false`, and what it guards is not compiled.
// Must never: be more than a line or two at its place, or change what happens while it is off.
#pragma once

#include <string_view>

namespace holdfast {

enum class Tooth {
  none,
  // who may act, and in which order
  ack_first,
  enqueue_later,
  claim_unchecked,
  fence_ignored,
  old_epoch_signs,
  sign_before_claim,
  post_before_store,
  // numbers
  release_signed,
  second_number,
  lagging_count,
  gap_left,
  foreign_use_ignored,
  room_ignored,
  out_of_turn,
  fees_unnoted,
  ceiling_ignored,
  // what an answer means
  timeout_failed,
  null_receipt,
  too_low_is_ours,
  forget_replaced,
  noop_pays,
  others_transfer,
  old_hash_kept,
  // blocks and finality
  trust_latest,
  one_block_early,
  reorg_unnoticed,
  finality_unwatched,
  use_not_final,
  unvouched,
  final_unnoted,
  used_unnoted,
  final_falls,
  late_use_untold,
  gone_kept,
  // money
  hold_skipped,
  void_early,
  asked_is_arrived,
  short_taken,
  journal_unchained,
  gas_skipped,
  gas_twice,
  // requests, windows and the store
  window_ignored,
  expired_by_wall,
  budget_by_nacks,
  stop_forgotten,
  told_too_early,
  untold_kept,
  replay_missed,
  answer_is_now,
  hash_is_now,
  late_cancel,
  caller_ignored,
  restored_unnoticed,
  // the queue and its letters
  change_acked,
  change_delayed,
  letter_missed,
  redrive_empty,
  // versions
  handover_unversioned,
  outcome_unversioned,
};

struct ToothRow {
  Tooth tooth;
  std::string_view name;
  std::string_view fault;
};

inline constexpr ToothRow tooth_rows[] = {
    // NOLINT(*-avoid-c-arrays): a table
    {Tooth::ack_first, "ack_first", "the job is acked in a write before the one that ends it"},
    {Tooth::enqueue_later, "enqueue_later", "the job is enqueued in a second write, by the sweep"},
    {Tooth::claim_unchecked, "claim_unchecked", "a move compares neither version nor receipt"},
    {Tooth::fence_ignored, "fence_ignored",
     "an attempt is stored whatever version, receipt and epoch it was signed under"},
    {Tooth::old_epoch_signs, "old_epoch_signs", "an account's noop is stored under an old epoch"},
    {Tooth::sign_before_claim, "sign_before_claim", "bytes are signed before the claim"},
    {Tooth::post_before_store, "post_before_store", "bytes are posted before they are stored"},
    {Tooth::release_signed, "release_signed", "an ended payment's signed number is released"},
    {Tooth::second_number, "second_number",
     "a number counts as used before that is final, and the payment is signed at another"},
    {Tooth::lagging_count, "lagging_count", "the next number is what the node says it is"},
    {Tooth::gap_left, "gap_left", "gaps are never filled"},
    {Tooth::foreign_use_ignored, "foreign_use_ignored",
     "an account that was used elsewhere goes on claiming"},
    {Tooth::room_ignored, "room_ignored", "an account takes one number more than it may have"},
    {Tooth::out_of_turn, "out_of_turn", "bytes are posted before those of a number below"},
    {Tooth::fees_unnoted, "fees_unnoted", "a dearer attempt is noted with the fees before it"},
    {Tooth::ceiling_ignored, "ceiling_ignored", "a dearer attempt offers more than the ceiling"},
    {Tooth::timeout_failed, "timeout_failed", "a post without an answer means that it failed"},
    {Tooth::null_receipt, "null_receipt", "a transaction that is not found will never run"},
    {Tooth::too_low_is_ours, "too_low_is_ours", "'nonce too low' means that ours was taken"},
    {Tooth::forget_replaced, "forget_replaced", "only the newest attempt's hash is watched"},
    {Tooth::noop_pays, "noop_pays", "the account's own noop at the number counts as the payment"},
    {Tooth::others_transfer, "others_transfer",
     "a transfer of the same amount counts as the payment, whoever's ref it carries"},
    {Tooth::old_hash_kept, "old_hash_kept",
     "a settled payment names the hash it was confirmed by, not the one that moved it"},
    {Tooth::trust_latest, "trust_latest", "every canonical block counts as final"},
    {Tooth::one_block_early, "one_block_early", "a block counts as final one block too early"},
    {Tooth::reorg_unnoticed, "reorg_unnoticed", "what a block held stays mined when it is gone"},
    {Tooth::finality_unwatched, "finality_unwatched", "finality that is taken back halts nothing"},
    {Tooth::use_not_final, "use_not_final",
     "another use of an authorization ends its payment before it is final"},
    {Tooth::unvouched, "unvouched", "what one node shows as final is not asked of the others"},
    {Tooth::final_unnoted, "final_unnoted", "a payment ends on a final block that is not noted"},
    {Tooth::used_unnoted, "used_unnoted",
     "a number counts as used by a final block that is not noted"},
    {Tooth::final_falls, "final_falls", "an older final block takes the place of a newer one"},
    {Tooth::late_use_untold, "late_use_untold",
     "an authorization that is used after its payment has ended raises no alarm"},
    {Tooth::gone_kept, "gone_kept",
     "a number stays used by a transaction that was final and is gone"},
    {Tooth::hold_skipped, "hold_skipped", "a claim holds nothing"},
    {Tooth::void_early, "void_early", "the hold is released when a payment goes to review"},
    {Tooth::asked_is_arrived, "asked_is_arrived", "the post says what was asked, not what arrived"},
    {Tooth::short_taken, "short_taken",
     "a payment settles on less than its amount where that is for a person to judge"},
    {Tooth::journal_unchained, "journal_unchained",
     "two entries of one write carry the hash of the same entry before them"},
    {Tooth::gas_skipped, "gas_skipped", "a used number costs nothing in the journal"},
    {Tooth::gas_twice, "gas_twice",
     "a transaction that used a number in another's place is journalled beside it"},
    {Tooth::window_ignored, "window_ignored", "bytes are posted past their publish deadline"},
    {Tooth::expired_by_wall, "expired_by_wall",
     "what nobody signed expires by the wall clock alone"},
    {Tooth::budget_by_nacks, "budget_by_nacks", "each delivery spends the budget, lapsed or not"},
    {Tooth::stop_forgotten, "stop_forgotten", "an operator's giving up is answered and not kept"},
    {Tooth::told_too_early, "told_too_early", "a success is told before any block holds it"},
    {Tooth::untold_kept, "untold_kept", "a success that was not written counts as told"},
    {Tooth::replay_missed, "replay_missed", "the same request again makes another payment"},
    {Tooth::answer_is_now, "answer_is_now",
     "a signature or a cancel that comes again is answered with today's state"},
    {Tooth::hash_is_now, "hash_is_now",
     "a request that comes again is told of today's transaction"},
    {Tooth::late_cancel, "late_cancel",
     "a cancel that comes too late is answered as if it counted"},
    {Tooth::caller_ignored, "caller_ignored", "a payment is canceled for somebody else's caller"},
    {Tooth::restored_unnoticed, "restored_unnoticed", "a store put back from a backup goes on"},
    {Tooth::change_acked, "change_acked", "an ack ends a job that was asked for again meanwhile"},
    {Tooth::change_delayed, "change_delayed",
     "a job that is returned waits its delay, though it was asked for again meanwhile"},
    {Tooth::letter_missed, "letter_missed", "a job is parked without a dead letter"},
    {Tooth::redrive_empty, "redrive_empty", "a redrive is signed and enqueues nothing"},
    {Tooth::handover_unversioned, "handover_unversioned",
     "a number is handed to its account, and its payment's version stays"},
    {Tooth::outcome_unversioned, "outcome_unversioned",
     "a post's outcome is stored, and its payment's version stays"},
};

#ifdef HOLDFAST_TEETH

inline Tooth planted_tooth = Tooth::none;
inline bool planted(Tooth tooth) { return planted_tooth == tooth; }

#else

constexpr bool planted(Tooth) { return false; }

#endif

}  // namespace holdfast
