// Owns: the scenes that the tests of decide start from, and short ways to change them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "domain/decide_view.hpp"

namespace holdfast::test {

using namespace holdfast::domain;  // NOLINT(google-build-using-namespace): a scene is all domain

inline constexpr std::int64_t noon_s = 1'700'000'000;
inline constexpr std::int64_t deadline_s = noon_s + 600;
inline constexpr std::int64_t validity_end_s = noon_s + 900;

inline const Address our_account{"0xR"};
inline const Address payer{"0xP"};
inline const Address payee{"0xM"};
inline const AssetId token{"0xT"};

template <class Fixed>
Fixed filled(Byte byte) {
  Fixed out;
  out.value.fill(byte);
  return out;
}
inline TxHash hash(Byte byte) { return filled<TxHash>(byte); }

inline constexpr SlotId slot_id{7};
inline constexpr Sequence slot_sequence{40};

struct Scene {
  Facts facts;
  Seen seen;
  Policy policy;
  Now now;

  Decision decide() const { return decide_by_row({facts, seen, policy, now}); }
  std::string_view row() const { return decide().row; }
  std::string step() const { return std::string(name_of(decide().step)); }
  template <class Step>
  Step take() const {
    const Decision decision = decide();
    const Step* step = std::get_if<Step>(&decision.step);
    return step == nullptr ? Step{} : *step;
  }
  std::string why() const { return take<step::Nack>().why; }

  Scene& past_deadline() {
    now.chain_s = deadline_s;
    now.wall_ms = deadline_s * 1000;
    return *this;
  }
  Scene& clock_jumped() {
    now.wall_ms = (deadline_s + 90'000) * 1000;
    return *this;
  }
  Scene& slot_in(SlotState state) {
    facts.slot =
        Slot{slot_id, {"eip155:1"}, our_account, slot_sequence, state, facts.intent.id, false, {}};
    return *this;
  }
  Scene& simulated(SimulationSeen::Result result, std::string reason = "") {
    seen.simulation = SimulationSeen{result, std::move(reason)};
    return *this;
  }
  Scene& searched(std::vector<HashSeen::Result> results) {
    seen.search.emplace();
    for (std::size_t i = 0; i < results.size(); ++i) {
      seen.search->push_back({results[i], facts.attempts.at(i).id, {}});
    }
    return *this;
  }
  Scene& posted(PostAnswer answer, bool looked_again = false) {
    seen.post = PostSeen{answer, facts.attempts.back().id, looked_again};
    return *this;
  }
  Scene& authorization(AuthorizationSeen::Result result, bool is_final = false,
                       std::optional<MinedTx> tx = {}) {
    seen.authorization = AuthorizationSeen{result, std::move(tx), is_final, {}};
    return *this;
  }
  /// An attempt with bytes and a hash (of its id), at the current slot.
  Scene& attempt(AttemptOutcome outcome = AttemptOutcome::stored,
                 AttemptKind kind = AttemptKind::pay) {
    Attempt out;
    out.id = {static_cast<std::int64_t>(facts.attempts.size()) + 1};
    out.intent = facts.intent.id;
    if (facts.slot) out.slot = facts.slot->id;
    out.kind = kind;
    out.bytes = {1, 2, 3};
    out.hash = hash(static_cast<Byte>(out.id.value));
    out.outcome = outcome;
    out.stored_ms = facts.intent.settling_ms;
    facts.attempts.push_back(out);
    return *this;
  }
  Scene& consumer(std::optional<MinedTx> tx) {
    seen.consumer = ConsumerSeen{std::move(tx), slot_id, false};
    return *this;
  }
};

inline Scene scene(IntentState state, bool bearer) {
  Scene out;
  Intent& intent = out.facts.intent;
  intent.id = filled<IntentId>(0xa1);
  intent.ref = filled<Ref>(0xb2);
  intent.terms = {{"eip155:1"}, token,  bearer ? payer : our_account,
                  payee,        {1000}, {bearer ? "transfer_authorization" : "payout"}};
  intent.bearer = bearer;
  intent.state = state;
  intent.validity = {noon_s - 60, validity_end_s};
  if (bearer) {
    intent.authorization = Authorization{filled<Nonce>(0xb2), intent.validity, {1}};
  }
  intent.settling_ms = (noon_s - 10) * 1000;
  intent.publish_before_s = deadline_s;
  out.now = {noon_s * 1000, noon_s, {}, 0, 0, 0};
  out.facts.slot_is_lowest = true;
  return out;
}

inline Scene authorized(bool bearer = true) { return scene(IntentState::authorized, bearer); }

/// Claimed, nothing signed.
inline Scene claimed(bool bearer = false) {
  Scene out = scene(IntentState::settling, bearer);
  out.facts.slots_taken = 1;
  return out.slot_in(SlotState::reserved);
}

/// One attempt stored at the slot.
inline Scene signed_scene(bool bearer = false, SlotState state = SlotState::signed_) {
  return claimed(bearer).slot_in(state).attempt();
}

/// A transaction of our account at the slot that moves nothing.
inline MinedTx mined(Byte byte) {
  MinedTx out;
  out.hash = hash(byte);
  out.block = {100, filled<BlockHash>(0xcc)};
  out.block_time_s = noon_s;
  out.succeeded = true;
  out.sender = our_account;
  out.sequence = slot_sequence;
  return out;
}

/// The payer's authorization, used for this transfer.
inline MinedTx use_of_authorization(Byte byte, const Address& to = payee, Amount amount = {1000}) {
  MinedTx out = mined(byte);
  out.sender = {"0xSomebody"};
  out.authorizations = {{token, payer, filled<Nonce>(0xb2), false, 0}};
  out.transfers = {{token, payer, to, amount, 1}};
  return out;
}

inline MinedTx cancellation(Byte byte) {
  MinedTx out = mined(byte);
  out.sender = payer;
  out.authorizations = {{token, payer, filled<Nonce>(0xb2), true, 0}};
  return out;
}

}  // namespace holdfast::test
