// Owns: several questions to the contracts of a payment in one batch, to say why they refuse it.
// Must never: take a silence for an answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evm/chain.hpp"

namespace holdfast::evm {

/// Whether there is code, or what a call answers.
struct Question {
  Address20 contract;
  Bytes payload;  ///< empty: is there code?
};

/// What was answered, in the order of the questions: for code "one byte" or nothing, for a call its
/// answer, nothing where it reverted. Empty as a whole: some question has no readable answer.
ports::Awaitable<std::optional<std::vector<Bytes>>> ask_together(EvmChain& chain,
                                                                 std::vector<Question> questions);

}  // namespace holdfast::evm
