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

/// A block beats a pool, and whoever has it beats whoever has not. "Not found" needs everybody:
/// with one silence it is unknown.
ports::Outcome<ports::Whereabouts> agreed_place(const Said<ports::Whereabouts>& said);

/// Of those who answered: the highest latest and pending, since a number given out twice is worse
/// than a gap, and the lowest finalized. Without any, the first failure.
ports::Outcome<ports::SequenceCounts> agreed_counts(const Said<ports::SequenceCounts>& said);

/// What all of them have come to, as one head: the lowest newest block, the lowest final one, the
/// earliest times. Deadlines, depth and finality follow from it, and none of them may be one
/// endpoint's word. `said` is not empty; the first of equals is taken.
ports::Head agreed_head(const std::vector<ports::Head>& said);

/// The transaction at a sequence: those who found one must have found the same, and nobody may say
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
