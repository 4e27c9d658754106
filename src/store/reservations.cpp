// Which number a payment gets: rules 2 to 4 of section 3.
#include <algorithm>

#include "base/teeth.hpp"
#include "store/slots.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

using domain::Sequence;
using domain::SlotState;

/// An account as a claim sees it: the store's numbers beside the chain's.
struct AccountView {
  std::int64_t row = 0;
  std::uint64_t epoch = 0;
  std::optional<Sequence> lowest_open;
  std::optional<Sequence> highest_unreleased;
  std::optional<Sequence> highest_bound;  ///< released, and its item has not ended
  std::optional<Sequence> lowest_free;    ///< released, and nobody's any more
};

// $1 is the chain's count: released rows below it can neither be taken nor be in the way. Nothing
// in it walks along the open numbers: an account may have thousands, and every claim asks.
constexpr const char* account_sql =
    "SELECT a.row, a.epoch,"
    " (SELECT min(o.sequence) FROM slots o WHERE o.account = a.row"
    "  AND o.standing = 'open'),"
    " (SELECT max(t.sequence) FROM slots t WHERE t.account = a.row AND t.standing <> 'released'),"
    " (SELECT max(r.sequence) FROM slots r JOIN intents i ON i.row = r.item"
    "  WHERE r.account = a.row AND r.standing = 'released' AND r.sequence >= $1"
    "  AND i.state <> 'settled' AND i.state <> 'failed' AND i.state <> 'canceled'),"
    " (SELECT min(r.sequence) FROM slots r WHERE r.account = a.row AND r.standing = 'released'"
    "  AND r.sequence >= $1"
    "  AND NOT EXISTS (SELECT 1 FROM slots t WHERE t.account = a.row AND t.standing <> 'released'"
    "   AND t.sequence = r.sequence)"
    "  AND NOT EXISTS (SELECT 1 FROM slots b JOIN intents i ON i.row = b.item"
    "   WHERE b.account = a.row AND b.standing = 'released' AND b.sequence = r.sequence"
    "   AND i.state <> 'settled' AND i.state <> 'failed' AND i.state <> 'canceled')"
    "  AND NOT EXISTS (SELECT 1 FROM slots c WHERE c.account = a.row AND c.standing <> 'released'"
    "   AND c.standing = 'consumed' AND c.sequence > r.sequence))"
    " FROM accounts a WHERE a.chain = $2 AND a.address = $3";

std::optional<AccountView> view_account(Txn& txn, const domain::ChainId& chain,
                                        const Candidate& candidate) {
  const Sequence from = std::max(candidate.chain_latest, candidate.chain_pending);
  return first(
      txn, account_sql,
      [](const Row& row) {
        return AccountView{row.number(0),         row.count(1),          row.maybe_sequence(2),
                           row.maybe_sequence(3), row.maybe_sequence(4), row.maybe_sequence(5)};
      },
      from, chain, candidate.account);
}

bool is_plausible(const Candidate& candidate) {
  return candidate.chain_latest.value < largest_stored &&
         candidate.chain_pending.value < largest_stored;
}

// A node that lags behind what this store saw consumed is not believed. Walks down the account's
// open numbers: only for a number that is to be bound again.
Sequence chain_count(Txn& txn, const Candidate& candidate, const AccountView& view) {
  const Sequence told = std::max(candidate.chain_latest, candidate.chain_pending);
  const auto consumed = first(
      txn,
      "SELECT t.sequence FROM slots t WHERE t.account = $1 AND t.standing <> 'released'"
      " AND t.standing = 'consumed' ORDER BY t.sequence DESC LIMIT 1",
      [](const Row& row) { return domain::Sequence{row.count(0)}; }, view.row);
  return consumed ? std::max(told, consumed->next()) : told;
}

std::uint32_t count_open(Txn& txn, const AccountView& view) {
  return first(
             txn, "SELECT count(*) FROM slots o WHERE o.account = $1 AND o.standing = 'open'",
             [](const Row& row) { return row.small_count(0); }, view.row)
      .value_or(0);
}

