#include <holdfast/domain/transitions.hpp>

#include <algorithm>
#include <iterator>

#include "domain/aligned_text.hpp"
#include "domain/enum_text.hpp"
#include "domain/error_category.hpp"

namespace holdfast::domain {
namespace {

using enum IntentState;

constexpr Actor api_only[] = {Actor::api};
constexpr Actor api_operator_system[] = {Actor::api, Actor::operator_, Actor::system};
constexpr Actor relayer_only[] = {Actor::relayer};
constexpr Actor relayer_listener[] = {Actor::relayer, Actor::listener};
constexpr Actor listener_only[] = {Actor::listener};
constexpr Actor operator_only[] = {Actor::operator_};

constexpr Effect post_and_end = Effect::journal_post | Effect::end_slot;
constexpr Effect void_and_end = Effect::journal_void | Effect::end_slot;

// `reserve` is meant on ordered chains only, and in authorized → settling not when the money was
// already moved by someone else: the write that takes the move knows both, the table knows neither.
constexpr Transition table[] = {
    {created, authorized, api_only, Need::none, Effect::enqueue_settle},
    {created, canceled, api_operator_system, Need::reason, Effect::none},
    {authorized, settling, relayer_only, Need::none, Effect::journal_hold | Effect::reserve},
    {authorized, canceled, api_operator_system, Need::reason, Effect::none},
    {settling, confirming, relayer_listener, Need::tx_hash, Effect::none},
    {settling, failed, relayer_only, Need::reason | Need::unredeemable, void_and_end},
    {settling, needs_review, relayer_only, Need::reason, Effect::release_unsigned},
    {confirming, settled, listener_only, Need::tx_hash | Need::final_evidence, post_and_end},
    {confirming, settling, listener_only, Need::reason, Effect::enqueue_settle},
    {confirming, failed, listener_only, Need::tx_hash | Need::reason | Need::unredeemable,
     void_and_end},
    {confirming, needs_review, listener_only, Need::reason, Effect::none},
    {needs_review, confirming, listener_only, Need::tx_hash, Effect::none},
    {needs_review, confirming, operator_only, Need::tx_hash | Need::reason, Effect::none},
    {needs_review, settling, operator_only, Need::reason | Need::no_attempt,
     Effect::enqueue_settle | Effect::reserve},
    {needs_review, settled, operator_only, Need::tx_hash | Need::final_evidence | Need::reason,
     post_and_end},
    {needs_review, failed, operator_only, Need::reason | Need::unredeemable, void_and_end},
};

constexpr EnumText<Need> need_texts[] = {
    {Need::tx_hash, "tx_hash"},       {Need::final_evidence, "final_evidence"},
    {Need::reason, "reason"},         {Need::unredeemable, "unredeemable"},
    {Need::no_attempt, "no_attempt"},
};

constexpr EnumText<Effect> effect_texts[] = {
    {Effect::enqueue_settle, "enqueue_settle"},
    {Effect::journal_hold, "journal_hold"},
    {Effect::reserve, "reserve"},
    {Effect::journal_post, "journal_post"},
    {Effect::journal_void, "journal_void"},
    {Effect::end_slot, "end_slot"},
    {Effect::release_unsigned, "release_unsigned"},
};

constexpr std::string_view reasons[] = {
    "outcome_unknown", "no_receipt", "budget_spent", "released_slot_unusable",
    "foreign_use",     "grace_over", "gap_filled",   "transfer_mismatch",
};

void add_to_list(std::string& list, std::string_view word) {
  if (!list.empty()) list += ", ";
  list += word;
}

template <class Flag, std::size_t N>
std::string flags_as_text(const EnumText<Flag> (&texts)[N], Flag set) {
  std::string out;
  for (const EnumText<Flag>& row : texts) {
    if (has(set, row.value)) add_to_list(out, row.text);
  }
  return out.empty() ? "-" : out;
}

std::string actors_as_text(std::span<const Actor> actors) {
  std::string out;
  for (const Actor actor : actors) add_to_list(out, to_text(actor));
  return out;
}

Need brought(const Offer& offer) {
  Need out = Need::none;
  if (offer.reason) out = out | Need::reason;
  if (offer.tx_hash) out = out | Need::tx_hash;
  if (offer.final_evidence) out = out | Need::final_evidence;
  if (offer.unredeemable) out = out | Need::unredeemable;
  if (offer.no_attempt) out = out | Need::no_attempt;
  return out;
}

std::string missing(Need needs, Need offered) {
  std::string out;
  for (const EnumText<Need>& row : need_texts) {
    if (has(needs, row.value) && !has(offered, row.value)) add_to_list(out, row.text);
  }
  return out;
}

std::string move_text(IntentState from, IntentState to) {
  return std::string(to_text(from)).append(" to ").append(to_text(to));
}

constexpr EnumText<TransitionError> error_texts[] = {
    {TransitionError::illegal_move, "no such move between states"},
    {TransitionError::wrong_actor, "the move is not this actor's"},
    {TransitionError::missing_need, "the move lacks something it needs"},
    {TransitionError::terminal, "the payment has ended"},
    {TransitionError::version_conflict, "the payment changed meanwhile"},
};

}  // namespace

boost::system::error_code make_error_code(TransitionError error) {
  static const TextCategory category("holdfast.transition", error_texts);
  return {static_cast<int>(error), category};
}

std::span<const Transition> transitions() { return table; }

std::string transitions_as_text() {
  AlignedText text({"from", "to", "by", "needs", "effects"});
  for (const Transition& row : table) {
    text.add({std::string(to_text(row.from)), std::string(to_text(row.to)),
              actors_as_text(row.actors), flags_as_text(need_texts, row.needs),
              flags_as_text(effect_texts, row.effects)});
  }
  return text.str();
}

Result<std::optional<Transition>> check_transition(IntentState from, IntentState to,
                                                   const Offer& offer) {
  if (from == to) return std::optional<Transition>{};
  if (is_terminal(from)) {
    return refuse(TransitionError::terminal,
                  "the payment has ended as " + std::string(to_text(from)));
  }
  const Need offered = brought(offer);
  bool known_move = false;
  for (const Transition& row : table) {
    if (row.from != from || row.to != to) continue;
    known_move = true;
    if (std::find(row.actors.begin(), row.actors.end(), offer.actor) == row.actors.end()) continue;
    // No two rows share move and actor (a test holds the table to it), so this row decides.
    const std::string lacks = missing(row.needs, offered);
    if (lacks.empty()) return std::optional<Transition>{row};
    return refuse(TransitionError::missing_need, move_text(from, to) + " lacks " + lacks);
  }
  if (!known_move) {
    return refuse(TransitionError::illegal_move, "no move leads from " + move_text(from, to));
  }
  return refuse(TransitionError::wrong_actor, move_text(from, to) + " is not a move of actor " +
                                                  std::string(to_text(offer.actor)));
}

std::span<const std::string_view> review_reasons() { return reasons; }

}  // namespace holdfast::domain
