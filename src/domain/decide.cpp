#include <holdfast/domain/decide.hpp>

#include "domain/decide_view.hpp"
#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<Blocked> blocked_texts[] = {
    {Blocked::throttled, "throttled"}, {Blocked::node_down, "node_down"},
    {Blocked::paused, "paused"},       {Blocked::account_full, "account_full"},
    {Blocked::unfunded, "unfunded"},
};

constexpr EnumText<PostAnswer> answer_texts[] = {
    {PostAnswer::accepted, "accepted"},
    {PostAnswer::nonce_too_low, "nonce_too_low"},
    {PostAnswer::refused_transient, "refused_transient"},
    {PostAnswer::refused_curable, "refused_curable"},
    {PostAnswer::refused_for_good, "refused_for_good"},
    {PostAnswer::not_sent, "not_sent"},
    {PostAnswer::not_its_turn, "not_its_turn"},
    {PostAnswer::unknown, "unknown"},
};

// One name per alternative of Step, in its order.
constexpr std::string_view step_names[] = {
    "take_send_slot",
    "simulate",
    "search_attempts",
    "read_final_sequence",
    "fetch_consumer",
    "read_authorization",
    "read_ref_found",
    "look_again",
    "claim",
    "claim_paid",
    "reserve",
    "reserve_fresh",
    "sign_and_store",
    "ask_sender",
    "post",
    "replace",
    "hand_over",
    "confirm",
    "cancel",
    "fail",
    "review",
    "ack",
    "nack",
};
static_assert(std::size(step_names) == std::variant_size_v<Step>);

// A job with a spent budget is let go here too: authorizing the intent enqueues it again.
std::optional<Step> created(const View& view) {
  if (view.budget_is_spent()) return step::Ack{};
  return view.nack("not_authorized_yet");
}

std::optional<Step> somebody_elses_turn(const View&) { return step::Ack{}; }

constexpr Row created_rows[] = {{"created: the job came before the signature", created}};
constexpr Row later_rows[] = {{"confirming and later: nothing to do", somebody_elses_turn}};

std::span<const Row> rows_of(IntentState state) {
  switch (state) {
    case IntentState::created: return created_rows;
    case IntentState::authorized: return authorized_rows();
    case IntentState::settling: return settling_rows();
    case IntentState::confirming:
    case IntentState::settled:
    case IntentState::failed:
    case IntentState::canceled:
    case IntentState::needs_review: return later_rows;
  }
  return later_rows;
}

}  // namespace

std::string_view to_text(Blocked why) { return text_of(blocked_texts, why); }
std::string_view to_text(PostAnswer answer) { return text_of(answer_texts, answer); }
std::string_view name_of(const Step& step) { return step_names[step.index()]; }

namespace {

/// An end that is proved by nothing more being on record: no attempt row of any kind, or none but
/// those whose numbers are used. An authorization that is dead on the chain needs no record.
bool ends_by_absence(const Step& step) {
  if (std::holds_alternative<step::Cancel>(step)) return true;
  const auto* const fail = std::get_if<step::Fail>(&step);
  return fail != nullptr && !std::holds_alternative<AuthorizationDead>(fail->proof);
}

// What holds for every row.
Step checked(const View& view, Step step) {
  // A store that was put back has forgotten some of what it signed: that nothing is on record
  // proves nothing until an operator has answered for it.
  if (view.now.is_restored && ends_by_absence(step)) return view.nack("store_restored");
  // Somebody else may have used the authorization meanwhile: then nobody need be asked.
  // Not where the budget is spent: reading may be what ended its deliveries.
  const bool for_a_person = std::holds_alternative<step::Review>(step) && !view.budget_is_spent();
  if (for_a_person && view.bearer() && view.use() == Use::unread) return step::ReadAuthorization{};
  return step;
}

}  // namespace

Decision decide_by_row(const View& view) {
  for (const Row& row : rows_of(view.intent().state)) {
    if (auto step = row.match(view)) return {row.name, checked(view, std::move(*step))};
  }
  ensure(false, "a delivery matched no row");
  return {};
}

Step decide(const Facts& facts, const Seen& seen, const Policy& policy, const Now& now) {
  return decide_by_row({facts, seen, policy, now}).step;
}

}  // namespace holdfast::domain