// No two open numbers are the same, so there are at most as many as lie between the lowest open one
// and the highest.
bool may_be_full(const AccountView& view, std::uint32_t max_unconsumed) {
  if (!view.lowest_open || !view.highest_unreleased) return max_unconsumed == 0;
  return view.highest_unreleased->value - view.lowest_open->value + 1 >= max_unconsumed;
}

Reservation reservation_at(const Payment& payment, const Candidate& candidate,
                           const AccountView& view, Sequence sequence) {
  Reservation out;
  out.account_row = view.row;
  out.epoch = view.epoch;
  out.slot.chain = payment.intent().terms.chain;
  out.slot.account = candidate.account;
  out.slot.sequence = sequence;
  out.slot.state = SlotState::reserved;
  out.slot.item = payment.intent().id;
  out.is_lowest = !view.lowest_open || sequence < *view.lowest_open;
  return out;
}

struct Choice {
  const Candidate* candidate = nullptr;
  AccountView view;
  std::uint32_t open = 0;
};

Result<Choice> choose(Txn& txn, const domain::ChainId& chain, const ReservationWish& wish) {
  std::optional<Choice> best;
  bool any_full = false;
  for (const Candidate& candidate : wish.candidates) {
    if (!is_plausible(candidate)) continue;
    const auto view = view_account(txn, chain, candidate);
    if (!view || view->epoch != candidate.epoch) continue;
    // Counted only where it decides: an account may be full, or there are several to choose from.
    const bool counts = wish.candidates.size() > 1 || may_be_full(*view, wish.max_unconsumed);
    const std::uint32_t open = counts ? count_open(txn, *view) : 0;
    const bool full =
        counts && open >= wish.max_unconsumed + (planted(Tooth::room_ignored) ? 1U : 0U);
    any_full = any_full || full;
    if (full) continue;
    if (!best || open < best->open) best = Choice{&candidate, *view, open};
  }
  if (best) return *best;
  if (any_full) {
    return refuse(StoreError::account_full, "every sending account of " + chain.value + " has " +
                                                std::to_string(wish.max_unconsumed) +
                                                " transactions under way");
  }
  return refuse(StoreError::stale_epoch,
                "no sending account of " + chain.value + " belongs to this engine any more");
}

Result<Reservation> plan_fresh(Txn& txn, const Payment& payment, const ReservationWish& wish) {
  const auto choice = choose(txn, payment.intent().terms.chain, wish);
  if (choice.has_error()) return choice.error();
  const AccountView& view = choice->view;
  domain::SequenceView numbers;
  // A node that lags behind what this store saw consumed decides nothing here: `highest_unreleased`
  // is as high at least, and a free number lies above all that was consumed.
  numbers.chain_latest = choice->candidate->chain_latest;
  numbers.chain_pending = choice->candidate->chain_pending;
  // An empty optional compares below any number.
  numbers.highest_used = std::max(view.highest_unreleased, view.highest_bound);
  numbers.lowest_free_released = view.lowest_free;
  return reservation_at(payment, *choice->candidate, view, domain::next_sequence(numbers));
}

/// Rule 4: the same number again, while it is ahead of the chain and nobody else holds it. An
/// account that is full is no reason to refuse: what stands behind the number waits for it.
Result<Reservation> plan_rebinding(Txn& txn, const Payment& payment, const domain::Slot& released,
                                   const ReservationWish& wish) {
  const auto gone = [&](const std::string& why) {
    return refuse(StoreError::released_slot_unusable,
                  "number " + std::to_string(released.sequence.value) + " of " +
                      released.account.value + " " + why);
  };
  const auto candidate =
      std::find_if(wish.candidates.begin(), wish.candidates.end(),
                   [&](const Candidate& each) { return each.account == released.account; });
  if (candidate == wish.candidates.end() || !is_plausible(*candidate)) {
    return gone("belongs to an account that is not offered");
  }
  const auto view = view_account(txn, released.chain, *candidate);
  if (!view || view->epoch != candidate->epoch) {
    return refuse(StoreError::stale_epoch,
                  released.account.value + " was taken over by another engine");
  }
  if (released.sequence < chain_count(txn, *candidate, *view)) return gone("is behind the chain");
  if (load_slot_at(txn, released.chain, released.account, released.sequence)) {
    return gone("was given to another payment");
  }
  return reservation_at(payment, *candidate, *view, released.sequence);
}

