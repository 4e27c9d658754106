#include "http/x402/standing.hpp"

namespace holdfast::http::x402 {

Next next_for(const engine::Standing& standing) {
  using domain::IntentState;
  const IntentState state = standing.intent.state;
  if (standing.included || state == IntentState::settled) return Next::succeed;
  if (domain::is_terminal(state)) return Next::refuse;
  if (standing.hash) return Next::pending;
  return state == IntentState::needs_review ? Next::stuck : Next::give_up;
}

}  // namespace holdfast::http::x402
