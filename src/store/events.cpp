#include "store/events.hpp"

#include <algorithm>

#include "base/teeth.hpp"
#include "store/reads.hpp"

namespace holdfast::store {
namespace {

using domain::IntentState;

constexpr const char* event_select =
    "SELECT e.seq, e.at_ms, i.id, e.kind, e.from_state, e.to_state, e.actor, e.who, e.reason,"
    " e.tx_hash, e.version, e.request_key, e.fingerprint"
    " FROM events e LEFT JOIN intents i ON i.row = e.intent WHERE ";

constexpr std::size_t most_events = 1000;

std::optional<IntentState> maybe_state(const Row& row, int column) {
  if (row.null(column)) return std::nullopt;
  return row.named(column, domain::intent_state_from);
}

std::optional<std::string_view> maybe_text(const std::optional<IntentState>& state) {
  if (!state) return std::nullopt;
  return domain::to_text(*state);
}

Event event_from(const Row& row) {
  Event out;
  out.seq = row.number(0);
  out.at_ms = row.number(1);
  out.intent = row.maybe_fixed<domain::IntentId>(2);
  out.kind = row.text(3);
  out.from = maybe_state(row, 4);
  out.to = maybe_state(row, 5);
  out.actor = row.named(6, domain::actor_from);
  out.who = row.text(7);
  out.reason = row.text(8);
  out.tx_hash = row.maybe_fixed<domain::TxHash>(9);
  out.version = row.count(10);
  if (!row.null(11)) out.request = Request{row.fixed<RequestKey>(11), row.digest(12)};
  return out;
}

}  // namespace

void add_event(Txn& txn, const std::optional<std::int64_t>& intent_row, const Event& event) {
  const auto key = event.request ? std::optional(event.request->key) : std::nullopt;
  const auto print = event.request ? std::optional(event.request->fingerprint) : std::nullopt;
  execute(txn,
          "INSERT INTO events (at_ms, intent, kind, from_state, to_state, actor, who, reason,"
          " tx_hash, version, request_key, fingerprint)"
          " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
          event.at_ms, intent_row, event.kind, maybe_text(event.from), maybe_text(event.to),
          domain::to_text(event.actor), event.who, event.reason, event.tx_hash, event.version, key,
          print);
}

std::vector<Event> events_of(Txn& txn, std::int64_t intent_row) {
  static const std::string sql = std::string(event_select) + "e.intent = $1 ORDER BY e.seq";
  std::vector<Event> out;
  each(txn, sql, [&](const Row& row) { out.push_back(event_from(row)); }, intent_row);
  return out;
}

std::vector<Event> history_of(Txn& txn, const domain::IntentId& id) {
  const auto row = first(
      txn, "SELECT row FROM intents WHERE id = $1", [](const Row& r) { return r.number(0); }, id);
  return row ? events_of(txn, *row) : std::vector<Event>{};
}

std::vector<Event> events_after(Txn& txn, std::int64_t after, std::size_t limit) {
  static const std::string sql = std::string(event_select) + "e.seq > $1 ORDER BY e.seq LIMIT $2";
  std::vector<Event> out;
  each(
      txn, sql, [&](const Row& row) { out.push_back(event_from(row)); }, after,
      std::min(limit, most_events));
  return out;
}

Result<std::optional<std::size_t>> answered_before(const std::vector<Event>& history,
                                                   const Request& request) {
  const auto before = std::find_if(history.begin(), history.end(), [&](const Event& step) {
    return step.request && step.request->key == request.key;
  });
  if (before == history.end()) return std::optional<std::size_t>{};
  if (before->request->fingerprint != request.fingerprint) {
    return refuse(StoreError::key_reused, "the idempotency key came with another request before");
  }
  return std::optional(static_cast<std::size_t>(before - history.begin()));
}

Result<bool> answered_at_desk(Txn& txn, const std::optional<Request>& request) {
  if (!request) return false;
  const auto before = first(
      txn, "SELECT fingerprint FROM events WHERE request_key = $1 AND intent IS NULL",
      [](const Row& row) { return row.digest(0); }, request->key);
  if (!before) return false;
  if (*before == request->fingerprint) return true;
  return refuse(StoreError::key_reused, "the idempotency key came with another request before");
}

domain::Intent as_shown_after(const domain::Intent& now, const std::vector<Event>& history,
                              std::size_t at) {
  const Event& shown = history.at(at);
  std::size_t moved_at = at;
  while (moved_at > 0 && !history[moved_at].to) --moved_at;
  const Event& move = history[moved_at];
  ensure(move.to.has_value(), "a history does not begin with a move");
  domain::Intent out = now;
  out.state = *move.to;
  out.version = shown.version;
  out.updated_ms = shown.at_ms;
  out.reason = move.reason;
  if (!planted(Tooth::hash_is_now)) out.tx_hash.reset();
  out.cancel_asked = false;
  out.settling_ms = 0;
  for (std::size_t i = 0; i <= at; ++i) {
    const Event& step = history[i];
    if (step.kind == "cancel") out.cancel_asked = true;
    if (step.to && step.tx_hash) out.tx_hash = step.tx_hash;
    // The claim, and an operator's sending back after a review, start the time in settling anew.
    const bool claimed = step.to == IntentState::settling && step.from != IntentState::confirming;
    if (claimed) out.settling_ms = step.at_ms;
  }
  const bool was_signed =
      std::any_of(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                  [](const Event& step) { return step.to == IntentState::authorized; });
  if (!was_signed) out.authorization.reset();
  return out;
}

}  // namespace holdfast::store
