#include "evm/endpoint_health.hpp"

#include <algorithm>

#include <holdfast/base/ensure.hpp>

namespace holdfast::evm {
namespace {

using enum EndpointState;
using enum EndpointEvent;
using Effect = HealthEffect;

constexpr HealthRule rules[] = {
    // Before it has said which chain it serves, no answer of it counts, so none changes anything.
    {unproven, answered, Effect::none, unproven},
    {unproven, limited, Effect::postpone, unproven},
    {unproven, failed, Effect::none, unproven},
    {unproven, right_chain, Effect::prove, usable},
    {unproven, wrong_chain, Effect::back_off, quarantined},
    {unproven, probe_failed, Effect::back_off, set_aside},
    {unproven, fell_behind, Effect::none, unproven},
    {unproven, caught_up, Effect::none, unproven},

    {usable, answered, Effect::forgive, usable},
    {usable, limited, Effect::postpone, usable},
    {usable, failed, Effect::count, set_aside},
    {usable, right_chain, Effect::prove, usable},
    {usable, wrong_chain, Effect::back_off, quarantined},
    {usable, probe_failed, Effect::count, set_aside},
    {usable, fell_behind, Effect::back_off, behind},
    {usable, caught_up, Effect::none, usable},

    // Only the right chain id brings it back: what answers again may be another node than before.
    {set_aside, answered, Effect::none, set_aside},
    {set_aside, limited, Effect::postpone, set_aside},
    {set_aside, failed, Effect::none, set_aside},
    {set_aside, right_chain, Effect::prove, usable},
    {set_aside, wrong_chain, Effect::back_off, quarantined},
    {set_aside, probe_failed, Effect::back_off, set_aside},
    {set_aside, fell_behind, Effect::none, set_aside},
    {set_aside, caught_up, Effect::none, set_aside},

    // The right chain as it was is not enough: it must show a block that the others have.
    {behind, answered, Effect::none, behind},
    {behind, limited, Effect::postpone, behind},
    {behind, failed, Effect::none, behind},
    {behind, right_chain, Effect::none, behind},
    {behind, wrong_chain, Effect::back_off, quarantined},
    {behind, probe_failed, Effect::back_off, set_aside},
    {behind, fell_behind, Effect::back_off, behind},
    {behind, caught_up, Effect::prove, usable},

    // A quarantined endpoint that falls silent is not known to be repaired.
    {quarantined, answered, Effect::none, quarantined},
    {quarantined, limited, Effect::postpone, quarantined},
    {quarantined, failed, Effect::none, quarantined},
    {quarantined, right_chain, Effect::prove, usable},
    {quarantined, wrong_chain, Effect::back_off, quarantined},
    {quarantined, probe_failed, Effect::back_off, quarantined},
    {quarantined, fell_behind, Effect::none, quarantined},
    {quarantined, caught_up, Effect::none, quarantined},
};

constexpr std::uint32_t most_doublings = 6;  // 32 s, cut to the longest

void back_off(EndpointHealth& health, std::int64_t now_ms) {
  const std::int64_t wait_ms = first_back_off_ms << std::min(health.probes_failed, most_doublings);
  ++health.probes_failed;
  health.probe_due_ms = now_ms + std::min(wait_ms, longest_back_off_ms);
}

bool is_of_a_probe(EndpointEvent event) {
  return event == right_chain || event == wrong_chain || event == probe_failed ||
         event == caught_up;
}

void count(EndpointHealth& health, const HealthRule& rule, std::int64_t now_ms) {
  if (health.last_failure_ms != now_ms) ++health.failures;
  health.last_failure_ms = now_ms;
  if (health.failures >= failures_until_aside) {
    health.state = rule.next;
    health.probes_failed = 0;
    back_off(health, now_ms);
  } else if (rule.event == probe_failed) {
    health.probe_due_ms = now_ms + first_back_off_ms;
  }
}

}  // namespace

std::string_view to_text(EndpointState state) {
  switch (state) {
    case unproven: return "unproven";
    case usable: return "usable";
    case set_aside: return "set aside";
    case behind: return "behind";
    case quarantined: return "quarantined";
  }
  return "";
}

std::string_view to_text(EndpointEvent event) {
  switch (event) {
    case answered: return "answered";
    case limited: return "limited";
    case failed: return "failed";
    case right_chain: return "right chain";
    case wrong_chain: return "wrong chain";
    case probe_failed: return "probe failed";
    case fell_behind: return "fell behind";
    case caught_up: return "caught up";
  }
  return "";
}

std::span<const HealthRule> health_rules() { return rules; }

EndpointHealth after(EndpointHealth health, EndpointEvent event, std::int64_t now_ms) {
  const auto* const rule = std::ranges::find_if(rules, [&](const HealthRule& one) {
    return one.state == health.state && one.event == event;
  });
  ensure(rule != std::end(rules), "an endpoint's state and event without a rule");
  if (is_of_a_probe(event)) health.probed_ms = now_ms;
  switch (rule->effect) {
    case Effect::count: count(health, *rule, now_ms); return health;
    case Effect::prove:
      health = {};
      health.probed_ms = now_ms;
      health.probe_due_ms = now_ms + proof_lasts_ms;
      break;
    case Effect::back_off:
      if (health.state != rule->next) health.probes_failed = 0;
      back_off(health, now_ms);
      break;
    case Effect::postpone:
      health.probed_ms = now_ms;
      health.probe_due_ms = std::max(health.probe_due_ms, now_ms + desperate_ms);
      break;
    case Effect::forgive: health.failures = 0; break;
    case Effect::none: break;
  }
  health.state = rule->next;
  return health;
}

bool probe_is_due(const EndpointHealth& health, std::int64_t now_ms, bool any_usable) {
  if (now_ms >= health.probe_due_ms) return true;
  const bool asked = health.state != unproven;
  return !any_usable && asked && now_ms - health.probed_ms >= desperate_ms;
}

}  // namespace holdfast::evm
