#include <holdfast/domain/evidence.hpp>

#include <algorithm>
#include <limits>

#include "base/teeth.hpp"

namespace holdfast::domain {
namespace {

bool is_end_of(const AuthorizationEvent& event, const Intent& intent) {
  const bool same_method = event.method.value.empty() || event.method == intent.terms.method;
  return same_method && intent.authorization && event.asset == intent.terms.asset &&
         event.authorizer == intent.terms.payer && event.nonce == intent.authorization->nonce;
}

bool is_use_of(const AuthorizationEvent& event, const Intent& intent) {
  return !event.canceled && is_end_of(event, intent);
}

const AuthorizationEvent* use_in(const Intent& intent, const MinedTx& tx) {
  const auto found = std::find_if(tx.authorizations.begin(), tx.authorizations.end(),
                                  [&](const auto& event) { return is_use_of(event, intent); });
  return found == tx.authorizations.end() ? nullptr : &*found;
}

// One transaction may run many authorizations (a multicall): each owns the transfers up to the
// next use at the same asset, whoever's.
std::uint32_t end_of_use(const AuthorizationEvent& use, const MinedTx& tx) {
  std::uint32_t end = std::numeric_limits<std::uint32_t>::max();
  for (const AuthorizationEvent& event : tx.authorizations) {
    if (event.canceled || event.asset != use.asset || event.index <= use.index) continue;
    end = std::min(end, event.index);
  }
  return end;
}

// The transfers of the payment's asset from its payer, in the order they happened.
std::vector<Transfer> transfers_from_payer(const Terms& terms, const MinedTx& tx) {
  std::vector<Transfer> out;
  for (const Transfer& transfer : tx.transfers) {
    if (transfer.asset == terms.asset && transfer.from == terms.payer) out.push_back(transfer);
  }
  std::sort(out.begin(), out.end(),
            [](const Transfer& left, const Transfer& right) { return left.index < right.index; });
  return out;
}

/// What became of the payment's amount: what the payer sent until the amount was spent, and how
/// much of it reached the payee. A token that takes a fee sends the rest elsewhere, or nowhere.
struct Spent {
  bool over = false;      ///< a transfer went beyond the amount: these are other terms
  std::size_t taken = 0;  ///< transfers that belong to the payment
  Amount arrived;
};

Spent spend(const Terms& terms, const std::vector<Transfer>& transfers) {
  Spent out;
  Amount left = terms.amount;
  for (const Transfer& transfer : transfers) {
    if (left.is_zero()) break;
    const auto rest = left.minus(transfer.amount);
    out.over = !rest;
    if (out.over) break;
    left = *rest;
    ++out.taken;
    // Never over the amount, so the sum fits.
    if (transfer.to == terms.payee) out.arrived = *out.arrived.plus(transfer.amount);
  }
  return out;
}

Evidence judge(const Terms& terms, const Spent& spent) {
  if (spent.over || spent.arrived.is_zero()) return {Moved::other, {}};
  return {spent.arrived == terms.amount ? Moved::exact : Moved::less, spent.arrived};
}

}  // namespace

bool uses_authorization(const Intent& intent, const MinedTx& tx) {
  return tx.succeeded && use_in(intent, tx) != nullptr;
}

bool cancels_authorization(const Intent& intent, const MinedTx& tx) {
  if (!tx.succeeded || !intent.authorization) return false;
  return std::any_of(
      tx.authorizations.begin(), tx.authorizations.end(),
      [&](const AuthorizationEvent& event) { return event.canceled && is_end_of(event, intent); });
}

Evidence evidence_of_authorization(const Intent& intent, const MinedTx& tx) {
  if (!tx.succeeded) return {};
  const AuthorizationEvent* use = use_in(intent, tx);
  if (use == nullptr) return {};
  std::vector<Transfer> own = transfers_from_payer(intent.terms, tx);
  const std::uint32_t end = end_of_use(*use, tx);
  std::erase_if(own, [&](const Transfer& transfer) {
    return transfer.index <= use->index || transfer.index >= end;
  });
  return judge(intent.terms, spend(intent.terms, own));
}

Evidence evidence_of_payout(const Intent& intent, const MinedTx& tx, bool own_hash) {
  if (!tx.succeeded || tx.sender != intent.terms.payer) return {};
  const bool has_ref = tx.trailing_ref == intent.ref || planted(Tooth::others_transfer);
  if (!own_hash && !has_ref) return {};
  const std::vector<Transfer> sent = transfers_from_payer(intent.terms, tx);
  if (sent.empty()) return {};
  const Spent spent = spend(intent.terms, sent);
  // Our bytes hold one transfer: whatever sends more than that is not exactly this payment.
  if (spent.taken < sent.size()) return {Moved::other, {}};
  return judge(intent.terms, spent);
}

}  // namespace holdfast::domain
