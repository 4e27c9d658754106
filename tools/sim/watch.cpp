#include "watch.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/domain/fees.hpp>
#include <holdfast/domain/transitions.hpp>

#include "store/findings.hpp"
#include "store/statements.hpp"

namespace holdfast::campaign {

using domain::IntentState;
using domain::SlotState;
using store::each;
using store::Row;
using store::Txn;

namespace {

constexpr SlotState slot_states[] = {
                                      // NOLINT(*-avoid-c-arrays): a table
    SlotState::reserved, SlotState::signed_,  SlotState::broadcast,
    SlotState::consumed, SlotState::released, SlotState::reconciliation_required};

}  // namespace

std::string Broken::text() const {
  return "invariant " + std::to_string(invariant) + ", " + subject + ": " + sentence;
}

Watch::Watch(sim::ScriptedChain& chain, std::set<domain::Address> ours, bool settle_short,
             Tally& tally)
    : chain_(chain), ours_(std::move(ours)), settle_short_(settle_short), tally_(tally) {
  for (const domain::Transition& row : domain::transitions()) {
    for (const domain::Actor actor : row.actors) {
      tally_.expect("moves", std::string(to_text(row.from)) + " > " + std::string(to_text(row.to)) +
                                 " by " + std::string(to_text(actor)));
    }
  }
  for (const std::string_view reason : domain::review_reasons()) tally_.expect("reviews", reason);
  for (const SlotState from : slot_states) {
    for (const SlotState to : slot_states) {
      if (!domain::may_move(from, to)) continue;
      tally_.expect("numbers", std::string(to_text(from)) + " > " + std::string(to_text(to)));
    }
  }
}

void Watch::say(int invariant, std::string subject, std::string sentence) {
  constexpr std::size_t most = 20;
  if (broken_.size() == most) return;
  broken_.push_back({invariant, std::move(subject), std::move(sentence)});
  if (told_) told_(std::string(broken_mark) + broken_.back().text());
}

void Watch::missed(bool disk_is_frozen, const std::string& why) {
  tally_.count("machine", "commit not looked at");
  if (!disk_is_frozen) say(0, "the watch", "it could not look at a commit: " + why);
}

void Watch::store_went_back() {
  went_back_ = true;
  halt_owed_ = halt_owed_by_process_ = false;
  noted_final_.reset();
  promised_.clear();
  asked_to_stop_.clear();
  told_of_.clear();
  shown_.clear();
  ended_s_.clear();
  posted_.clear();  // its rows are given anew
  bytes_.clear();
  cut_short_.reset();
  forget_store();
}

void Watch::forget_store() {
  payments_.clear();
  slots_.clear();
  stored_.clear();
  last_event_ = 0;
  last_attempt_ = 0;
}

// What was committed before is all there still; then everything is looked at anew. What came with a
// commit that nobody could look at is held against what was there before, unless the store went
// back: then that is another store's.
void Watch::opened(sql::Connection& db) {
  Txn txn(db);
  is_up_ = false;
  if (noted_final_) look_at_new(db);
  changes_.clear();
  check_drained(db);
  const auto rows_before = std::exchange(payments_, {});
  const auto stored_before = stored_;
  read_halts(db);  // behind the newest event that was seen
  forget_store();
  say_found(store::audit(txn, {}), "after opening: ");
  std::set<std::int64_t> touched;
  read_attempts(db);
  each(txn, "SELECT row FROM intents", [&](const Row& row) { touched.insert(row.number(0)); });
  last_event_ = store::number_of(txn, "SELECT coalesce(max(seq), 0) FROM events");
  for (const std::int64_t row : touched) payments_[row] = load(db, row);
  read_slots(db);
  read_chain(db);
  // Of an older store, what it knows to have been posted.
  each(txn, "SELECT DISTINCT slot FROM attempts WHERE slot IS NOT NULL AND posted_ms > 0",
       [&](const Row& row) { posted_.insert(row.number(0)); });
  for (const auto& [row, seen] : payments_) check(db, row, seen);
  for (const auto& [row, before] : rows_before) {
    const auto now = payments_.find(row);
    if (now == payments_.end() || now->second.version < before.version) {
      say(2, text(before.id), "what was committed of it is gone");
    }
  }
  for (const domain::TxHash& hash : stored_before) {
    if (!stored_.contains(hash)) say(6, hash.hex(), "it was stored, and is gone");
  }
  check_promised();
  check_told(db);
  db_ = &db;
}

void Watch::committed(sql::Connection& db) {
  if (has_started_) check_taken_back(db);
  look_at_new(db);
}

void Watch::look_at_new(sql::Connection& db) {
  Txn txn(db);
  const store::SteadyView view(txn);  // all that is read below is of one moment, and begins once
  std::set<std::int64_t> touched;
  const Owners owners_before = owners_;
  const std::int64_t events_before = last_event_;
  parked_.clear();
  read_chain(db);
  chain_time_s_ = std::max(chain_time_s_, chain_.time_s());
  const std::vector<NewAttempt> attempts = read_attempts(db);
  for (const NewAttempt& one : attempts) check_state_at_signing(one);
  read_events(db, touched);
  check_driven(db);
  check_changes(db);
  check_signers(attempts, owners_before);
  // Most commits only lease, nack or note a post: what they did to a number is seen with the next.
  if (last_event_ != events_before || !attempts.empty()) read_slots(db);
  for (const std::int64_t row : touched) {
    Seen& seen = payments_[row];
    const bool had_ended = domain::is_terminal(seen.state);
    seen = load(db, row);
    audit(db, row);
    check(db, row, seen);
    if (!had_ended && domain::is_terminal(seen.state)) ended_s_[seen.id] = chain_time_s_;
    if (!had_ended) check_end(seen);
    check_budget(db, row, seen);
  }
}

void Watch::check(sql::Connection& db, std::int64_t row, const Seen& seen) {
  check_against_chain(seen);
  check_accepted(db, row, seen);
  check_entries(db, row, seen);
}

void Watch::read_events(sql::Connection& db, std::set<std::int64_t>& touched) {
  Txn txn(db);
  each(
      txn,
      "SELECT seq, intent, kind, from_state, to_state, actor, reason, who, at_ms FROM events"
      " WHERE seq > $1 ORDER BY seq",
      [&](const Row& row) {
        last_event_ = row.number(0);
        if (row.null(1)) return read_note(row.text(2), row.text(7), row.text(6));
        touched.insert(row.number(1));
        if (row.text(2) == "dead_letter")
          read_letter(db, row.number(1), row.number(8), row.text(6));
        if (told_) {
          std::string line = text(load(db, row.number(1)).id) + " " + std::string(row.text(2));
          const std::string from(row.null(3) ? "nothing" : row.text(3));
          if (!row.null(4)) line += " " + from + " > " + std::string(row.text(4));
          line += " by " + std::string(row.text(5));
          if (!row.text(6).empty()) line += ": " + std::string(row.text(6));
          told_(std::move(line));
        }
        if (row.null(3) || row.null(4) || row.text(3) == row.text(4)) return;
        // Whether it is one of the table is the audit's.
        tally_.count("moves", std::string(row.text(3)) + " > " + std::string(row.text(4)) + " by " +
                                  std::string(row.text(5)));
        if (row.text(4) == to_text(IntentState::needs_review)) tally_.count("reviews", row.text(6));
      },
      last_event_);
}

std::vector<Watch::NewAttempt> Watch::read_attempts(sql::Connection& db) {
  std::vector<NewAttempt> out;
  Txn txn(db);
  each(
      txn,
      "SELECT a.row, a.hash, a.kind, a.intent, a.slot, s.sequence, a.bytes, i.state,"
      " i.publish_before_s, a.max_fee, a.priority_fee, a.gas_limit, i.id FROM attempts a"
      " LEFT JOIN slots s ON s.row = a.slot"
      " LEFT JOIN intents i ON i.row = a.intent WHERE a.row > $1 ORDER BY a.row",
      [&](const Row& row) {
        last_attempt_ = row.number(0);
        if (!row.null(1)) stored_.insert(row.fixed<domain::TxHash>(1));
        const auto tx = sim::decode(row.blob(6));
        if (tx && !row.null(4)) {
          NewAttempt& one = out.emplace_back();
          one.slot = row.number(4);
          one.pays = row.text(2) == "pay";
          one.account = tx->order.sender;
          one.sequence = tx->order.sequence.value;
          one.digest = sim::digest_of(tx->chain, tx->order);
          if (one.pays) {
            one.intent = row.number(3);
            one.state_now = domain::intent_state_from(row.text(7)).value_or(IntentState::created);
            windows_[row.fixed<domain::TxHash>(1)] = row.number(8);
          }
          bytes_[sim::hash_of(row.blob(6))] = {one.intent, one.slot};
          const domain::Fees& fees = tx->order.fees;
          const domain::Amount& ceiling = chain_.info().fee_ceiling;
          // Whoever fills this number in its place has to offer a step more.
          const auto next = one.pays ? domain::next_fee_step(fees.max_fee) : fees.max_fee;
          if (!next || *next > ceiling) {
            say(0, one.account.value,
                "bytes at number " + std::to_string(one.sequence) + " offer " +
                    fees.max_fee.decimal() + ", and nothing dearer is below the ceiling, " +
                    ceiling.decimal());
          }
          if (fees.max_fee != row.amount(9) || fees.priority_fee != row.amount(10) ||
              fees.gas_limit != row.count(11)) {
            say(6, one.account.value,
                "bytes at number " + std::to_string(one.sequence) + " offer other fees than noted");
          }
        }
        tally_.count("attempts", row.text(2));
        if (told_ && !row.null(1) && !row.null(5)) {
          told_((row.null(3) ? "an account" : text(row.fixed<domain::IntentId>(12))) + " attempt " +
                std::string(row.text(2)) + " at number " + std::to_string(row.number(5)) + " " +
                row.fixed<domain::TxHash>(1).hex());
        }
      },
      last_attempt_);
  for (const NewAttempt& one : out) {
    if (one.pays) check_second_number(db, one.intent, one.slot);
  }
  return out;
}

void Watch::read_slots(sql::Connection& db) {
  Txn txn(db);
  constexpr const char* sql =
      "SELECT s.row, s.state, c.address, s.sequence, s.handed_over,"
      " s.item IS NULL, s.consumed_by FROM slots s"
      " JOIN accounts c ON c.row = s.account";
  each(txn, sql, [&](const Row& row) {
    const auto state = domain::slot_state_from(row.text(1));
    if (!state) return say(8, "slot row", "a state of its own: " + std::string(row.text(1)));
    const auto known = slots_.find(row.number(0));
    if (known == slots_.end()) {
      tally_.count("numbers", "new > " + std::string(to_text(*state)));
      slots_[row.number(0)] = {
          *state, {std::string(row.text(2))}, row.count(3), row.flag(4), row.flag(5)};
      check_new_number(db, row.number(0));
      return;
    }
    known->second.handed_over = row.flag(4);
    domain::SlotState& before = known->second.state;
    if (before == *state) return;
    tally_.count("numbers", std::string(to_text(before)) + " > " + std::string(to_text(*state)));
    if (*state == SlotState::released && before != SlotState::reserved) {
      say(5, "slot row " + std::to_string(row.number(0)),
          "released, and it was " + std::string(to_text(before)));
    }
    if (*state == SlotState::consumed) {
      check_used(known->second.account, known->second.sequence, row.maybe_fixed<domain::TxHash>(6));
    }
    before = *state;
  });
}

Seen Watch::load(sql::Connection& db, std::int64_t row) const {
  Txn txn(db);
  Seen out;
  each(
      txn,
      "SELECT id, state, reason, asset, bearer, version, coalesce(auth_nonce, ref), payee,"
      " chain, payer, amount, tx_hash, publish_before_s, coalesce(auth_before_s, 0), cancel_asked"
      " FROM intents WHERE row = $1",
      [&](const Row& found) {
        out.id = found.fixed<domain::IntentId>(0);
        out.state = domain::intent_state_from(found.text(1)).value_or(IntentState::created);
        out.reason = std::string(found.text(2));
        out.asset = domain::AssetId{std::string(found.text(3))};
        out.bearer = found.flag(4);
        out.version = found.count(5);
        out.moves_as = found.fixed<domain::Ref>(6);
        out.payee = domain::Address{std::string(found.text(7))};
        out.chain = domain::ChainId{std::string(found.text(8))};
        out.payer = domain::Address{std::string(found.text(9))};
        out.amount = found.amount(10);
        out.tx_hash = found.maybe_fixed<domain::TxHash>(11);
        out.publish_before_s = found.number(12);
        out.auth_before_s = found.number(13);
        out.cancel_asked = found.flag(14);
      },
      row);
  each(
      txn,
      "SELECT DISTINCT c.address, s.sequence FROM attempts a JOIN slots s ON s.row = a.slot"
      " JOIN accounts c ON c.row = s.account WHERE a.intent = $1 AND a.kind = 'pay'",
      [&](const Row& found) {
        out.numbers.emplace_back(domain::Address{std::string(found.text(0))}, found.count(1));
      },
      row);
  if (out.chain != chain_.info().id) {
    out.is_nameless =
        store::number_of(txn, "SELECT count(hash) FROM attempts WHERE intent = $1", row) == 0;
  }
  return out;
}

void Watch::audit(sql::Connection& db, std::int64_t row) {
  Txn txn(db);
  store::AuditReport report;
  store::audit_payment(txn, report, row);
  say_found(report, "");
}

void Watch::say_found(const store::AuditReport& report, const std::string& when) {
  for (const auto& finding : report.findings) {
    if (finding.is_taken_back && finality_broken_) continue;
    say(finding.invariant, finding.subject, when + finding.sentence);
  }
}

std::vector<domain::MinedTx> Watch::movers(const Seen& seen) {
  if (seen.chain == chain_.info().id) return chain_.movers(seen.moves_as);
  return sender_ == nullptr ? std::vector<domain::MinedTx>{} : sender_->movers(seen.moves_as);
}

void Watch::check_against_chain(const Seen& seen) {
  if (!chain_counts(seen)) return;
  const auto moved_by = movers(seen);
  if (moved_by.size() > 1) {
    say(1, text(seen.id), std::to_string(moved_by.size()) + " transactions moved value for it");
  }
  switch (seen.state) {
    case IntentState::settled:
      if (moved_by.empty()) say(9, text(seen.id), "it is settled, and nothing moved");
      break;
    case IntentState::failed:
    case IntentState::canceled:
      // Somebody else may still run what a payer signed: that is an alarm, not ours to prevent.
      for (const domain::MinedTx& tx : moved_by) {
        if (!seen.bearer || ours_.contains(tx.sender)) {
          say(7, text(seen.id), "it is " + std::string(to_text(seen.state)) + ", and it moved");
        }
      }
      break;
    default: break;
  }
}

void Watch::last_look(sql::Connection& db) {
  Txn txn(db);
  say_found(store::audit(txn, {}), "at the end: ");
  for (const auto& [row, seen] : payments_) check(db, row, seen);
  check_gas(db);
  check_late_uses(db);
  check_asked();
  check_promised();
  check_told(db);
}

std::uint64_t Watch::open_numbers() {
  return static_cast<std::uint64_t>(
      std::count_if(slots_.begin(), slots_.end(), [this](const auto& slot) {
        const Number& one = slot.second;
        return one.state != SlotState::released && one.state != SlotState::consumed &&
               !chain_.is_used_by_nothing(one.account, one.sequence);
      }));
}

}  // namespace holdfast::campaign
