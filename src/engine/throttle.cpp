#include "engine/throttle.hpp"

#include <algorithm>

#include <holdfast/base/ensure.hpp>

namespace holdfast::engine {

namespace {
constexpr std::int64_t one_slot = 1'000;  // thousandths
}

Throttle::Throttle(const ports::Clock& clock, std::uint32_t max_in_flight,
                   std::uint32_t max_per_second)
    : clock_(clock),
      max_in_flight_(max_in_flight),
      max_per_second_(max_per_second),
      in_flight_(std::make_shared<std::uint32_t>(0)),
      credit_(one_slot * max_per_second),
      at_ms_(clock.mono_ms()) {}

std::int64_t Throttle::credit_now() const {
  const std::int64_t full = one_slot * max_per_second_;
  const std::int64_t passed = std::max<std::int64_t>(0, clock_.mono_ms() - at_ms_);
  if (passed >= one_slot) return full;
  return std::min(full, credit_ + passed * max_per_second_);
}

std::optional<Throttle::Slot> Throttle::try_take() {
  const std::int64_t credit = credit_now();
  const bool rate_allows = max_per_second_ == 0 || credit >= one_slot;
  if (*in_flight_ >= max_in_flight_ || !rate_allows) {
    return std::nullopt;
  }
  if (max_per_second_ != 0) {
    credit_ = credit - one_slot;
    at_ms_ = clock_.mono_ms();
  }
  return Slot(in_flight_);
}

std::int64_t Throttle::rate_wait_ms() const {
  if (max_per_second_ == 0) return 0;
  const std::int64_t missing = one_slot - credit_now();
  return missing <= 0 ? 0 : (missing + max_per_second_ - 1) / max_per_second_;
}

Throttle::Slot::Slot(std::shared_ptr<std::uint32_t> in_flight) : in_flight_(std::move(in_flight)) {
  ++*in_flight_;
}

Throttle::Slot& Throttle::Slot::operator=(Slot&& other) noexcept {
  if (this != &other) {
    give_back();
    in_flight_ = std::move(other.in_flight_);
  }
  return *this;
}

void Throttle::Slot::give_back() {
  if (in_flight_ == nullptr) return;
  ensure(*in_flight_ > 0, "a send slot is given back once");
  --*in_flight_;
  in_flight_.reset();
}

}  // namespace holdfast::engine
