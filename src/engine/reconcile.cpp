// Owns: deriving an account's open slots again from the chain, and answering for what was used
// elsewhere.
// Must never: touch the number of a job that somebody is working on.
#include <algorithm>

#include <holdfast/domain/reconcile.hpp>
#include "engine/errors.hpp"
#include "engine/keeper.hpp"
#include "engine/requests.hpp"

#include "store/events.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

std::string why_of(const domain::SlotState to) {
  using enum domain::SlotState;
  switch (to) {
    case consumed: return "a transaction there is final";
    case broadcast: return "a node or a block has its bytes";
    case released: return "nothing was signed for it";
    default: return "its bytes are nowhere to be found";
  }
}

// A node that is behind finds nothing either, so an empty answer is believed only once it has been
// the answer for as long as anything is waited for that cannot be proved.
std::string why_not_searched(const Core& core, const AccountState& account,
                             domain::Sequence latest) {
  if (!account.unknown_from) return "";
  if (!account.search_trouble.empty()) return account.search_trouble;
  const domain::Sequence searched = account.searched_to.value_or(*account.unknown_from);
  if (account.lost_end && searched < *account.lost_end) {
    return "numbers that the store may have forgotten are being used by noops, and read: " +
           std::to_string(searched.value) + " of " + std::to_string(account.lost_end->value) +
           " (once they are final)";
  }
  if (searched < latest) {
    return "its unknown transactions are still being searched for payments of ours: " +
           std::to_string(searched.value) + " of " + std::to_string(latest.value) +
           " (they are read once they are final)";
  }
  for (const auto& [number, seen] : account.found_empty) {
    const std::int64_t wait_s = core.config.policy.review_after_ms / 1000;
    if (number < *account.unknown_from || seen.last_s - seen.first_s >= wait_s) continue;
    return "number " + std::to_string(number.value) +
           " is used, and no transaction is found there; it is asked for again until that has been "
           "the answer for " +
           std::to_string(wait_s) + " s of the chain's time";
  }
  return "";
}

/// Those an operator answers for without knowing what used them, for the record.
std::string empty_numbers(const AccountState& account) {
  constexpr std::size_t most_named = 20;
  std::string out;
  std::size_t all = 0;
  for (const auto& [number, seen] : account.found_empty) {
    if (!account.unknown_from || number < *account.unknown_from || ++all > most_named) continue;
    out.append(out.empty() ? "; used, by no transaction found: " : ", ");
    out.append(std::to_string(number.value));
  }
  if (all > most_named)
    out.append(" and ").append(std::to_string(all - most_named)).append(" more");
  return out;
}

}  // namespace

Awaitable<ReconcileReport> Keeper::reconcile() {
  const auto held = co_await unit_.account_turns.turn(account_.address);
  ReconcileReport report;
  report.chain = unit_.id();
  report.account = account_.address;
  std::vector<Open> open = co_await read_open();
  std::vector<Open*> to_find;
  for (Open& one : open) {
    if (one.it.item_leased) {
      ++report.skipped;
    } else {
      to_find.push_back(&one);
    }
  }
  co_await look_for(to_find);
  for (Open* const one : to_find) co_await reconcile(*one, report);
  report.looked_at = open.size();
  if (account_.unknown_from) report.trouble = account_.search_trouble;
  log::info("reconciled", {{"account", account_.address.value},
                           {"open", open.size()},
                           {"changed", report.changes.size()},
                           {"skipped", report.skipped}});
  co_return report;
}

Awaitable<void> Keeper::reconcile(Open& open, ReconcileReport& report) {
  const domain::Slot& slot = open.it.slot;
  const bool is_final = open.mined && co_await unit_.is_final(*open.mined);
  const auto to = domain::reconciled(slot.state, !open.it.attempts.empty(), open.found, is_final);
  if (!to) co_return;
  const bool ends = *to == domain::SlotState::consumed && open.mined;
  // Found by the hash of our own bytes: the number ends, and no payment by that.
  if (ends && !co_await vouched(core_, unit_, *open.mined, ports::Says::paid)) co_return;
  if (*to == domain::SlotState::reconciliation_required && account_.counts &&
      slot.sequence < account_.counts->latest) {
    ++core_.stats.slot_mismatches;
  }
  store::SlotMove move{slot.id, account_.epoch, slot.state, *to, {}, "reconciled", core_.wall_ms()};
  if (*to == domain::SlotState::consumed) move.consumer = open.mined;
  const auto moved = co_await core_.parts.store.write(
      [move](store::Txn& txn) { return store::move_slot(txn, move); });
  if (!moved) {
    core_.refused(moved.error());
    log::warn("slot_not_reconciled", {{"account", slot.account.value},
                                      {"sequence", slot.sequence.value},
                                      {"why", moved.error().detail}});
    co_return;
  }
  if (move.consumer) unit_.note_called_final(move.consumer->block);
  report.changes.push_back({slot.sequence, slot.state, *to, why_of(*to)});
  co_await tell(slot.item);
}

