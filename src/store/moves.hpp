// Owns: one move of the transition table on a stored payment: every check, then every effect.
// Must never: write before all checks have passed, or take an offered proof on trust.
#pragma once

#include <optional>

#include "store/queue.hpp"
#include "store/slots.hpp"
#include "store/writes.hpp"

namespace holdfast::store {

class Mover {
 public:
  Mover(Txn& txn, const Move& move) : txn_(txn), move_(move) {}

  /// True: moved. False: it was there already, and nothing changed (but for the ack asked for).
  Result<bool> run();
  const Payment& payment() const { return payment_; }
  Payment take() { return std::move(payment_); }

 private:
  Result<void> load();
  /// Set when this is no move but a repetition of one.
  Result<bool> is_replay() const;
  bool asks_authorize() const;
  Result<void> check_races() const;
  Result<domain::Transition> find_row() const;
  Result<void> check_absence(const domain::Transition& row) const;
  Result<void> check_given(const domain::Transition& row) const;
  Result<void> check_authorization() const;
  Result<void> check_accepted() const;

  Result<void> plan(const domain::Transition& row);
  Result<void> plan_journal(const domain::Transition& row);
  Result<void> plan_slots(const domain::Transition& row);

  void write(const domain::Transition& row);
  void write_standing(const domain::Transition& row);
  void write_accepted();
  void note_final();
  void write_job(const domain::Transition& row);
  void write_event(const domain::Transition& row);

  std::int64_t visible_ms() const { return move_.queue_ms != 0 ? move_.queue_ms : move_.now_ms; }

  Txn& txn_;
  const Move& move_;
  Payment payment_;
  std::optional<Reservation> reservation_;
  std::optional<Posting> posting_;
  std::optional<SlotChanges> slots_;
};

}  // namespace holdfast::store
