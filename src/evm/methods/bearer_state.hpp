// Owns: what endpoints say together of a payer's authorization: ended, or unused and since when.
// Must never: believe one endpoint that an authorization is unused.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <holdfast/domain/decide.hpp>

#include "evm/chain.hpp"

namespace holdfast::evm {

/// Whether the authorization was used or canceled in the state of a tag or height, as one endpoint
/// says. Empty: no readable answer.
using StateOf = std::function<ports::Awaitable<std::optional<bool>>(Rpc& voice, std::string at)>;

/// At the newest block. True where one endpoint knows of it; false is believed of all of them
/// together: one that is behind would have a payment end that somebody else has made. Empty:
/// unknown.
ports::Awaitable<std::optional<bool>> has_ended(EvmChain& chain, const StateOf& state_of);

/// For one that is unused at the newest block: since which final time all of them vouch for it.
ports::Awaitable<domain::AuthorizationSeen> seen_unused(EvmChain& chain, const StateOf& state_of);

/// Reads the transaction in which a use was found, and whether it is final. `Result` of what the
/// transaction made of it is left to the caller: `unknown` where it cannot be read.
struct ReadUse {
  domain::MinedTx tx;
  bool is_final = false;
};
/// Empty: no readable answer, or it is canonical no more.
ports::Awaitable<std::optional<ReadUse>> read_use(EvmChain& chain, domain::TxHash hash);

/// A payment fails by a use on other terms or a cancel: not on one endpoint's word.
ports::Awaitable<bool> is_vouched_unpaid(EvmChain& chain, domain::MinedTx tx);

}  // namespace holdfast::evm
