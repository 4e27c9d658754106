// Owns: what an answer to a post means for the payment: one table from refusal kinds.
// Must never: read a node's words; the wings have done that.
#pragma once

#include <optional>

#include <holdfast/domain/attempt.hpp>
#include <holdfast/domain/decide.hpp>
#include <holdfast/ports/chain.hpp>
#include "engine/core.hpp"

namespace holdfast::engine {

domain::PostAnswer post_answer(ports::RefusalKind kind);
domain::PostAnswer post_answer(const ports::Outcome<ports::Posted>& outcome);
domain::PostAnswer sender_answer(const ports::Outcome<std::optional<domain::TxHash>>& outcome);
domain::AttemptOutcome outcome_of(domain::PostAnswer answer);

/// A post that was made, or not: counted, and where it may have left, remembered for whoever judges
/// what is stuck. `answer` empty: its turn did not come.
domain::PostAnswer note_post(Core& core, Unit& unit, const std::optional<domain::IntentId>& item,
                             const std::optional<ports::Outcome<ports::Posted>>& answer);
/// What the record says of it.
store::PostRecord post_record(const Core& core, domain::AttemptId attempt,
                              domain::PostAnswer meaning);

}  // namespace holdfast::engine
