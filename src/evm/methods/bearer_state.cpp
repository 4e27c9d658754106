#include "evm/methods/bearer_state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::evm {

using domain::AuthorizationSeen;
using ports::Outcome;

ports::Awaitable<std::optional<bool>> has_ended(EvmChain& chain, const StateOf& state_of) {
  const Outcome<Voices> voices = co_await chain.rpc().voices();
  if (voices.ok() == nullptr) co_return std::nullopt;
  bool all_answered = true;
  for (Rpc* voice : *voices.ok()) {
    const std::optional<bool> ended = co_await state_of(*voice, "latest");
    if (ended && *ended) co_return true;
    all_answered = all_answered && ended;
  }
  if (!all_answered) co_return std::nullopt;
  co_return false;
}

/// The block first, then the state of exactly that block: a state read before its block could be
/// older than the time it is claimed for. Every endpoint is asked, each for its own final block:
/// the earliest of their times is the one that all of them vouch for.
ports::Awaitable<AuthorizationSeen> seen_unused(EvmChain& chain, const StateOf& state_of) {
  AuthorizationSeen seen;
  seen.result = AuthorizationSeen::Result::unused;
  const Outcome<Voices> voices = co_await chain.rpc().voices();
  if (voices.ok() == nullptr) co_return seen;
  std::optional<std::int64_t> earliest_s;
  bool all_answered = true;
  for (Rpc* voice : *voices.ok()) {
    const Outcome<Header> final = co_await chain.final_block_of(*voice);
    if (final.ok() == nullptr) {
      all_answered = false;
      continue;
    }
    const std::optional<bool> ended = co_await state_of(*voice, quantity(final.ok()->ref.height));
    // Ended in a final block and not in the newest: nodes that disagree, and none is believed.
    if (ended && *ended) co_return AuthorizationSeen{};
    all_answered = all_answered && ended;
    earliest_s = std::min(earliest_s.value_or(final.ok()->time_s), final.ok()->time_s);
  }
  if (all_answered && !chain.is_sole_voice(*voices.ok())) seen.unused_at_final_s = earliest_s;
  co_return seen;
}

ports::Awaitable<std::optional<ReadUse>> read_use(EvmChain& chain, domain::TxHash hash) {
  // Final as of before the transaction is read: its block is then checked to be canonical still.
  const Outcome<Header> final = co_await chain.final_block();
  if (final.ok() == nullptr) co_return std::nullopt;
  Outcome<ports::Whereabouts> found = co_await chain.find(hash);
  if (found.ok() == nullptr || !found.ok()->tx) co_return std::nullopt;
  ReadUse out;
  out.tx = *std::move(found.ok()->tx);
  out.is_final = out.tx.block.height <= final.ok()->ref.height;
  co_return out;
}

ports::Awaitable<bool> is_vouched_unpaid(EvmChain& chain, domain::MinedTx tx) {
  const Outcome<bool> vouched = co_await chain.vouch(std::move(tx), ports::Says::unpaid);
  co_return vouched.ok() != nullptr;
}

}  // namespace holdfast::evm
