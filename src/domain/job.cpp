#include <holdfast/domain/job.hpp>

#include <algorithm>

#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<JobKind> kind_texts[] = {{JobKind::settle, "settle"}};

}  // namespace

std::string_view to_text(JobKind kind) { return text_of(kind_texts, kind); }

bool is_lost_part(std::span<const CarriesRef> found, const TxHash& hash) {
  return std::any_of(found.begin(), found.end(),
                     [&](const CarriesRef& each) { return each.hash == hash; });
}

bool stands_on_anothers(const Facts& facts) {
  const Intent& intent = facts.intent;
  return intent.state == IntentState::confirming && intent.tx_hash &&
         own_pay(facts.attempts, *intent.tx_hash) == nullptr;
}

std::string job_id(const Job& job) {
  return text(job.intent).append("/").append(to_text(job.kind));
}

}  // namespace holdfast::domain
