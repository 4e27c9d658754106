#include "http/routes.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace holdfast::http {
namespace {

// What a key sees is its own, but with `ops`: everybody's. Creating asks for `pay` or `payout` by
// the method in its body. Balances and events tell of everybody, so only `ops` has them.
constexpr std::array<Route, 30> table = {{
    {"POST", "/v1/payment_intents", Action::create_intent, "pay payout"},
    {"GET", "/v1/payment_intents", Action::list_intents, "pay payout x402 ops",
     "state limit cursor"},
    {"GET", "/v1/payment_intents/{id}", Action::find_intent, "pay payout x402 ops",
     "wait timeout_s"},
    {"POST", "/v1/payment_intents/{id}/authorize", Action::authorize_intent, "pay"},
    {"POST", "/v1/payment_intents/{id}/cancel", Action::cancel_intent, "pay payout"},
    {"POST", "/v1/payment_intents/{id}/abandon", Action::abandon_intent, "ops"},
    {"GET", "/v1/payment_refs/{ref}", Action::find_ref, "pay payout x402 ops"},
    {"GET", "/v1/balances", Action::list_balances, "ops", "limit"},
    {"GET", "/v1/events", Action::list_events, "ops", "after limit"},
    {"GET", "/v1/chains", Action::list_chains, "pay payout x402 ops"},
    {"POST", "/v1/keys", Action::add_key, "ops"},
    {"GET", "/v1/keys", Action::list_keys, "ops"},
    {"DELETE", "/v1/keys/{name}", Action::revoke_key, "ops"},
    {"GET", "/v1/dead_letters", Action::list_dead_letters, "ops", "open limit cursor"},
    {"GET", "/v1/dead_letters/{n}", Action::find_dead_letter, "ops"},
    {"POST", "/v1/dead_letters/{n}/redrive", Action::redrive_dead_letter, "ops"},
    {"POST", "/v1/dead_letters/{n}/drop", Action::drop_dead_letter, "ops"},
    {"GET", "/v1/reviews", Action::list_reviews, "ops", "limit cursor"},
    {"GET", "/v1/reviews/{id}", Action::find_review, "ops"},
    {"POST", "/v1/payment_intents/{id}/resolve", Action::resolve_intent, "ops"},
    {"GET", "/v1/accounts", Action::list_accounts, "ops"},
    {"POST", "/v1/accounts/{chain}/{address}/reconcile", Action::reconcile_account, "ops"},
    {"POST", "/v1/accounts/{chain}/{address}/adopt", Action::adopt_account, "ops"},
    {"POST", "/v1/chains/{chain}/acknowledge", Action::acknowledge_chain, "ops"},
    {"GET", "/healthz", Action::health, ""},
    {"GET", "/readyz", Action::readiness, ""},
    {"GET", "/metrics", Action::metrics, ""},
    {"GET", "/x402/supported", Action::x402_supported, "x402"},
    {"POST", "/x402/verify", Action::x402_verify, "x402"},
    {"POST", "/x402/settle", Action::x402_settle, "x402"},
}};

constexpr std::string_view x402_root = "/x402";

using Segments = std::span<const std::string>;

/// What stands for each "{…}" when the path has this shape; nothing where it has another.
std::optional<std::vector<std::string>> match(std::string_view shape, Segments path) {
  std::vector<std::string> parameters;
  for (const std::string& segment : path) {
    if (shape.empty() || shape.front() != '/') return std::nullopt;
    shape.remove_prefix(1);
    const std::string_view wanted = shape.substr(0, shape.find('/'));
    shape.remove_prefix(wanted.size());
    if (wanted.starts_with('{')) {
      if (segment.empty()) return std::nullopt;
      parameters.push_back(segment);
    } else if (wanted != segment) {
      return std::nullopt;
    }
  }
  if (!shape.empty()) return std::nullopt;
  return parameters;
}

/// The same for a route under the facilitator's base path.
std::optional<std::vector<std::string>> match_x402(
    std::string_view shape, Segments path, const std::optional<std::vector<std::string>>& base) {
  if (!base || path.size() < base->size()) return std::nullopt;
  if (!std::ranges::equal(path.first(base->size()), *base)) return std::nullopt;
  return match(shape.substr(x402_root.size()), path.subspan(base->size()));
}

}  // namespace

bool is_x402(const Route& route) { return route.path.starts_with(x402_root); }

std::span<const Route> routes() { return table; }

bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(' '));
    if (one == word) return true;
    list.remove_prefix(std::min(one.size() + 1, list.size()));
  }
  return false;
}

bool needs_idempotency_key(const Route& route) {
  return route.method == "POST" && route.path.starts_with("/v1/");
}

Found find_route(std::string_view method, const std::vector<std::string>& path,
                 const std::optional<std::vector<std::string>>& x402_base) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Found found;
  if (path.empty()) return found;
  for (const Route& route : table) {
    auto parameters =
        is_x402(route) ? match_x402(route.path, path, x402_base) : match(route.path, path);
    if (!parameters) continue;
    if (route.method == wanted) return {&route, std::move(*parameters), {}};
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method;
    if (route.method == "GET") found.allowed += ", HEAD";
  }
  if (!found.allowed.empty()) found.allowed += ", OPTIONS";
  return found;
}

}  // namespace holdfast::http
