// Owns: the record of who was told that a payment succeeded.
#include "store/statements.hpp"
#include "store/writes.hpp"

#include "base/teeth.hpp"
#include "store/rows.hpp"

namespace holdfast::store {
namespace {

std::optional<domain::SuccessTold> told_of(Txn& txn, std::int64_t intent) {
  return first(
      txn, "SELECT life, asker, fingerprint, delivered_ms FROM successes WHERE intent = $1",
      [](const Row& row) {
        return domain::SuccessTold{row.fixed<domain::InstanceId>(0),
                                   row.maybe_fixed<domain::AskerKey>(1), row.digest(2),
                                   !row.null(3)};
      },
      intent);
}

}  // namespace

Result<domain::SuccessOffer> offer_success(Txn& txn, const domain::IntentId& id,
                                           const domain::CallerId& caller,
                                           const domain::SuccessAsker& asker, std::int64_t now_ms) {
  const auto row = load_intent(txn, id);
  if (!row || row->intent.caller != caller) {
    return refuse(StoreError::not_found, "there is no payment " + text(id));
  }
  const domain::IntentState state = row->intent.state;
  if (state != domain::IntentState::confirming && state != domain::IntentState::settled) {
    return refuse(StoreError::no_help,
                  "a payment that is " + std::string(to_text(state)) + " is no success to tell of");
  }
  const auto told = told_of(txn, row->row);
  const domain::SuccessOffer offer = domain::offer_of(told, asker);
  // Told again in another life than it was offered in: on its way once more, and so not free.
  const bool is_anew = offer == domain::SuccessOffer::again && told && !told->is_delivered &&
                       told->life != asker.life;
  if (offer != domain::SuccessOffer::first && !is_anew) return offer;
  execute(txn,
          "INSERT INTO successes (intent, life, asker, fingerprint, offered_ms)"
          " VALUES ($1, $2, $3, $4, $5)"
          " ON CONFLICT (intent) DO UPDATE SET life = excluded.life, asker = excluded.asker,"
          " fingerprint = excluded.fingerprint, offered_ms = excluded.offered_ms",
          row->row, asker.life, asker.key, asker.fingerprint, now_ms);
  return offer;
}

Result<domain::SuccessOffer> peek_success(Txn& txn, const domain::IntentId& id,
                                          const domain::SuccessAsker& asker) {
  const auto row = load_intent(txn, id);
  if (!row) return refuse(StoreError::not_found, "there is no payment " + text(id));
  return domain::offer_of(told_of(txn, row->row), asker);
}

void note_delivered(Txn& txn, const domain::IntentId& id, bool written, std::int64_t now_ms) {
  const auto row = load_intent(txn, id);
  if (!row) return;
  if (written) {
    execute(txn,
            "UPDATE successes SET delivered_ms = $2 WHERE intent = $1 AND delivered_ms IS NULL",
            row->row, now_ms);
  } else if (!planted(Tooth::untold_kept)) {
    execute(txn, "DELETE FROM successes WHERE intent = $1 AND delivered_ms IS NULL", row->row);
  }
}

}  // namespace holdfast::store
