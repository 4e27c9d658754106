// Owns: every JSON text an answer carries.
// Must never: show what a caller may not know (signed bytes, other keys' names, a token twice), or
// anything but what it is given: the same intent is the same text, byte by byte.
//
// A payment intent:
//   id            "pi_" + 32 hex digits
//   ref           "0x" + 64 hex digits: the payment's mark on the chain
//   state         created | authorized | settling | confirming | settled | failed | canceled |
//                 needs_review
//   version       grows with every change
//   chain         CAIP-2, "eip155:8453"
//   method        transfer_authorization | payout
//   asset         the token's address, or "native"
//   payer, payee  addresses
//   amount        decimal text, base units of the asset
//   tx_hash       the transaction it stands on, or null
//   reason        why it stands where it stands, or null
//   cancel_asked  somebody wants out and the rules have not decided yet
//   created_at, updated_at, publish_before   RFC 3339, UTC, milliseconds
//   validity      {after, before} in chain seconds, only where the payer signs
//   typed_data    only in the answer to its creation, only where the payer signs: EIP-712
// A single one has besides: slot, attempts, history, journal.
//
// A dead letter: number, payment_intent, ref, parked_at, verdict (budget_spent | declared_poison),
//   deliveries, lapsed_leases, state (where its payment ended up), state_now, cycles, and `ended`:
//   null while parked, else {as: redriven | dropped, by, why, at}
// A review: a single intent's text, and earlier_slots, found ({tx_hash, height, own, succeeded,
//   moved, arrived, verdict} or null), possible (resolutions the store alone does not rule out)
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engine/engine.hpp>

namespace holdfast::http {

std::string render_problem(std::string_view code, std::string_view detail);

std::string render_intent(const domain::Intent& intent);
/// `typed_data` is the method's JSON text; left out when empty.
std::string render_created(const domain::Intent& intent, std::string_view typed_data);
/// `for_operator`: with the names of who did what.
std::string render_detail(const engine::Detail& detail, bool for_operator);
std::string render_page(const engine::Page& page);
std::string render_balances(std::span<const engine::BalanceItem> items);
/// `next_after` in it is what the next request gives as `after`.
std::string render_events(std::span<const engine::HistoryItem> items, std::int64_t after);
/// `for_operator`: with the reason why one is not usable, which may name a host.
std::string render_chains(std::span<const engine::ChainStatus> chains, bool for_operator);

std::string render_dead_letter(const engine::DeadLetter& letter);
/// After a redrive or a drop: without what may change later, so that a repetition is the same.
std::string render_ended_letter(const engine::DeadLetter& letter);
std::string render_dead_letters(const engine::DeadLetterPage& page);
std::string render_reviews(const engine::Page& page);
std::string render_review(const engine::Review& review);
/// The intent, and in `resolution` what was done.
std::string render_resolved(const engine::Resolved& resolved, domain::Resolution as);
std::string render_accounts(std::span<const engine::AccountStatus> accounts);
std::string render_report(const engine::ReconcileReport& report);
/// `from`: the number its claims go on from.
std::string render_adopted(const engine::AccountStatus& account, domain::Sequence from);
std::string render_acknowledged(const domain::ChainId& chain);

/// The only text that ever holds a token.
std::string render_new_key(const engine::ApiKey& key, std::string_view token);
std::string render_keys(std::span<const engine::ApiKey> keys);
std::string render_revoked(std::string_view name);

std::string render_health();
/// Ready without reasons, not ready with them.
std::string render_readiness(std::span<const std::string> reasons);

}  // namespace holdfast::http
