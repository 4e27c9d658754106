// Owns: the job rows as other writes use them: a state change enqueues, a move acks.
// Must never: lose the note that a change asked for while a job was out.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/rows.hpp"

namespace holdfast::store {

/// For a change that makes work necessary. While the job is leased it is marked: its holder may
/// have read the state before the change, so that its ack must not end the job.
void enqueue_for_change(Txn& txn, const IntentRow& row, std::int64_t visible_ms);

/// The same, and work that waits for a later time is done now: somebody waits for its answer.
void hasten_for_change(Txn& txn, const IntentRow& row, std::int64_t now_ms);

/// Ends the job of this receipt (or queues it again, see above). False: there is none.
bool end_lease(Txn& txn, const domain::Receipt& receipt);

}  // namespace holdfast::store
