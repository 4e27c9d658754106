// Owns: all that a soak will do, decided from its seed before it starts: the payments and what
// their clients do, the blows by their times, the fault of each call by its number.
// Must never: look at what has happened: the same seed is the same schedule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::soak {

struct Settings {
  std::uint64_t seed = 1;
  std::int64_t minutes = 10;
  double payments_per_second = 2;
  unsigned send_fault_percent = 25;  ///< of eth_sendRawTransaction
  unsigned read_fault_percent = 5;  ///< of every other method
};

/// What may happen to one call on its way to the node.
enum class Ill {
  none,
  delay,
  hold,
  drop_reply,
  swallow,
  cut,
  duplicate,
  drip,
  rate_limit,  ///< HTTP 429 with Retry-After
  unavailable,  ///< HTTP 503
  web_page,  ///< HTTP 502 with HTML
  limit_error,  ///< the node's -32005, never forwarded
  node_error,  ///< the node's -32603, never forwarded
  false_error,  ///< a send was forwarded, and the answer says nonce too low, underpriced, known, …
  early_error,  ///< the same, and it was not forwarded
  garbage,  ///< an answer without its result
  no_result,  ///< null: the node does not have it, it says
  lagging,  ///< a count or a block of a moment ago
};
constexpr std::size_t ill_count = 18;
std::string_view to_text(Ill ill);

struct PickedIll {
  Ill ill = Ill::none;
  std::uint64_t draw = 0;  ///< chance for the details
};
/// For the `call`-th call of a method since the start.
PickedIll ill_of(const Settings& settings, std::string_view method, std::uint64_t call);

enum class Blow {
  kill,  ///< SIGKILL, and a start `ms` later
  kill_again,  ///< the same, and once more `ms` after that start
  drain,  ///< SIGTERM, and a start `ms` later
  sleep,  ///< the engine stands still for `ms`
  outage,  ///< every call is cut for `ms`
  empty_pool,  ///< anvil forgets all transactions that wait
  drop_one,  ///< anvil forgets the newest one
  reorg,  ///< the newest block is replaced by an empty one
  reorg_kept,  ///< the newest block is replaced by one with the same transactions
};
constexpr std::size_t blow_count = 9;
std::string_view to_text(Blow blow);

struct BlowAt {
  std::int64_t at_ms = 0;  ///< since the start
  Blow blow = Blow::kill;
  std::int64_t ms = 0;
};
/// In the order of their times.
std::vector<BlowAt> blows_of(const Settings& settings);

constexpr std::int64_t never = -1;

/// One payment, and what its client does; times are since the payment's own beginning.
struct Plan {
  std::int64_t at_ms = 0;
  bool payout = true;
  std::uint64_t amount = 0;  ///< of its own, so that a transfer is known by it, too
  std::int64_t validity_s = 0;
  std::int64_t sign_ms = never;
  std::int64_t again_ms = never;  ///< the same request with the same key
  std::int64_t cancel_ms = never;  ///< by the caller
  std::int64_t abandon_ms = never;  ///< by an operator
};
std::vector<Plan> plans_of(const Settings& settings);

/// Sixteen hex digits over the whole schedule: equal for equal settings.
std::string fingerprint(const Settings& settings);

}  // namespace holdfast::soak
