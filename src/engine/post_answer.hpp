// Owns: what an answer to a post means for the payment: one table from refusal kinds.
// Must never: read a node's words; the wings have done that.
#pragma once

#include <optional>

#include <holdfast/domain/attempt.hpp>
#include <holdfast/domain/decide.hpp>
#include <holdfast/ports/chain.hpp>

namespace holdfast::engine {

domain::PostAnswer post_answer(ports::RefusalKind kind);
domain::PostAnswer post_answer(const ports::Outcome<ports::Posted>& outcome);
domain::PostAnswer sender_answer(const ports::Outcome<std::optional<domain::TxHash>>& outcome);
domain::AttemptOutcome outcome_of(domain::PostAnswer answer);

}  // namespace holdfast::engine
