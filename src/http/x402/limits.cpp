#include "http/x402/limits.hpp"

#include <algorithm>

namespace holdfast::http::x402 {
namespace {

constexpr std::int64_t one_request = 1'000;
constexpr std::int64_t day_ms = 86'400'000;
/// Of a day's budget, for a payment on a chain whose prices are not known yet.
constexpr std::uint64_t unknown_share = 10;

U256 sum(const U256& left, const U256& right) { return left.plus(right).value_or(U256::max()); }

}  // namespace

std::optional<std::int64_t> take(Bucket& bucket, const Rate& rate, std::int64_t now_ms) {
  if (rate.per_s == 0) return std::nullopt;
  const std::int64_t full = std::int64_t{std::max(rate.burst, 1U)} * one_request;
  const std::int64_t per_ms = rate.per_s;  // a thousandth of a request, in a thousandth of a second
  if (bucket.left < 0) {
    bucket = {full, now_ms};
  }
  // A clock that went back brings nothing, and takes nothing away.
  const std::int64_t passed_ms = std::clamp<std::int64_t>(now_ms - bucket.at_ms, 0, full);
  bucket.left = std::min(full, bucket.left + passed_ms * per_ms);
  bucket.at_ms = now_ms;
  if (bucket.left >= one_request) {
    bucket.left -= one_request;
    return std::nullopt;
  }
  return (one_request - bucket.left + per_ms - 1) / per_ms;
}

GasBudget::Day GasBudget::today(const std::string& caller, const std::string& chain,
                                std::int64_t wall_ms) const {
  const std::int64_t number = wall_ms / day_ms;
  const auto found = days_.find({caller, chain});
  Day day = found == days_.end() ? Day{} : found->second;
  if (number > day.number) day = {number, {}, day.open};
  return day;
}

U256 GasBudget::expected(const std::string& chain) const {
  if (!per_day_) return {};
  const auto dearest = dearest_.find(chain);
  return dearest == dearest_.end() ? *per_day_->divided_by(U256{unknown_share}) : dearest->second;
}

bool GasBudget::has_room(const std::string& caller, const std::string& chain,
                         std::int64_t wall_ms) const {
  if (!per_day_) return true;
  const Day day = today(caller, chain, wall_ms);
  const U256 held = expected(chain).times(U256{day.open + 1}).value_or(U256::max());
  return day.spent < *per_day_ && sum(day.spent, held) <= *per_day_;
}

void GasBudget::begin(const std::string& caller, const std::string& chain, std::int64_t wall_ms) {
  if (!per_day_) return;
  Day day = today(caller, chain, wall_ms);
  ++day.open;
  days_[{caller, chain}] = day;
}

void GasBudget::end(const std::string& caller, const std::string& chain, std::int64_t wall_ms,
                    const U256& cost) {
  if (!per_day_) return;
  Day day = today(caller, chain, wall_ms);
  if (day.open > 0) --day.open;
  day.spent = sum(day.spent, cost);
  days_[{caller, chain}] = day;
  if (cost.is_zero()) return;  // nothing was signed: it tells of no price
  U256& dearest = dearest_[chain];
  dearest = std::max(dearest, cost);
}

}  // namespace holdfast::http::x402
