#include "store/slots.hpp"

#include <algorithm>

#include "base/teeth.hpp"
#include "store/events.hpp"
#include "store/writes.hpp"

namespace holdfast::store {

using domain::EndingSlot;
using domain::SlotState;

namespace {

std::string name_of(const domain::Slot& slot) {
  return "number " + std::to_string(slot.sequence.value) + " of " + slot.account.value;
}

/// Consumes the slot by this transaction and journals its fee. True when the slot changed. Consumed
/// by it already, what it cost may be another sum: a chain mined it again at another price.
Result<bool> consume_slot(domain::Slot& slot, const domain::MinedTx& tx, Posting& posting,
                          std::int64_t at_ms) {
  if (slot.state == SlotState::consumed) {
    if (slot.consumed_by == tx.hash) {
      const auto journalled = posting.gas(slot, tx, at_ms);
      if (journalled.has_error()) return journalled.error();
      return false;
    }
    return refuse(StoreError::unproven, name_of(slot) + " was consumed by another transaction");
  }
  domain::Slot moved = slot;
  if (!move_along(moved, SlotState::consumed)) {
    return refuse(StoreError::illegal_slot_move, name_of(slot) + " is " +
                                                     std::string(domain::to_text(slot.state)) +
                                                     " and cannot be consumed");
  }
  const auto journalled =
      planted(Tooth::gas_skipped) ? Result<void>{} : posting.gas(slot, tx, at_ms);
  if (journalled.has_error()) return journalled.error();
  slot = moved;
  slot.consumed_by = tx.hash;
  return true;
}

}  // namespace

// ---- SlotChanges
// ----------------------------------------------------------------------------------

// Another payment's slot: after a restore from a backup a number may have been given again, while
// the transaction that had it before is on the chain.
SlotRow* SlotChanges::find(const domain::MinedTx& tx) {
  const auto at = [&](const SlotRow& row) {
    return row.slot.state != SlotState::released && row.slot.account == tx.sender &&
           row.slot.sequence == tx.sequence;
  };
  const auto own = std::find_if(payment_.slots.begin(), payment_.slots.end(), at);
  if (own != payment_.slots.end()) return &*own;
  if (foreign_ && at(*foreign_)) return &*foreign_;
  auto row = load_slot_at(txn_, payment_.intent().terms.chain, tx.sender, tx.sequence);
  if (!row) return nullptr;
  foreign_ = std::move(*row);
  return &*foreign_;
}

void SlotChanges::note(const SlotRow& row) {
  const auto known = std::find(changed_.begin(), changed_.end(), row.slot.id);
  if (known == changed_.end()) changed_.push_back(row.slot.id);
}

Result<void> SlotChanges::consume(const domain::MinedTx& tx, Posting& posting, std::int64_t at_ms) {
  SlotRow* row = find(tx);
  if (row == nullptr) return {};
  const auto changed = consume_slot(row->slot, tx, posting, at_ms);
  if (changed.has_error()) return changed.error();
  if (*changed) note(*row);
  return {};
}

void SlotChanges::end_current() {
  SlotRow* row = payment_.current_slot();
  if (row == nullptr) return;
  switch (domain::slot_at_end(row->slot.state, /*consumed_on_chain=*/false)) {
    case EndingSlot::release:
      ensure(move_along(row->slot, SlotState::released), "an unsigned slot cannot be released");
      break;
    case EndingSlot::hand_over: row->slot.handed_over = true; break;
    case EndingSlot::keep: return;
    case EndingSlot::consume: ensure(false, "a slot is consumed by no transaction");
  }
  note(*row);
}

void SlotChanges::release_unsigned() {
  SlotRow* row = payment_.current_slot();
  if (row == nullptr || row->slot.state != SlotState::reserved) return;
  if (payment_.has_attempt_at(row->slot.id)) return;
  ensure(move_along(row->slot, SlotState::released), "an unsigned slot cannot be released");
  note(*row);
}

void SlotChanges::broadcast(domain::SlotId id) {
  SlotRow* row = payment_.find_slot(id);
  if (row == nullptr || !domain::may_move(row->slot.state, SlotState::broadcast)) return;
  row->slot.state = SlotState::broadcast;
  note(*row);
}

void SlotChanges::write(std::int64_t now_ms) {
  for (const domain::SlotId id : changed_) {
    const SlotRow* own = payment_.find_slot(id);
    save_slot(txn_, own != nullptr ? own->slot : foreign_->slot, now_ms);
    if (own == nullptr && foreign_->item_row) raise_version(txn_, *foreign_->item_row, now_ms);
  }
}

// ---- writes of their own
// ----------------------------------------------------------------------------

namespace {

Result<void> check_consumer(const domain::Slot& slot, const SlotMove& move) {
  if (!move.consumer) {
    return refuse(StoreError::unproven, name_of(slot) + " is consumed only by a transaction read");
  }
  if (move.consumer->sender == slot.account && move.consumer->sequence == slot.sequence) return {};
  return refuse(StoreError::unproven,
                "transaction " + move.consumer->hash.hex() + " does not stand at " + name_of(slot));
}

void slot_event(Txn& txn, const SlotRow& row, SlotState from, const SlotMove& move,
                std::uint64_t version) {
  Event event;
  event.at_ms = move.now_ms;
  event.kind = "slot";
  event.actor = domain::Actor::relayer;
  event.reason = name_of(row.slot)
                     .append(": ")
                     .append(domain::to_text(from))
                     .append(" to ")
                     .append(domain::to_text(row.slot.state));
  if (!move.why.empty()) event.reason.append(", ").append(move.why);
  event.tx_hash = move.consumer ? std::optional(move.consumer->hash) : std::nullopt;
  event.version = version;
  add_event(txn, row.item_row, event);
}

}  // namespace

Result<void> move_slot(Txn& txn, const SlotMove& move) {
  auto row = load_slot(txn, move.slot);
  if (!row) return refuse(StoreError::not_found, "there is no such slot");
  if (row->epoch != move.epoch) {
    return refuse(StoreError::stale_epoch,
                  row->slot.account.value + " was taken over by another engine");
  }
  const SlotState from = row->slot.state;
  Posting posting(txn, std::nullopt);
  if (move.to == SlotState::consumed) {
    if (const auto stands = check_consumer(row->slot, move); stands.has_error()) {
      return stands.error();
    }
    const auto changed = consume_slot(row->slot, *move.consumer, posting, move.now_ms);
    if (changed.has_error()) return changed.error();
    if (!*changed && posting.empty()) return {};
  } else if (from == move.to) {
    return {};
  } else if (from != move.from) {
    return refuse(StoreError::version_conflict,
                  name_of(row->slot) + " was " + std::string(domain::to_text(move.from)) +
                      " when it was looked at, and is " + std::string(domain::to_text(from)));
  } else if (!move_along(row->slot, move.to)) {
    return refuse(StoreError::illegal_slot_move, name_of(row->slot) + " cannot go from " +
                                                     std::string(domain::to_text(from)) + " to " +
                                                     std::string(domain::to_text(move.to)));
  }
  if (const auto sum = posting.balance(); sum.has_error()) return sum.error();

  save_slot(txn, row->slot, move.now_ms);
  posting.write();
  const bool unnoted = planted(Tooth::used_unnoted);
  if (move.consumer && !unnoted) note_final_block(txn, row->slot.chain, move.consumer->block);
  std::uint64_t version = 0;
  if (row->item_row) version = raise_version(txn, *row->item_row, move.now_ms);
  slot_event(txn, *row, from, move, version);
  return {};
}

std::uint64_t take_over_account(Txn& txn, const domain::ChainId& chain,
                                const domain::Address& account, std::string_view who,
                                std::int64_t now_ms) {
  execute(txn,
          "INSERT INTO accounts (chain, address, epoch) VALUES ($1, $2, 1)"
          " ON CONFLICT (chain, address) DO UPDATE SET epoch = accounts.epoch + 1",
          chain, account);
  const auto epoch = number_of(txn, "SELECT epoch FROM accounts WHERE chain = $1 AND address = $2",
                               chain, account);
  Event event;
  event.at_ms = now_ms;
  event.kind = "account";
  event.who = who;
  event.reason =
      account.value + " of " + chain.value + " taken over, epoch " + std::to_string(epoch);
  add_event(txn, std::nullopt, event);
  return static_cast<std::uint64_t>(epoch);
}

}  // namespace holdfast::store
