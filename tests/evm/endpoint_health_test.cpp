// The table of an endpoint's health, and the times in it. Nothing is asked here.
#include <set>
#include <utility>

#include <doctest/doctest.h>

#include "evm/endpoint_health.hpp"

namespace holdfast::evm {
namespace {

using enum EndpointState;
using enum EndpointEvent;

constexpr EndpointState states[] = {unproven, usable, set_aside, behind, quarantined};
constexpr EndpointEvent events[] = {answered,    limited,      failed,      right_chain,
                                    wrong_chain, probe_failed, fell_behind, caught_up};

EndpointHealth in_state(EndpointState state) {
  EndpointHealth health;
  health.state = state;
  return health;
}

struct Row {
  EndpointState from;
  EndpointEvent event;
  EndpointState to;
};

}  // namespace

TEST_CASE("endpoint health: the table has each state and event once") {
  std::set<std::pair<EndpointState, EndpointEvent>> seen;
  for (const HealthRule& rule : health_rules()) {
    CHECK(seen.insert({rule.state, rule.event}).second);
  }
  CHECK(seen.size() == std::size(states) * std::size(events));
}

TEST_CASE(
    "endpoint health: only the right chain id, and a late one's newest block, make it usable") {
  for (const EndpointState state : states) {
    for (const EndpointEvent event : events) {
      const EndpointState next = after(in_state(state), event, 5).state;
      CAPTURE(to_text(state));
      CAPTURE(to_text(event));
      if (event == (state == behind ? caught_up : right_chain)) {
        CHECK(next == usable);
      } else if (event == wrong_chain) {
        CHECK(next == quarantined);
      } else if (state != usable) {
        CHECK(next != usable);
      }
    }
  }
}

TEST_CASE("endpoint health: what changes the state, and what does not") {
  for (const Row& row :
       {Row{unproven, failed, unproven}, Row{unproven, probe_failed, set_aside},
        Row{usable, answered, usable}, Row{usable, limited, usable}, Row{usable, failed, usable},
        Row{set_aside, answered, set_aside}, Row{set_aside, probe_failed, set_aside},
        Row{usable, fell_behind, behind}, Row{behind, right_chain, behind},
        Row{behind, probe_failed, set_aside}, Row{behind, failed, behind},
        Row{set_aside, fell_behind, set_aside}, Row{quarantined, caught_up, quarantined},
        Row{quarantined, answered, quarantined}, Row{quarantined, probe_failed, quarantined}}) {
    CAPTURE(to_text(row.from));
    CAPTURE(to_text(row.event));
    CHECK(after(in_state(row.from), row.event, 5).state == row.to);
  }
}

TEST_CASE("endpoint health: three failures in a row set it aside, and an answer forgives two") {
  EndpointHealth health = after(in_state(unproven), right_chain, 0);
  health = after(health, failed, 1);
  health = after(health, failed, 2);
  CHECK(health.state == usable);
  health = after(health, answered, 3);
  health = after(health, failed, 4);
  health = after(health, failed, 5);
  CHECK(health.state == usable);
  health = after(health, failed, 6);
  CHECK(health.state == set_aside);
  CHECK(health.probe_due_ms == 6 + first_back_off_ms);
}

TEST_CASE("endpoint health: the calls of one exchange fail together, and that counts once") {
  EndpointHealth health = after(in_state(unproven), right_chain, 0);
  for (int call = 0; call < 100; ++call) health = after(health, failed, 7);
  CHECK(health.state == usable);
  CHECK(health.failures == 1);
}

TEST_CASE("endpoint health: probes that fail come ever later, thirty seconds apart at most") {
  EndpointHealth health = in_state(unproven);
  std::int64_t now_ms = 1'000;
  std::int64_t expected_ms = first_back_off_ms;
  for (int probe = 0; probe < 20; ++probe) {
    health = after(health, probe_failed, now_ms);
    CHECK(health.probe_due_ms - now_ms == expected_ms);
    now_ms = health.probe_due_ms;
    expected_ms = std::min(expected_ms * 2, longest_back_off_ms);
  }
  health = after(health, right_chain, now_ms);
  CHECK(health.probe_due_ms == now_ms + proof_lasts_ms);
  CHECK(health.failures == 0);
  CHECK(health.probes_failed == 0);
}

TEST_CASE("endpoint health: a probe is due at its time, and sooner where nothing else is usable") {
  CHECK(probe_is_due(in_state(unproven), 0, false));
  EndpointHealth health = in_state(quarantined);
  health.probed_ms = 10'000;
  health.probe_due_ms = 40'000;
  CHECK_FALSE(probe_is_due(health, 39'999, true));
  CHECK(probe_is_due(health, 40'000, true));
  CHECK_FALSE(probe_is_due(health, 10'999, false));
  CHECK(probe_is_due(health, 11'000, false));
  // A rate limit puts it off: who asks for a pause is not asked who it is instead.
  health = after(health, limited, 40'000);
  CHECK_FALSE(probe_is_due(health, 40'999, false));
  CHECK(probe_is_due(health, 41'000, true));
}

}  // namespace holdfast::evm
