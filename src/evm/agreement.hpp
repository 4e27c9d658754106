// Owns: what several endpoints' answers to one question come to. Pure.
// Must never: believe a "no" that only some of them gave, or lose an acceptance.
#pragma once

#include <optional>
#include <vector>

#include <holdfast/ports/chain.hpp>

namespace holdfast::evm {

template <class T>
using Said = std::vector<ports::Outcome<T>>;  ///< one per endpoint, never empty

/// The same bytes sent to all. Any acceptance wins; without one an unknown anywhere leaves it
/// unknown; a refusal counts only where nobody else may have the bytes, and of several refusals the
/// one that rules out least; not sent when nobody was sent them.
ports::Outcome<ports::Posted> agreed_post(const Said<ports::Posted>& said);

/// The same transaction, in the same block, with the same effects. What it cost is left out: not
/// every node tells.
bool says_the_same(const domain::MinedTx& one, const domain::MinedTx& other);

/// A block beats a pool, and whoever has it beats whoever has not. "Not found" needs everybody, and
/// so does "it ran and failed", which ends payments: with one silence, or one that says otherwise,
/// it is unknown.
ports::Outcome<ports::Whereabouts> agreed_place(const Said<ports::Whereabouts>& said);

/// Of those who answered: the highest latest and pending, since a number given out twice is worse
/// than a gap, and the lowest finalized. Without any, the first failure.
ports::Outcome<ports::SequenceCounts> agreed_counts(const Said<ports::SequenceCounts>& said);

/// Would it run? Whoever says so is believed; "no" needs everybody who can tell, and of several
/// reasons it is the one that rules out least.
ports::Outcome<ports::Simulated> agreed_run(const Said<ports::Simulated>& said);
ports::Outcome<bool> agreed_run(const Said<bool>& said);

/// What all of them have come to, as one head: the lowest newest block, the lowest final one, the
/// earliest times. Deadlines, depth and finality follow from it, and none of them may be one
/// endpoint's word. `said` is not empty; the first of equals is taken.
ports::Head agreed_head(const std::vector<ports::Head>& said);

/// The transaction at a sequence: those who found one must say the same of it, and nobody may say
/// that there is none; silence is left to the caller to check. "None" needs everybody.
ports::Outcome<std::optional<domain::MinedTx>> agreed_consumer(
    const Said<std::optional<domain::MinedTx>>& said);

/// The first failure, an unknown before a call that never left. One of `said` is no ok.
template <class T>
ports::Outcome<T> agreed_failure(const Said<T>& said) {
  const ports::Outcome<T>* worst = nullptr;
  for (const ports::Outcome<T>& one : said) {
    if (one.ok() != nullptr) continue;
    if (worst == nullptr || (worst->unknown() == nullptr && one.unknown() != nullptr)) worst = &one;
  }
  if (worst == nullptr) return ports::Unknown{"nobody was asked", false};
  return worst->template failure<T>();
}

}  // namespace holdfast::evm
