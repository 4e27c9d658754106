// Owns: the end of numbers that the chain has used with finality: what used them is fetched and
// read, and only then is the slot consumed.
#include <algorithm>

#include "engine/keeper.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

/// A round reads a few; the next round reads on.
constexpr std::size_t most_read = 16;

bool is_own(const std::vector<domain::Attempt>& attempts, const domain::TxHash& hash) {
  for (const domain::Attempt& attempt : attempts) {
    if (attempt.hash == hash) return true;
  }
  return false;
}

}  // namespace

Awaitable<void> Keeper::end_used(std::vector<Open>& open) {
  std::vector<Open*> used;
  for (Open& one : open) {
    const domain::Slot& slot = one.it.slot;
    if (slot.sequence >= account_.counts->finalized) break;
    // A delivery reads what used its number by itself; what confirms is followed by the listener,
    // as long as it was seen in a block.
    const bool delivered = one.it.item && one.it.item->state == domain::IntentState::settling;
    const Watched* const watched =
        one.it.item ? unit_.watch.find(one.it.item->id) : static_cast<const Watched*>(nullptr);
    const bool followed = one.it.item && one.it.item->state == domain::IntentState::confirming &&
                          watched != nullptr && watched->inclusion;
    if ((delivered || followed) && !slot.handed_over) continue;
    used.push_back(&one);
  }
  if (used.empty()) co_return;
  // The next round reads on behind these, and begins anew at the end: one that cannot be read holds
  // nobody up.
  const auto next = std::find_if(used.begin(), used.end(), [&](const Open* one) {
    return one->it.slot.sequence > used_read_to_;
  });
  std::rotate(used.begin(), next, used.end());
  used.resize(std::min(used.size(), most_read));
  used_read_to_ = used.back()->it.slot.sequence;
  co_await look_for(used);
  for (Open* const one : used) co_await end_used(*one);
}

Awaitable<void> Keeper::end_used(Open& open) {
  const domain::Slot& slot = open.it.slot;
  const bool confirming =
      open.it.item && !slot.handed_over && open.it.item->state == domain::IntentState::confirming;
  std::optional<domain::MinedTx> consumer = open.mined;
  // Ours, and a payment that goes on: the listener has been told of it.
  if (consumer && confirming) co_return;
  if (!consumer || !co_await unit_.is_final(*consumer)) {
    consumer = unit_.final_at(account_.address, slot.sequence);
  }
  if (consumer) {
    // A number that our own bytes used ends no payment: that is read again for it.
    const auto says =
        is_own(open.it.attempts, consumer->hash) ? ports::Says::paid : ports::Says::unpaid;
    if (!co_await vouched(core_, unit_, *consumer, says)) co_return;
  } else {
    const auto answer = co_await unit_.chain.consumer(account_.address, slot.sequence);
    if (answer.ok() == nullptr) co_return;
    consumer = *answer.ok();
    if (consumer && !co_await unit_.noted_stands(consumer->block.height)) co_return;
  }
  if (!consumer) {
    // Used, and by nothing that can be found: kept apart until it can.
    note_empty(slot.sequence);
    if (slot.state == domain::SlotState::reconciliation_required) co_return;
    const bool can_wait = domain::may_move(slot.state, domain::SlotState::reconciliation_required);
    if (!can_wait) co_return;
    const store::SlotMove quarantine{slot.id,
                                     account_.epoch,
                                     slot.state,
                                     domain::SlotState::reconciliation_required,
                                     {},
                                     "used, and no transaction found there",
                                     core_.wall_ms()};
    const auto moved = co_await core_.parts.store.write(
        [quarantine](store::Txn& txn) { return store::move_slot(txn, quarantine); });
    if (!moved) core_.refused(moved.error());
    co_await tell(slot.item);
    co_return;
  }
  account_.found_empty.erase(slot.sequence);
  if (!is_own(open.it.attempts, consumer->hash)) {
    if (slot.item) core_.note_mined(unit_, {*slot.item, false}, *consumer);
    // Bytes that a restored store has forgotten, say: whose they are is remembered.
    co_await note_refs_found(core_, unit_, *consumer);
  }
  if (confirming) co_return co_await send_back(open);
  co_await core_.consume_slot(slot, *consumer, "used, and nobody drove it");
  co_await tell(slot.item);
}

// A transaction of our account at a number that we signed for, and none of those we signed: whoever
// sent it holds our key. Told as soon as it is in a block.
void Keeper::tell_foreign(const std::vector<Open>& open) {
  for (const Open& one : open) {
    const domain::Slot& slot = one.it.slot;
    const auto seen = account_.mined.find(slot.sequence);
    if (seen == account_.mined.end() || is_own(one.it.attempts, seen->second.hash)) continue;
    domain::TxHash& told = foreign_told_[slot.sequence];
    if (told == seen->second.hash) continue;
    told = seen->second.hash;
    ++core_.stats.slot_mismatches;
    core_.alarm("foreign_transaction", {{"account", account_.address.value},
                                        {"sequence", slot.sequence.value},
                                        {"tx", seen->second.hash.hex()}});
  }
}

void Keeper::note_empty(domain::Sequence at) {
  const std::int64_t now_s = unit_.view.latest_time_s();
  const auto [place, is_new] = account_.found_empty.try_emplace(at, now_s, now_s);
  place->second.last_s = now_s;
  if (!is_new) return;
  ++core_.stats.slot_mismatches;
  log::warn("number_used_by_nothing_found",
            {{"account", account_.address.value}, {"sequence", at.value}});
}

