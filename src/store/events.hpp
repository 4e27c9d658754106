// Owns: the history and audit trail: adding a step, reading steps, and what a first answer showed.
// Must never: change a step.
#pragma once

#include <optional>
#include <vector>

#include "store/rows.hpp"

namespace holdfast::store {

/// Adds the step; `intent_row` empty for account and operator steps. `seq` is given by the store.
void add_event(Txn& txn, const std::optional<std::int64_t>& intent_row, const Event& event);

/// All steps of one intent, oldest first.
std::vector<Event> events_of(Txn& txn, std::int64_t intent_row);

/// The step that answered this request before, as its place in the history; `key_reused` when its
/// key came with another request.
Result<std::optional<std::size_t>> answered_before(const std::vector<Event>& history,
                                                   const Request& request);

/// Whether a request about no payment was answered before: `key_reused` when its key came with
/// another.
Result<bool> answered_at_desk(Txn& txn, const std::optional<Request>& request);

/// The intent as it was shown right after `history[at]`: what an answer of the API shows. History
/// never changes, so the view is the same for ever.
domain::Intent as_shown_after(const domain::Intent& now, const std::vector<Event>& history,
                              std::size_t at);

}  // namespace holdfast::store
