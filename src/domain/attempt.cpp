#include <holdfast/domain/attempt.hpp>

#include "base/teeth.hpp"
#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<AttemptKind> kind_texts[] = {
    {AttemptKind::pay, "pay"},
    {AttemptKind::noop, "noop"},
};

constexpr EnumText<AttemptOutcome> outcome_texts[] = {
    {AttemptOutcome::stored, "stored"},   {AttemptOutcome::accepted, "accepted"},
    {AttemptOutcome::refused, "refused"}, {AttemptOutcome::not_sent, "not_sent"},
    {AttemptOutcome::unknown, "unknown"},
};

}  // namespace

const Attempt* own_pay(std::span<const Attempt> attempts, const TxHash& hash) {
  for (const Attempt& attempt : attempts) {
    const bool pays = attempt.kind == AttemptKind::pay || planted(Tooth::noop_pays);
    if (pays && attempt.hash == hash) return &attempt;
  }
  return nullptr;
}

std::string_view to_text(AttemptKind kind) { return text_of(kind_texts, kind); }

std::optional<AttemptKind> attempt_kind_from(std::string_view text) {
  return enum_of(kind_texts, text);
}

std::string_view to_text(AttemptOutcome outcome) { return text_of(outcome_texts, outcome); }

std::optional<AttemptOutcome> attempt_outcome_from(std::string_view text) {
  return enum_of(outcome_texts, text);
}

}  // namespace holdfast::domain