/// Where a `pay` transaction of its own stands, another number could pay twice.
bool paid_or_reverted_itself(const Payment& payment) {
  return std::any_of(payment.slots.begin(), payment.slots.end(), [&](const SlotRow& row) {
    return row.slot.state == SlotState::consumed && row.slot.consumed_by &&
           domain::own_pay(payment.attempts, *row.slot.consumed_by) != nullptr;
  });
}

}  // namespace

Result<Reservation> plan_reservation(Txn& txn, const Payment& payment,
                                     const ReservationWish& wish) {
  if (payment.slots.empty()) return plan_fresh(txn, payment, wish);
  const SlotRow& newest = payment.slots.back();
  if (newest.slot.state == SlotState::released) {
    auto again = plan_rebinding(txn, payment, newest.slot, wish);
    const bool unusable = again.has_error() &&
                          again.error().code == make_error_code(StoreError::released_slot_unusable);
    if (unusable && wish.fresh_if_unusable) return plan_fresh(txn, payment, wish);
    return again;
  }
  if (newest.slot.state != SlotState::consumed) {
    return Reservation{true, newest.account_row, newest.slot, newest.epoch, newest.is_lowest};
  }
  if (paid_or_reverted_itself(payment)) {
    return refuse(StoreError::not_signable, "a transaction of this payment stands at number " +
                                                std::to_string(newest.slot.sequence.value) +
                                                ": no other may be signed");
  }
  return plan_fresh(txn, payment, wish);
}

void write_reservation(Txn& txn, Payment& payment, const Reservation& reservation,
                       std::int64_t now_ms) {
  if (reservation.is_there) return;
  SlotRow row;
  row.slot = reservation.slot;
  row.account_row = reservation.account_row;
  row.epoch = reservation.epoch;
  row.is_lowest = reservation.is_lowest;
  row.item_row = payment.row.row;
  execute(txn,
          "INSERT INTO slots (account, sequence, state, standing, item, handed_over, created_ms,"
          " updated_ms) VALUES ($1, $2, $3, 'open', $4, 0, $5, $5)",
          row.account_row, row.slot.sequence, domain::to_text(row.slot.state), payment.row.row,
          now_ms);
  row.slot.id = {txn.db().last_rowid()};
  payment.slots.push_back(std::move(row));
}

Result<domain::Facts> reserve_slot(Txn& txn, const domain::IntentId& id, std::uint64_t version,
                                   const domain::Receipt& receipt,
                                   std::span<const Candidate> candidates,
                                   std::uint32_t max_unconsumed, std::int64_t now_ms) {
  auto payment = load_payment(txn, id);
  if (!payment) return refuse(StoreError::not_found, "there is no payment " + text(id));
  if (payment->intent().version != version) {
    return refuse(StoreError::version_conflict, text(id) + " changed meanwhile");
  }
  if (payment->intent().state != domain::IntentState::settling) {
    return refuse(StoreError::not_signable, text(id) + " is not settling");
  }
  if (payment->row.receipt != receipt) {
    return refuse(StoreError::stale_receipt, "the job of " + text(id) + " is somebody else's now");
  }
  const auto reservation =
      plan_reservation(txn, *payment, {candidates, max_unconsumed, /*fresh_if_unusable=*/false});
  if (reservation.has_error()) return reservation.error();
  if (reservation->is_there) return std::move(*payment).facts();
  write_reservation(txn, *payment, *reservation, now_ms);
  save_version(txn, payment->row, now_ms);
  return std::move(*payment).facts();
}

}  // namespace holdfast::store
