// Owns: the table of routes: method, path, what it does, who may. README's list is made from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

enum class Action {
  create_intent,
  list_intents,
  find_intent,
  authorize_intent,
  cancel_intent,
  abandon_intent,
  find_ref,
  list_balances,
  list_events,
  list_chains,
  add_key,
  list_keys,
  revoke_key,
  list_dead_letters,
  find_dead_letter,
  redrive_dead_letter,
  drop_dead_letter,
  list_reviews,
  find_review,
  resolve_intent,
  list_accounts,
  reconcile_account,
  adopt_account,
  acknowledge_chain,
  health,
  readiness,
  metrics,
  x402_supported,
  x402_verify,
  x402_settle,
};

struct Route {
  std::string_view method;
  /// "{…}" stands for any one segment, a leading "/x402" for the base path of the facilitator; also
  /// the label in the metrics
  std::string_view path;
  Action action;
  /// One of these is needed, parted by blanks; empty: anybody may, without a key.
  std::string_view scopes;
  std::string_view query = "";  ///< the parameters it takes, parted by blanks
};

/// Is `word` among the words of `list`, parted by single blanks?
bool lists(std::string_view list, std::string_view word);

std::span<const Route> routes();

/// A POST under /v1 carries an Idempotency-Key.
bool needs_idempotency_key(const Route& route);

struct Found {
  const Route* route = nullptr;  ///< empty: see `allowed`
  std::vector<std::string> parameters = {};  ///< what stood for each "{…}"
  std::string allowed;  ///< "GET, HEAD, …" of this path; empty when there is no such path
};
/// HEAD finds the route of GET. `x402_base`: the segments of the facilitator's base path; empty:
/// none is served.
Found find_route(std::string_view method, const std::vector<std::string>& path,
                 const std::optional<std::vector<std::string>>& x402_base = {});

bool is_x402(const Route& route);

}  // namespace holdfast::http
