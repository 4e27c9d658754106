// What an account does with numbers no payment will use: taking them over, storing noops for them.
#include <algorithm>

#include "base/teeth.hpp"
#include "store/events.hpp"
#include "store/reads.hpp"
#include "store/slots.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

using domain::AttemptKind;
using domain::SlotState;

Error not_signable(std::string sentence) {
  return refuse(StoreError::not_signable, std::move(sentence));
}

Result<void> check_epoch(std::uint64_t theirs, std::uint64_t ours, const domain::Address& account) {
  if (theirs == ours || planted(Tooth::old_epoch_signs)) return {};
  return refuse(StoreError::stale_epoch, account.value + " was taken over by another engine");
}

Result<void> check_noop_slot(const SlotRow& row) {
  const domain::Slot& slot = row.slot;
  if (!domain::is_signed_and_unconsumed(slot.state)) {
    return not_signable("the slot is " + std::string(domain::to_text(slot.state)));
  }
  if (row.item_row && !slot.handed_over) {
    return not_signable("the slot was not handed to the account");
  }
  return {};
}

domain::AttemptId insert_noop(Txn& txn, domain::Attempt attempt, domain::SlotId slot,
                              const std::optional<std::int64_t>& item_row, std::int64_t now_ms) {
  attempt.kind = AttemptKind::noop;
  attempt.slot = slot;
  attempt.outcome = domain::AttemptOutcome::stored;
  attempt.stored_ms = now_ms;
  return insert_attempt(txn, attempt, item_row);
}

std::string number_of_account(domain::Sequence sequence, const domain::Address& account) {
  return "number " + std::to_string(sequence.value) + " of " + account.value;
}

void account_event(Txn& txn, const std::optional<std::int64_t>& item_row, std::string reason,
                   std::string_view who, std::uint64_t version, std::int64_t now_ms) {
  Event event;
  event.at_ms = now_ms;
  event.kind = "slot";
  event.actor = domain::Actor::relayer;
  event.who = who;
  event.reason = std::move(reason);
  event.version = version;
  add_event(txn, item_row, event);
}

struct LastHolder {
  std::optional<domain::IntentId> item;
  std::optional<domain::IntentState> state;
};

/// Who held this number last, of those who gave it back.
std::optional<LastHolder> last_holder(Txn& txn, const domain::ChainId& chain,
                                      const domain::Address& account, domain::Sequence at) {
  return first(
      txn,
      "SELECT i.id, i.state FROM slots s JOIN accounts a ON a.row = s.account"
      " LEFT JOIN intents i ON i.row = s.item WHERE a.chain = $1 AND a.address = $2"
      " AND s.sequence = $3 AND s.standing = 'released' ORDER BY s.row DESC LIMIT 1",
      [](const Row& row) {
        LastHolder out{row.maybe_fixed<domain::IntentId>(0), {}};
        if (out.item) out.state = row.named(1, domain::intent_state_from);
        return out;
      },
      chain, account, at);
}

struct AccountPlace {
  std::int64_t row = 0;
  std::uint64_t epoch = 0;
  std::optional<domain::Sequence> highest_open;
};

std::optional<AccountPlace> place_of(Txn& txn, const domain::ChainId& chain,
                                     const domain::Address& account) {
  return first(
      txn,
      "SELECT a.row, a.epoch, (SELECT max(o.sequence) FROM slots o WHERE o.account = a.row"
      " AND o.standing = 'open') FROM accounts a WHERE a.chain = $1 AND a.address = $2",
      [](const Row& row) {
        return AccountPlace{row.number(0), row.count(1), row.maybe_sequence(2)};
      },
      chain, account);
}

/// A settling item of the number is not coming back for it: that is for a person.
Result<std::optional<domain::Facts>> review_item(Txn& txn, const GapToFill& wanted,
                                                 const std::optional<LastHolder>& holder) {
  if (!holder || holder->state != domain::IntentState::settling) return {std::nullopt};
  // Given another number since, it does not wait for this one.
  const auto payment = load_payment(txn, *holder->item);
  if (!payment || payment->slots.empty() ||
      payment->slots.back().slot.sequence != wanted.sequence ||
      payment->slots.back().slot.account != wanted.account) {
    return {std::nullopt};
  }
  Move review;
  review.id = *holder->item;
  review.to = domain::IntentState::needs_review;
  review.actor = domain::Actor::relayer;
  review.who = wanted.who;
  review.reason = "gap_filled";
  review.from = domain::IntentState::settling;
  review.now_ms = wanted.now_ms;
  auto facts = move_intent(txn, review);
  if (facts.has_error()) return facts.error();
  return std::optional<domain::Facts>{std::move(*facts)};
}

}  // namespace

