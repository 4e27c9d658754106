// Owns: what the rows of decide ask of facts, seen, policy and moment, each question in one place.
// Must never: choose a step.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/domain/decide.hpp>

namespace holdfast::domain {

/// How the bearer authorization stands, as far as it was read. `exactly` has its transaction.
enum class Use { unread, unknown, unused, exactly, otherwise, canceled };

struct View {
  const Facts& facts;
  const Seen& seen;
  const Policy& policy;
  const Now& now;

  const Intent& intent() const { return facts.intent; }
  bool bearer() const { return facts.intent.bearer; }

  // -- time. Chain time ends things; the wall clock only keeps bytes from being posted.
  bool past_deadline_by_chain() const;
  /// The deadline of a payment nothing was asked to act for: by chain time, where there is one.
  bool past_deadline_unsigned() const;
  /// No cancel asked, and inside the window by both clocks.
  bool still_wanted() const;
  bool not_yet_valid() const;
  bool over_grace() const;
  /// Of an order to an outside sender, counted from the claim.
  std::int64_t outside_age_ms() const;
  /// Nothing was posted or stored for `review_after` of chain time.
  bool unread_for_too_long() const;

  /// Leases that ran out, or declared poison: nothing else spends it.
  bool budget_is_spent() const;

  // -- attempts and slots
  const Attempt* attempt(AttemptId id) const;
  bool at_current_slot(const Attempt& attempt) const;
  /// Its bytes may still run: not so where its slot was consumed with finality.
  bool may_live(const Attempt& attempt) const;
  bool any_may_live() const;
  /// `pay` bytes of the current slot that may still run.
  bool may_post(const Attempt& attempt) const;
  /// No attempt row, and no slot that says there was one.
  bool nothing_signed() const;
  /// Asked of an outside sender that left neither bytes nor a sequence.
  const Attempt* outside_attempt() const;
  /// The newest `pay` bytes of the current slot that may be posted; none of a handed-over slot.
  const Attempt* postable() const;
  /// Of those the newest that a node accepted, else the newest.
  const Attempt* newest_accepted() const;
  bool is_own_attempt(const TxHash& hash) const;
  const Attempt* pay_attempt_with(const TxHash& hash) const;

  // -- what was seen
  Use use() const;
  bool use_is_final() const;
  /// The question, or the wait, that is between here and a use that was read.
  std::optional<Step> read_use_first() const;
  /// What this store lost used the authorization, and logged no such transfer.
  const MinedTx* lost_use() const;
  bool used_up() const;
  std::optional<AuthorizationDead> dead_authorization() const;
  std::optional<HashSeen::Result> found(const Attempt& attempt) const;
  /// The newest `pay` attempt that the search found so.
  const Attempt* newest_found(std::initializer_list<HashSeen::Result> results) const;
  /// A simulation says no (for good, or over the cap).
  bool refused() const;
  std::string refusal() const;
  /// A definite refusal of the post that a second look on every endpoint did not overturn.
  bool post_refused_for_good() const;
  /// The final transaction at this slot, from the search or a fetch.
  const MinedTx* consumer(const Slot& slot) const;
  bool consumer_was_fetched(SlotId slot) const;
  /// Why the transaction with our ref was not read.
  std::string why_no_ref() const;
  /// The transaction with our ref failed. In another block it may pay: wait until that is final.
  std::optional<Step> failed_ref_may_yet_pay() const;
  /// A node that is silent is no sign that nothing can be found.
  bool consumer_is_unanswered() const;
  bool slot_is_consumed() const;
  bool is_stuck() const;
  /// Another attempt at the same sequence, of which at most one can be mined. Without a signed slot
  /// there is no such sequence, and a second attempt could pay twice.
  bool may_replace() const;

  // -- endings
  /// Signed, and it should not run any more: cancel asked, past the deadline, refused for good, the
  /// slot handed over, or the authorization used or canceled with finality.
  bool given_up() const;
  std::string give_up_reason() const;

  step::Nack nack(std::string why) const;
  /// For what others will make room for soon: never longer than a block or so.
  step::Nack nack_for_room(std::string why) const;
};

/// One row of section 4's table: matches, or leaves it to the rows below.
struct Row {
  std::string_view name;
  std::optional<Step> (*match)(const View&);
};

std::span<const Row> authorized_rows();
std::span<const Row> settling_rows();

// Rows of a settling payment in decide_ending.cpp.
std::optional<Step> consumer_is_evidence(const View& view);
std::optional<Step> reverted(const View& view);
std::optional<Step> slot_consumed(const View& view);
std::optional<Step> given_up(const View& view);

/// What becomes of it when reserving gave no slot.
std::optional<Step> slot_refused(const View& view);

struct Decision {
  std::string_view row;
  Step step;
};
/// decide(), with the row that matched.
Decision decide_by_row(const View& view);

}  // namespace holdfast::domain
