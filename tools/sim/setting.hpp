// Owns: what one seed brings: how many payments, what weather, which blows and when.
// Must never: depend on anything but seed, profile and what was taken away: a failing seed is
// shrunk by taking away, and the rest of it stays as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/domain/ids.hpp>

#include "sim/endpoints.hpp"
#include "sim/weather.hpp"

namespace holdfast::campaign {

/// One thing that happens to the machine, the chain or the people.
enum class Blow {
  // the machine
  process_killed,
  power_cut,
  killed_in_write,  ///< in the middle of a write or sync of SQLite's
  power_cut_in_write,
  drained,         ///< stopped in order, and started again
  rival_engine,    ///< a second engine over the same store; the first is slow to notice
  disk_full,       ///< for a while
  sync_failed,
  process_slept,   ///< time went on, and nothing of ours ran
  wall_clock_set,  ///< either way
  backup_restored, ///< the store is one of some time ago
  // the chain
  node_down,
  wrong_chain,
  pool_lost,
  tx_forgotten,
  pool_held,       ///< nothing is mined for a while
  fee_moved,
  reorg_kept,      ///< what the taken blocks held goes back to the pool
  reorg_dropped,
  finality_broken, ///< a reorg below what was final
  token_paused,
  account_poor,    ///< no money for gas for a while
  // other people
  foreign_use,      ///< somebody else uses our key
  used_by_other,    ///< a payer's authorization run by somebody else
  canceled_by_payer,
  // the operators
  abandoned,
  reconciled,
  // what came later, so that the others keep their chance
  signer_down,  ///< signs nothing for a while
  number_used,  ///< one of our numbers is used, and by no transaction: our key signed a delegation
  // of the second workload
  killed_again,  ///< killed, and killed again while it starts
  fee_spiked,  ///< the base fee is beyond what may be paid, for a while
  receipt_invented,  ///< a node shows a final block that does not hold what waits
};
inline constexpr std::size_t blow_count = 32;
/// Of the first workload.
inline constexpr std::size_t first_blow_count = 29;
/// What people do and what strikes has grown. A seed that found something lives on as it did, in
/// the workload of its time.
inline constexpr unsigned newest_workload = 2;
std::string_view to_text(Blow blow);

struct Stroke {
  std::int64_t at_ms = 0;  ///< since the start of trouble
  Blow blow{};
  std::uint64_t chance = 0;  ///< the seed of what it decides
};

/// How rough a profile is: everything else follows from the seed.
struct Profile {
  std::string_view name;
  sim::Odds odds;  ///< of calls to the chain
  /// How often each blow comes to one seed, in hundredths.
  std::uint32_t hundredths[blow_count];  // NOLINT(*-avoid-c-arrays): a table
  /// In so many of a hundred seeds a delivery soon counts as going round in circles.
  std::uint32_t impatient = 0;
};
const Profile* find_profile(std::string_view name);
std::string profile_names();

/// What is taken away from a seed, to find out what it needs to fail.
struct Cut {
  std::optional<std::size_t> payments;  ///< the first so many
  std::set<std::size_t> strokes;  ///< these, by their place
  std::set<sim::Mishap> mishaps;
  unsigned workload = newest_workload;  ///< less: without what came later
  std::string text() const;  ///< as options of the command line
};

struct Setting {
  std::uint64_t seed = 0;
  std::size_t payments = 0;
  std::int64_t span_ms = 0;  ///< of trouble; payments come in its first three quarters
  std::size_t accounts = 1;
  std::uint32_t max_unconsumed = 8;
  std::uint64_t finality_lag = 2;
  std::int64_t latency_ms = 0;
  bool settle_short = false;
  domain::Amount fee_ceiling = domain::Amount::max();
  bool repeats_steps = false;  ///< clients sign and cancel again
  int most_steps = 40;  ///< of a delivery, before it counts as going round in circles
  std::int64_t grace_s = 600;  ///< of chain time after a deadline, before a person is asked
  std::int64_t drift_ppm = 0;  ///< of the wall clock
  bool has_sender = false;  ///< some payouts are orders to an outside sender
  /// Behind the chain's one name; empty: one that sees everything.
  std::vector<sim::Endpoint> endpoints;
  std::int64_t desk_ms = 20'000;  ///< between an operator's looks at the desk
  sim::Odds odds{};
  std::vector<Stroke> strokes;  ///< by time
  std::size_t places = 0;  ///< of strokes, before any was taken away
};
Setting setting_of(std::uint64_t seed, const Profile& profile, const Cut& cut);

}  // namespace holdfast::campaign