Result<domain::Facts> hand_over(Txn& txn, const HandOver& wanted) {
  auto payment = load_payment(txn, wanted.id);
  if (!payment) return refuse(StoreError::not_found, "there is no payment " + text(wanted.id));
  if (wanted.version && payment->intent().version != *wanted.version) {
    return refuse(StoreError::version_conflict, text(wanted.id) + " changed meanwhile");
  }
  if (wanted.receipt && payment->row.receipt != wanted.receipt) {
    return refuse(StoreError::stale_receipt,
                  "the job of " + text(wanted.id) + " was handed to somebody else, or is gone");
  }
  SlotRow* const row = payment->find_slot(wanted.slot);
  if (row == nullptr) return not_signable("the slot is not " + text(wanted.id) + "'s");
  const auto ours = check_epoch(row->epoch, wanted.epoch, row->slot.account);
  if (ours.has_error()) return ours.error();
  if (row->slot.handed_over) return std::move(*payment).facts();
  if (!domain::is_signed_and_unconsumed(row->slot.state)) {
    return not_signable("the slot is " + std::string(domain::to_text(row->slot.state)));
  }
  row->slot.handed_over = true;
  save_slot(txn, row->slot, wanted.now_ms);
  if (!planted(Tooth::handover_unversioned)) save_version(txn, payment->row, wanted.now_ms);
  account_event(txn, payment->row.row,
                number_of_account(row->slot.sequence, row->slot.account) +
                    ": handed to the account, " + wanted.why,
                "", payment->intent().version, wanted.now_ms);
  return std::move(*payment).facts();
}

Result<domain::AttemptId> store_noop(Txn& txn, const NoopToStore& wanted) {
  const auto row = load_slot(txn, wanted.slot);
  if (!row) return refuse(StoreError::not_found, "there is no such slot");
  const auto ours = check_epoch(row->epoch, wanted.epoch, row->slot.account);
  if (ours.has_error()) return ours.error();
  if (const auto good = check_noop_slot(*row); good.has_error()) return good.error();
  const auto id = insert_noop(txn, wanted.attempt, wanted.slot, row->item_row, wanted.now_ms);
  if (row->item_row) raise_version(txn, *row->item_row, wanted.now_ms);
  return id;
}

Result<GapFilled> fill_gap(Txn& txn, const GapToFill& wanted) {
  const auto place = place_of(txn, wanted.chain, wanted.account);
  if (!place) return refuse(StoreError::not_found, "there is no account " + wanted.account.value);
  const auto ours = check_epoch(place->epoch, wanted.epoch, wanted.account);
  if (ours.has_error()) return ours.error();
  const std::string number = number_of_account(wanted.sequence, wanted.account);
  if (wanted.sequence < wanted.chain_latest) return not_signable(number + " is behind the chain");
  const bool holds_up = place->highest_open && *place->highest_open > wanted.sequence;
  const bool may_be_lost =
      wanted.lost_end && wanted.sequence < *wanted.lost_end && is_restored(txn);
  if (!holds_up && !may_be_lost) return not_signable(number + " holds nothing up");
  if (load_slot_at(txn, wanted.chain, wanted.account, wanted.sequence)) {
    return not_signable(number + " is taken");
  }
  auto reviewed =
      review_item(txn, wanted, last_holder(txn, wanted.chain, wanted.account, wanted.sequence));
  if (reviewed.has_error()) return reviewed.error();
  execute(txn,
          "INSERT INTO slots (account, sequence, state, standing, item, handed_over, created_ms,"
          " updated_ms) VALUES ($1, $2, 'signed', 'open', NULL, 1, $3, $3)",
          place->row, wanted.sequence, wanted.now_ms);
  const domain::SlotId slot{txn.db().last_rowid()};
  GapFilled out;
  out.attempt = insert_noop(txn, wanted.attempt, slot, std::nullopt, wanted.now_ms);
  out.reviewed = std::move(*reviewed);
  account_event(txn, std::nullopt, number + ": a gap, filled by the account", wanted.who, 0,
                wanted.now_ms);
  return out;
}

domain::Sequence first_unknown_number(Txn& txn, const domain::ChainId& chain,
                                      const domain::Address& account, domain::Sequence from) {
  const auto found = find_account(txn, chain, account);
  if (!found) return from;
  domain::Sequence at = std::max(from, found->adopted.value_or(domain::Sequence{}));
  each(
      txn,
      "SELECT DISTINCT s.sequence FROM slots s JOIN accounts a ON a.row = s.account"
      " WHERE a.chain = $1 AND a.address = $2 AND s.state = 'consumed' AND s.sequence >= $3"
      " ORDER BY s.sequence",
      [&](const Row& row) {
        if (row.count(0) == at.value) at = at.next();
      },
      chain, account, at);
  return at;
}

// Looks at a bounded stretch: what is above it comes when what is below is out of the way.
std::vector<domain::Sequence> gaps(Txn& txn, const domain::ChainId& chain,
                                   const domain::Address& account, domain::Sequence chain_latest,
                                   std::size_t limit,
                                   const std::optional<domain::Sequence>& lost_end) {
  constexpr int most_looked_at = 1'024;
  std::vector<domain::Sequence> out;
  const auto place = place_of(txn, chain, account);
  if (!place) return out;
  const domain::Sequence end = std::max(place->highest_open.value_or(domain::Sequence{}),
                                        lost_end.value_or(domain::Sequence{}));
  domain::Sequence at = chain_latest;
  for (int looked = 0; looked < most_looked_at && at < end; ++looked) {
    if (out.size() >= limit) break;
    if (!load_slot_at(txn, chain, account, at)) out.push_back(at);
    at = at.next();
  }
  return out;
}

}  // namespace holdfast::store
