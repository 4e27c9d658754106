// Owns: the same question put to several endpoints side by side.
// Must never: outlive its caller: every endpoint has answered, or failed, when it returns.
#pragma once

#include <utility>
#include <vector>

#include "evm/agreement.hpp"
#include "evm/chain_calls.hpp"
#include "evm/rpc.hpp"

namespace holdfast::evm {

/// What each voice says, in their order. `read` makes the awaitable for one: it is called for all
/// of them before the first is awaited.
template <class T, class Read>
ports::Awaitable<Said<T>> everybody(Voices voices, Read read) {
  std::vector<ports::Awaitable<ports::Outcome<T>>> reads;
  reads.reserve(voices.size());
  for (Rpc* voice : voices) reads.push_back(read(*voice));
  co_return co_await together(std::move(reads));
}

}  // namespace holdfast::evm
