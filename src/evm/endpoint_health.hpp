// Owns: what an endpoint's answers say about the endpoint: a table of state and event. Pure.
// Must never: count a node's no against it: whoever answers is well, whatever the answer means.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::evm {

enum class EndpointState : std::uint8_t {
  unproven,     ///< not asked yet which chain it serves
  usable,       ///< serves the configured chain, and answers
  set_aside,    ///< does not answer; probed until it does
  behind,  ///< serves the configured chain as it was a while ago; probed until it has caught up
  quarantined,  ///< serves another chain; probed until it is repaired
};
std::string_view to_text(EndpointState state);

enum class EndpointEvent : std::uint8_t {
  answered,  ///< a call was answered: with a result, or with an error of the node's own
  limited,  ///< it asks for fewer calls; says nothing about the endpoint
  failed,  ///< a call got no answer: not connected, time-out, 5xx, not JSON
  right_chain,  ///< it said that it serves the configured chain
  wrong_chain,  ///< it said that it serves another one
  probe_failed,  ///< asked for its chain, or for its newest block while it is behind: no answer
  fell_behind,  ///< it has not got what the others had a while ago
  caught_up,  ///< it has
};
std::string_view to_text(EndpointEvent event);

enum class HealthEffect : std::uint8_t {
  none,
  forgive,  ///< the failures in a row are over
  count,  ///< one more failure in a row; `failures_until_aside` of them change the state
  prove,  ///< everything is forgotten, and the next probe is `proof_lasts_ms` away
  back_off,  ///< the next probe is twice as far away as the last was
  postpone,  ///< a probe that is due comes a little later
};

struct HealthRule {
  EndpointState state;
  EndpointEvent event;
  HealthEffect effect;
  EndpointState next;  ///< for `count`: once there are enough
};
/// Every pair of state and event, once.
std::span<const HealthRule> health_rules();

inline constexpr std::uint32_t failures_until_aside = 3;
inline constexpr std::int64_t proof_lasts_ms = 30'000;
inline constexpr std::int64_t first_back_off_ms = 500;
inline constexpr std::int64_t longest_back_off_ms = 30'000;
/// Where no endpoint at all can be used, each is probed as often as this.
inline constexpr std::int64_t desperate_ms = 1'000;

/// Times are monotonic, in ms.
struct EndpointHealth {
  EndpointState state = EndpointState::unproven;
  std::uint32_t failures = 0;  ///< calls in a row
  std::uint32_t probes_failed = 0;  ///< in a row
  std::int64_t last_failure_ms = -1;
  std::int64_t probed_ms = 0;  ///< when the last probe ended, or was put off
  std::int64_t probe_due_ms = 0;

  bool operator==(const EndpointHealth&) const = default;
};

/// Calls that failed in the same instant were one exchange, and count once.
EndpointHealth after(EndpointHealth health, EndpointEvent event, std::int64_t now_ms);

/// `any_usable`: at least one endpoint of the chain is.
bool probe_is_due(const EndpointHealth& health, std::int64_t now_ms, bool any_usable);

}  // namespace holdfast::evm