Awaitable<Result<ReconcileReport>> Engine::reconcile(std::string who, domain::ChainId chain,
                                                     domain::Address account) {
  const auto core = core_;
  Unit* const unit = core->unit(chain);
  AccountState* const state = unit == nullptr ? nullptr : unit->account(account);
  if (state == nullptr) {
    co_return refuse(EngineError::not_found, "no such sending account on " + chain.value);
  }
  if (!unit->usable) {
    co_return refuse(EngineError::try_again, chain.value + " cannot be read now: " + unit->why);
  }
  log::info("reconcile_asked", {{"account", account.value}, {"who", who}});
  if (!co_await read_accounts(*core, *unit)) {
    co_return refuse(EngineError::try_again, chain.value + " cannot be read now: " + unit->why);
  }
  co_return co_await Keeper(*core, *unit, *state).reconcile();
}

Awaitable<void> answer_for_restored(Core& core, std::string who) {
  if (!core.parts.store.restored()) co_return;
  bool any = false;
  for (const auto& unit : core.units) {
    const auto answered = [](const AccountState& one) { return one.answered_for; };
    const auto& accounts = unit->accounts;
    const bool is_ordered = unit->chain.info().ordered;
    const bool all =
        is_ordered ? std::all_of(accounts.begin(), accounts.end(), answered) : unit->answered_for;
    if (!all) co_return;
    any = any || !is_ordered || !accounts.empty();
  }
  if (!any) co_return;  // there is nobody to answer for it
  co_await core.parts.store.write([who, now_ms = core.wall_ms()](store::Txn& txn) {
    return store::acknowledge_restored(txn, who, now_ms);
  });
  core.restored_answered = true;
}

Awaitable<Result<Adopted>> Engine::adopt(Caller who, domain::ChainId chain, domain::Address account,
                                         std::string reason) {
  const auto core = core_;
  Unit* const unit = core->unit(chain);
  AccountState* const state = unit == nullptr ? nullptr : unit->account(account);
  if (state == nullptr) {
    co_return refuse(EngineError::not_found, "no such sending account on " + chain.value);
  }
  const auto request = request_of_key(who, "adopt/" + chain.value + "/" + account.value);
  const auto before = co_await core->parts.store.read(
      [request](store::Txn& txn) { return store::answered_at_desk(txn, request); });
  if (!before) co_return at_the_face(before.error());
  if (!*before && (!state->counts || state->blocked.empty())) {
    co_return refuse(EngineError::wrong_state,
                     "account: it is not blocked, there is nothing to adopt");
  }
  const auto counts = state->counts.value_or(ports::SequenceCounts{});
  const domain::Sequence latest = std::max(counts.latest, counts.pending);
  const std::string why = why_not_searched(*core, *state, latest);
  if (!*before && !why.empty()) {
    co_return refuse(EngineError::try_again, why);
  }
  const store::Adoption adoption{
      chain,           account, latest, who.id.value, std::move(reason) + empty_numbers(*state),
      core->wall_ms(), request};
  const auto adopted = co_await core->parts.store.write(
      [adoption](store::Txn& txn) { return store::adopt_account(txn, adoption); });
  if (!adopted) co_return at_the_face(adopted.error());
  if (adopted->replayed) co_return Adopted{adopted->goes_on_from, true};
  state->answered_for = true;
  co_await answer_for_restored(*core, adoption.who);
  co_await read_accounts(*core, *unit);
  core->wake();
  co_return Adopted{latest, false};
}

}  // namespace holdfast::engine