// It may only be a node that answers late; one that keeps no old state never will.
void Keeper::tell_unread(domain::Sequence at, const std::string& why) {
  const bool is_new = account_.search_trouble.empty();
  account_.search_trouble = "what used number " + std::to_string(at.value) +
                            " cannot be read: " + why +
                            "; if that stays so, the nodes keep no state as old as that: configure "
                            "an endpoint that does (an archive node)";
  if (!is_new) return;
  core_.alarm("number_not_readable",
              {{"account", account_.address.value}, {"why", account_.search_trouble}});
}

// What carries a ref of ours is remembered, also for payments this store does not know yet: a
// client may ask for them again.
Awaitable<bool> Keeper::search(domain::Sequence at) {
  const auto answer = co_await unit_.chain.consumer(account_.address, at);
  if (answer.ok() == nullptr) {
    tell_unread(at, answer.text());
    co_return false;
  }
  account_.search_trouble.clear();
  if (!*answer.ok()) {
    note_empty(at);
    co_return true;
  }
  account_.found_empty.erase(at);
  const domain::MinedTx& tx = **answer.ok();
  for (const Watch::Match& match : unit_.watch.match(tx)) core_.note_mined(unit_, match, tx);
  co_await note_refs_found(core_, unit_, tx);
  co_return true;
}

// Read once they are final. A number at which nothing is found is passed, and asked for again: a
// node may only have been behind.
Awaitable<void> Keeper::search_unknown() {
  if (!account_.unknown_from) co_return;
  domain::Sequence at =
      std::max(account_.searched_to.value_or(*account_.unknown_from), *account_.unknown_from);
  const domain::Sequence end = std::min(account_.counts->finalized, account_.counts->latest);
  std::vector<domain::Sequence> again;
  for (const auto& [number, seen] : account_.found_empty) {
    if (number >= *account_.unknown_from) again.push_back(number);
  }
  std::rotate(again.begin(), std::upper_bound(again.begin(), again.end(), empty_asked_to_),
              again.end());
  again.resize(std::min(again.size(), most_read));
  for (const domain::Sequence number : again) {
    empty_asked_to_ = number;
    if (!co_await search(number)) break;
  }
  for (std::size_t read = 0; read < most_read && at < end; ++read, at = at.next()) {
    if (!co_await search(at)) break;
  }
  account_.searched_to = at;
}

// Its number was used with finality by another transaction, and nothing of its own is in a block.
Awaitable<void> Keeper::send_back(const Open& open) {
  const Watched* const watched = unit_.watch.find(open.it.item->id);
  if (watched == nullptr || watched->inclusion) co_return;
  store::Move back;
  back.id = open.it.item->id;
  back.to = domain::IntentState::settling;
  back.from = domain::IntentState::confirming;
  back.actor = domain::Actor::listener;
  back.reason = "number_used";
  back.queue_ms = core_.queue_ms();
  const auto moved = co_await core_.move(std::move(back));
  if (moved) core_.wake();
}

namespace {

struct Whose {
  std::optional<domain::Intent> payment;
  bool is_new = false;
};

Whose note_whose(store::Txn& txn, const store::RefFound& found) {
  const bool is_new = store::note_ref_found(txn, found);
  auto payment = store::find_by_ref(txn, found.ref);
  if (payment || !is_new) return {std::move(payment), is_new};
  // Asked for again, and given another of our accounts: it was sent all the same.
  auto same = store::find_by_other_payer(txn, found.chain, found.account, found.ref);
  if (!same) return {std::nullopt, is_new};
  store::RefFound theirs = found;
  theirs.ref = same->ref;
  store::note_ref_found(txn, theirs);
  return {std::move(same), is_new};
}

}  // namespace

// A payout carries its ref behind its data; a payer's authorization has it as its nonce.
Awaitable<void> note_refs_found(Core& core, Unit& unit, domain::MinedTx tx) {
  std::vector<domain::Ref> refs;
  if (tx.trailing_ref) refs.push_back(*tx.trailing_ref);
  for (const domain::AuthorizationEvent& event : tx.authorizations) {
    if (!event.canceled) refs.push_back(domain::Ref{event.nonce.value});
  }
  for (const domain::Ref& ref : refs) {
    const store::RefFound found{unit.id(), tx.sender, tx.sequence, ref, tx.hash, core.wall_ms()};
    const auto [whose, is_new] = co_await core.parts.store.write(
        [found](store::Txn& txn) { return note_whose(txn, found); });
    unit.refs_were_found = true;
    log::info("ref_found", {{"account", tx.sender.value},
                            {"sequence", tx.sequence.value},
                            {"ref", ref.hex()},
                            {"intent", whose ? domain::text(whose->id) : ""}});
    if (!whose) continue;
    core.note_mined(unit, {whose->id, false}, tx);
    const bool ended_otherwise = domain::is_terminal(whose->state) && whose->tx_hash != tx.hash;
    if (is_new && tx.succeeded && ended_otherwise) {
      core.alarm("sent_and_ended_otherwise", {{"intent", domain::text(whose->id)},
                                              {"state", domain::to_text(whose->state)},
                                              {"tx", tx.hash.hex()}});
    }
    // Its signature was lost with a part of the store. It is never called canceled; if its payer
    // signs once more, it is followed to its end.
    if (whose->state == domain::IntentState::created) {
      core.alarm("unsigned_and_used", {{"intent", domain::text(whose->id)}, {"tx", tx.hash.hex()}});
    }
  }
}

}  // namespace holdfast::engine
