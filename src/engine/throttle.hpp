// Owns: how many calls may be under way, and how many may start in a second.
// Must never: make anybody wait: who gets no slot nacks its job and writes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <holdfast/ports/clock.hpp>

namespace holdfast::engine {

class Throttle {
 public:
  /// `max_in_flight` slots at once; at most `max_per_second` given per second, in bursts of up to
  /// one second's worth (0: no such limit). The clock outlives the throttle.
  Throttle(const ports::Clock& clock, std::uint32_t max_in_flight, std::uint32_t max_per_second);

  /// One call under way, given back on destruction. Movable; may outlive the throttle.
  class Slot {
   public:
    Slot(Slot&&) noexcept = default;
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() { give_back(); }

   private:
    friend class Throttle;
    explicit Slot(std::shared_ptr<std::uint32_t> in_flight);
    void give_back();
    std::shared_ptr<std::uint32_t> in_flight_;
  };

  std::optional<Slot> try_take();
  /// How long until the rate allows another, in ms; 0 when it does now or only calls under way are
  /// in the way. A hint for the nack.
  std::int64_t rate_wait_ms() const;

  std::uint32_t in_flight() const { return *in_flight_; }

 private:
  std::int64_t credit_now() const;

  const ports::Clock& clock_;
  std::uint32_t max_in_flight_;
  std::uint32_t max_per_second_;
  std::shared_ptr<std::uint32_t> in_flight_;
  std::int64_t credit_ = 0;  ///< thousandths of a slot: `max_per_second` more each millisecond
  std::int64_t at_ms_ = 0;  ///< when `credit_` was right, monotonic
};

}  // namespace holdfast::engine
