#include "store/rows.hpp"

#include <algorithm>
#include <limits>

#include "store/reads.hpp"

namespace holdfast::store {
namespace {

domain::Attempt attempt_from(const Row& row) {
  domain::Attempt attempt;
  attempt.id = {row.number(0)};
  attempt.intent = row.maybe_fixed<domain::IntentId>(1);
  if (const auto slot = row.maybe_number(2)) attempt.slot = domain::SlotId{*slot};
  attempt.kind = row.named(3, domain::attempt_kind_from);
  const ByteView bytes = row.blob(4);
  attempt.bytes.assign(bytes.begin(), bytes.end());
  attempt.hash = row.maybe_fixed<domain::TxHash>(5);
  attempt.fees = {row.amount(6), row.amount(7), row.count(8)};
  attempt.outcome = row.named(9, domain::attempt_outcome_from);
  attempt.detail = row.text(10);
  attempt.stored_ms = row.number(11);
  attempt.posted_ms = row.number(12);
  return attempt;
}

constexpr const char* attempt_select =
    "SELECT t.row, i.id, t.slot, t.kind, t.bytes, t.hash, t.max_fee, t.priority_fee, t.gas_limit,"
    " t.outcome, t.detail, t.stored_ms, t.posted_ms"
    " FROM attempts t LEFT JOIN intents i ON i.row = t.intent WHERE ";

SlotRow slot_from(const Row& row) {
  SlotRow out;
  out.slot.id = {row.number(0)};
  out.slot.chain = {std::string(row.text(1))};
  out.slot.account = {std::string(row.text(2))};
  out.slot.sequence = {row.count(3)};
  out.slot.state = row.named(4, domain::slot_state_from);
  out.slot.item = row.maybe_fixed<domain::IntentId>(5);
  out.slot.handed_over = row.flag(6);
  out.slot.consumed_by = row.maybe_fixed<domain::TxHash>(7);
  out.account_row = row.number(8);
  out.epoch = row.count(9);
  out.is_lowest = row.flag(10);
  out.item_row = row.maybe_number(11);
  return out;
}

constexpr const char* slot_select =
    "SELECT s.row, a.chain, a.address, s.sequence, s.state, i.id, s.handed_over, s.consumed_by,"
    " a.row, a.epoch,"
    " NOT EXISTS (SELECT 1 FROM slots o WHERE o.account = s.account AND o.sequence < s.sequence"
    " AND o.standing = 'open'),"
    " s.item"
    " FROM slots s JOIN accounts a ON a.row = s.account LEFT JOIN intents i ON i.row = s.item"
    " WHERE ";

template <class... Args>
std::vector<domain::Attempt> attempts_where(Txn& txn, std::string_view where, const Args&... args) {
  std::vector<domain::Attempt> out;
  each(txn, where, [&](const Row& row) { out.push_back(attempt_from(row)); }, args...);
  return out;
}

bool never_settled(domain::IntentState state) {
  return state == domain::IntentState::created || state == domain::IntentState::authorized ||
         state == domain::IntentState::canceled;
}

// Every claim takes a number, but for what somebody else had paid already. Asked of the history
// only where nothing is there.
bool number_gone(Txn& txn, const Payment& payment) {
  const domain::IntentState state = payment.intent().state;
  const bool open =
      state == domain::IntentState::settling || state == domain::IntentState::needs_review;
  if (!open || !payment.slots.empty() || !payment.attempts.empty()) return false;
  const auto claimed = first(
      txn,
      "SELECT reason FROM events WHERE intent = $1 AND to_state = 'settling'"
      " AND from_state = 'authorized'",
      [](const Row& row) { return std::string(row.text(0)); }, payment.row.row);
  return claimed && *claimed != claimed_as_paid;
}

std::vector<domain::CarriesRef> carriers_of(Txn& txn, const domain::Intent& intent) {
  std::vector<domain::CarriesRef> out;
  each(
      txn,
      "SELECT f.tx_hash, a.address, f.sequence FROM refs_found f JOIN accounts a"
      " ON a.row = f.account WHERE f.chain = $1 AND f.ref = $2",
      [&](const Row& row) {
        out.push_back({row.fixed<domain::TxHash>(0), {std::string(row.text(1))}, {row.count(2)}});
      },
      intent.terms.chain,
      intent.authorization ? domain::Ref{intent.authorization->nonce.value} : intent.ref);
  return out;
}

}  // namespace

void load_rest(Txn& txn, Payment& payment) {
  if (payment.row.has_ref_found) payment.ref_found_in = carriers_of(txn, payment.intent());
  if (never_settled(payment.intent().state)) return;
  // Whose they are is known: the intent is joined to none of them.
  payment.attempts = attempts_where(
      txn,
      "SELECT t.row, $2, t.slot, t.kind, t.bytes, t.hash, t.max_fee, t.priority_fee, t.gas_limit,"
      " t.outcome, t.detail, t.stored_ms, t.posted_ms FROM attempts t WHERE t.intent = $1"
      " ORDER BY t.row",
      payment.row.row, payment.intent().id);
  each(
      txn,
      "SELECT s.row, a.chain, a.address, s.sequence, s.state, $2, s.handed_over, s.consumed_by,"
      " a.row, a.epoch,"
      " NOT EXISTS (SELECT 1 FROM slots o WHERE o.account = s.account AND o.sequence < s.sequence"
      " AND o.standing = 'open'),"
      " s.item FROM slots s JOIN accounts a ON a.row = s.account WHERE s.item = $1 ORDER BY s.row",
      [&](const Row& row) { payment.slots.push_back(slot_from(row)); }, payment.row.row,
      payment.intent().id);
  payment.number_gone = number_gone(txn, payment);
}

std::optional<Payment> load_payment(Txn& txn, const domain::IntentId& id) {
  auto row = load_intent(txn, id);
  if (!row) return std::nullopt;
  Payment payment;
  payment.row = std::move(*row);
  load_rest(txn, payment);
  return payment;
}

std::vector<domain::Attempt> attempts_at_slot(Txn& txn, domain::SlotId slot) {
  static const std::string sql = std::string(attempt_select) + "t.slot = $1 ORDER BY t.row";
  return attempts_where(txn, sql, slot);
}

std::optional<domain::Attempt> load_attempt(Txn& txn, domain::AttemptId id) {
  static const std::string sql = std::string(attempt_select) + "t.row = $1";
  return first(txn, sql, attempt_from, id);
}

std::optional<SlotRow> load_slot(Txn& txn, domain::SlotId id) {
  static const std::string sql = std::string(slot_select) + "s.row = $1";
  return first(txn, sql, slot_from, id);
}

std::optional<SlotRow> load_slot_at(Txn& txn, const domain::ChainId& chain,
                                    const domain::Address& account, domain::Sequence at) {
  if (at.value > largest_stored) return std::nullopt;
  static const std::string sql = std::string(slot_select) +
                                 "a.chain = $1 AND a.address = $2 AND s.sequence = $3"
                                 " AND s.standing <> 'released'";
  return first(txn, sql, slot_from, chain, account, at);
}

std::vector<SlotRow> load_open_slots(Txn& txn, const domain::ChainId& chain,
                                     const domain::Address& account, std::size_t limit) {
  static const std::string sql = std::string(slot_select) +
                                 "a.chain = $1 AND a.address = $2"
                                 " AND s.standing = 'open'"
                                 " ORDER BY s.sequence LIMIT $3";
  std::vector<SlotRow> out;
  each(txn, sql, [&](const Row& row) { out.push_back(slot_from(row)); }, chain, account, limit);
  return out;
}

std::vector<domain::Slot> newest_consumed(Txn& txn, const domain::ChainId& chain,
                                          const std::optional<domain::SlotId>& before,
                                          std::size_t limit) {
  constexpr std::int64_t newest = std::numeric_limits<std::int64_t>::max();
  static const std::string sql = std::string(slot_select) +
                                 "a.chain = $1 AND s.standing = 'consumed' AND s.row < $2"
                                 " ORDER BY s.row DESC LIMIT $3";
  std::vector<domain::Slot> out;
  each(
      txn, sql, [&](const Row& row) { out.push_back(slot_from(row).slot); }, chain,
      before ? before->value : newest, limit);
  return out;
}

// An open slot that stays open keeps its standing, which is all that three indexes ask about: so
// they are left alone.
void save_slot(Txn& txn, const domain::Slot& slot, std::int64_t now_ms) {
  const bool open =
      slot.state != domain::SlotState::released && slot.state != domain::SlotState::consumed;
  const auto changed =
      open && !slot.consumed_by
          ? execute(txn,
                    "UPDATE slots SET state = $1, handed_over = $2, updated_ms = $3"
                    " WHERE row = $4 AND standing = 'open'",
                    domain::to_text(slot.state), slot.handed_over, now_ms, slot.id)
          : execute(txn,
                    "UPDATE slots SET state = $1, standing = $2, handed_over = $3,"
                    " consumed_by = $4, updated_ms = $5 WHERE row = $6",
                    domain::to_text(slot.state), open ? "open" : domain::to_text(slot.state),
                    slot.handed_over, slot.consumed_by, now_ms, slot.id);
  ensure(changed == 1, "a slot that was read is gone");
}

bool move_along(domain::Slot& slot, domain::SlotState to) {
  using enum domain::SlotState;
  if (slot.state == to) return true;
  if (!domain::may_move(slot.state, to)) {
    const domain::SlotState by_way_of = slot.state == signed_ ? broadcast : reconciliation_required;
    if (to != consumed || !domain::may_move(slot.state, by_way_of)) return false;
    if (!domain::may_move(by_way_of, to)) return false;
  }
  slot.state = to;
  return true;
}

// ---- Payment
// --------------------------------------------------------------------------------------

SlotRow* Payment::current_slot() {
  const auto found = std::find_if(slots.rbegin(), slots.rend(), [](const SlotRow& each) {
    return each.slot.state != domain::SlotState::released;
  });
  return found == slots.rend() ? nullptr : &*found;
}

const SlotRow* Payment::current_slot() const { return const_cast<Payment*>(this)->current_slot(); }

SlotRow* Payment::find_slot(domain::SlotId id) {
  const auto found = std::find_if(slots.begin(), slots.end(),
                                  [&](const SlotRow& each) { return each.slot.id == id; });
  return found == slots.end() ? nullptr : &*found;
}

domain::Attempt* Payment::find_attempt(domain::AttemptId id) {
  const auto found = std::find_if(attempts.begin(), attempts.end(),
                                  [&](const domain::Attempt& each) { return each.id == id; });
  return found == attempts.end() ? nullptr : &*found;
}

bool Payment::has_attempt_at(domain::SlotId id) const {
  return std::any_of(attempts.begin(), attempts.end(),
                     [&](const domain::Attempt& each) { return each.slot == id; });
}

domain::Facts Payment::facts() && {
  domain::Facts out;
  out.newest_is_released = !slots.empty() && slots.back().slot.state == domain::SlotState::released;
  out.number_gone = number_gone;
  SlotRow* const current = current_slot();
  std::vector<std::pair<std::int64_t, domain::Sequence>> numbers;
  for (const SlotRow& each : slots) {
    numbers.emplace_back(each.account_row, each.slot.sequence);
    if (current != &each && has_attempt_at(each.slot.id)) out.earlier_slots.push_back(each.slot);
  }
  std::sort(numbers.begin(), numbers.end());
  // A number that was released and bound again is one number.
  const auto end = std::unique(numbers.begin(), numbers.end());
  out.slots_taken = static_cast<std::uint32_t>(end - numbers.begin());
  if (current != nullptr) {
    out.slot = std::move(current->slot);
    out.slot_is_lowest = current->is_lowest;
  }
  out.intent = std::move(row.intent);
  out.attempts = std::move(attempts);
  out.ref_found_in = std::move(ref_found_in);
  return out;
}

}  // namespace holdfast::store
