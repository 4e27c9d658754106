// The rows of an authorized payment: nothing is written for it but the claim, or its end.
#include <algorithm>

#include "base/teeth.hpp"
#include "domain/decide_view.hpp"

namespace holdfast::domain {
namespace {

std::optional<Step> used_exactly(const View& view) {
  if (!view.bearer() || view.use() != Use::exactly) return std::nullopt;
  return step::ClaimPaid{*view.seen.authorization->tx};
}

// A store that was put back from a backup may have forgotten that it paid: the ref says so. That no
// transfer was logged proves nothing of a token that logs none: the payment follows its
// transaction, and what that moved is judged at finality. A transaction that failed moved nothing,
// and leaves the payment to be made.
std::optional<Step> paid_before(const View& view) {
  if (view.facts.ref_found_in.empty()) return std::nullopt;
  if (view.bearer()) {
    if (auto step = view.read_use_first()) return step;
    const MinedTx* const tx = view.lost_use();
    return tx == nullptr ? std::nullopt : std::optional<Step>(step::ClaimPaid{*tx});
  }
  if (!view.seen.ref_found) return step::ReadRefFound{};
  if (view.seen.ref_found->is_replaced) return std::nullopt;
  // This may have paid it, so the deadline ends nothing before it was read. Canceled as expired,
  // the payment would be made once more under another key.
  if (!view.seen.ref_found->tx) return view.nack(view.why_no_ref());
  const MinedTx& tx = *view.seen.ref_found->tx;
  if (!tx.succeeded) return view.failed_ref_may_yet_pay();
  return step::ClaimPaid{tx};
}

// Nobody was asked to act, so a cancel is safe where a later state would need a proof.
std::optional<Step> budget_spent(const View& view) {
  if (!view.budget_is_spent()) return std::nullopt;
  return step::Cancel{"budget_spent"};
}

std::optional<Step> cancel_asked(const View& view) {
  if (!view.intent().cancel_asked) return std::nullopt;
  return step::Cancel{"cancel_asked"};
}

std::optional<Step> past_deadline(const View& view) {
  if (!view.past_deadline_unsigned()) return std::nullopt;
  if (view.bearer()) {
    if (auto step = view.read_use_first()) return step;
  }
  return step::Cancel{"expired"};
}

// A wall clock that jumped ends no payment; it only keeps the first bytes from being posted late.
std::optional<Step> late_by_wall_clock(const View& view) {
  if (view.still_wanted()) return std::nullopt;
  return view.nack("late_by_wall_clock");
}

std::optional<Step> no_send_slot(const View& view) {
  if (!view.seen.send_slot) return step::TakeSendSlot{};
  if (!view.seen.send_slot->blocked) return std::nullopt;
  const Blocked why = *view.seen.send_slot->blocked;
  const bool for_room = why == Blocked::account_full || why == Blocked::throttled;
  return for_room ? view.nack_for_room(std::string(to_text(why)))
                  : view.nack(std::string(to_text(why)));
}

// An opaque sender takes an order: there is no call of ours to simulate.
std::optional<Step> simulation(const View& view) {
  if (view.policy.opaque) return std::nullopt;
  if (!view.seen.simulation) return step::Simulate{};
  if (view.seen.simulation->result != SimulationSeen::Result::unknown) return std::nullopt;
  return view.nack("simulation_unreadable");
}

std::optional<Step> over_gas_cap(const View& view) {
  if (!view.refused() || view.seen.simulation->result != SimulationSeen::Result::over_gas_cap) {
    return std::nullopt;
  }
  return step::Cancel{view.refusal()};
}

// Why the contract refuses a bearer authorization is asked of the chain, not read from its text.
std::optional<Step> refused_as_used(const View& view) {
  if (!view.refused() || !view.bearer()) return std::nullopt;
  switch (view.use()) {
    case Use::unread: return step::ReadAuthorization{};
    case Use::unknown:
    case Use::exactly: return view.nack("authorization_unreadable");
    case Use::unused: return std::nullopt;
    case Use::otherwise:
    case Use::canceled: break;
  }
  if (!view.use_is_final()) return view.nack("authorization_not_final");
  return step::Cancel{view.give_up_reason()};
}

std::optional<Step> refused_for_good(const View& view) {
  if (!view.refused()) return std::nullopt;
  if (view.not_yet_valid()) return view.nack("not_yet_valid");
  return step::Cancel{view.refusal()};
}

std::optional<Step> claim(const View&) {
  if (planted(Tooth::sign_before_claim)) return step::SignAndStore{};
  return step::Claim{};
}

constexpr Row rows[] = {
    {"authorized: the authorization was used in exactly this transfer", used_exactly},
    {"authorized: paid before, by what this store lost", paid_before},
    {"authorized: delivery budget spent", budget_spent},
    {"authorized: cancel asked", cancel_asked},
    {"authorized: past its publish deadline", past_deadline},
    {"authorized: past its publish deadline by the wall clock alone", late_by_wall_clock},
    {"authorized: no send slot", no_send_slot},
    {"authorized: simulation", simulation},
    {"authorized: over the gas cap", over_gas_cap},
    {"authorized: refused, used on other terms or canceled", refused_as_used},
    {"authorized: refused by the contract for good", refused_for_good},
    {"authorized: otherwise", claim},
};

}  // namespace

std::span<const Row> authorized_rows() { return rows; }

}  // namespace holdfast::domain
