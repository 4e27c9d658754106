#include <holdfast/domain/job.hpp>

#include <algorithm>

#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<JobKind> kind_texts[] = {{JobKind::settle, "settle"}};

}  // namespace

std::string_view to_text(JobKind kind) { return text_of(kind_texts, kind); }

bool is_lost_part(const Facts& facts, const TxHash& hash) {
  return std::any_of(facts.ref_found_in.begin(), facts.ref_found_in.end(),
                     [&](const CarriesRef& each) { return each.hash == hash; });
}

std::string job_id(const Job& job) {
  return text(job.intent).append("/").append(to_text(job.kind));
}

}  // namespace holdfast::domain
