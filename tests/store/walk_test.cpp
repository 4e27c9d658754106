// A seeded walk of writes over many payments; whatever it does, the audit finds nothing.
#include <functional>
#include <random>

#include "store/audit.hpp"
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using domain::AttemptOutcome;
using domain::SlotState;

/// Random writes, most of them sensible, some of them not: refusals are part of the walk.
class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_(seed) {}

  void step();
  void check() {
    const auto report = db.read([](store::Txn& txn) { return store::audit(txn, nullptr); });
    for (const store::Finding& finding : report.findings) {
      FAIL(finding.invariant, " ", finding.subject, ": ", finding.sentence);
    }
  }
  std::uint64_t moved = 0;
  std::uint64_t refused = 0;
  TestStore db;

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  IntentId any() { return ids_[below(ids_.size())]; }
  void count(bool good) { ++(good ? moved : refused); }
  void create();
  void authorize();
  void lease();
  void work(const IntentId& id);
  void drive_settling(const Facts& now);
  void listen(const IntentId& id);
  void listen_confirming(const Facts& now);
  void operate(const IntentId& id);
  void disturb();
  void try_move(const store::Move& move) { count(desk_.may(move).has_value()); }
  bool has_lease(const IntentId& id);
  store::Move end_move(const Facts& now, IntentState to, Actor actor);

  std::mt19937_64 random_;
  Desk desk_{db};
  std::vector<IntentId> ids_;
};

void Walk::create() {
  const std::uint64_t number = ids_.size();
  const auto made = below(3) == 0 ? bearer(number, desk_.now_ms) : payout(number, desk_.now_ms);
  ids_.push_back(desk_.create(made).id);
}

void Walk::authorize() {
  const Facts now = desk_.facts(any());
  if (now.intent.state != IntentState::created) return;
  store::Move move = desk_.move(now.intent.id, IntentState::authorized, Actor::api);
  move.authorization = authorization_of(now.intent);
  if (below(4) == 0) {
    move.to = IntentState::canceled;
    move.authorization.reset();
    move.reason = "not wanted";
  }
  try_move(move);
}

void Walk::lease() { desk_.lease_all(1 + below(8)); }

bool Walk::has_lease(const IntentId& id) {
  const auto job = db.read([&](store::Txn& txn) { return store::find_job(txn, id); });
  return job && job->leased;
}

store::Move Walk::end_move(const Facts& now, IntentState to, Actor actor) {
  store::Move move = desk_.move(now.intent.id, to, actor);
  move.tx_hash = now.attempts.empty() ? tx_hash(1) : *now.attempts.back().hash;
  move.reason = to == IntentState::needs_review ? "no_receipt" : "walk";
  const std::uint64_t sequence = now.slot ? now.slot->sequence.value : 500 + below(100);
  move.final_tx = paying_tx(now.intent, *move.tx_hash, our_account, sequence);
  move.arrived = now.intent.terms.amount;
  if (now.attempts.empty()) {
    move.proof = domain::NeverAsked{};
  } else if (now.intent.bearer) {
    move.proof =
        domain::AuthorizationDead{domain::AuthorizationDead::How::expired_unused, 10'000, {}};
  } else if (now.slot) {
    domain::AllSlotsConsumed proof;
    for (const domain::Slot& slot : now.earlier_slots) {
      proof.consumers.push_back(domain::consumer_of(
          slot, other_tx(*slot.consumed_by, slot.account, slot.sequence.value)));
    }
    proof.consumers.push_back(domain::consumer_of(
        *now.slot, other_tx(tx_hash(1'000'000 + sequence), our_account, sequence)));
    move.proof = proof;
  }
  return move;
}

void Walk::drive_settling(const Facts& now) {
  const IntentId& id = now.intent.id;
  const auto write = [&](auto step) { count(db.write(step).has_value()); };
  switch (below(7)) {
    case 0:
    case 1: {
      const auto wanted = desk_.attempt_for(now);
      return write([&](store::Txn& txn) { return store::store_attempt(txn, wanted); });
    }
    case 2: {
      if (now.attempts.empty()) return;
      const auto outcome = below(2) == 0 ? AttemptOutcome::unknown : AttemptOutcome::accepted;
      const store::PostRecord record{now.attempts.back().id, outcome, "walk", {}, desk_.now_ms};
      return write([&](store::Txn& txn) { return store::record_post(txn, record); });
    }
    case 3: {
      store::Move move = end_move(now, IntentState::confirming, Actor::relayer);
      if (!now.attempts.empty()) move.accepted = now.attempts.back().id;
      move.receipt = desk_.receipt_of(id);
      move.ack = true;
      return try_move(move);
    }
    case 4: {
      const auto candidate = desk_.candidate(desk_.chain_count);
      return write([&](store::Txn& txn) {
        return store::reserve_slot(txn, id, now.intent.version, desk_.receipt_of(id),
                                   std::span(&candidate, 1), 16, desk_.now_ms);
      });
    }
    case 5: {
      const auto to = below(2) == 0 ? IntentState::failed : IntentState::needs_review;
      store::Move move = end_move(now, to, Actor::relayer);
      move.receipt = desk_.receipt_of(id);
      move.ack = true;
      return try_move(move);
    }
    default: {
      const auto held = desk_.receipt_of(id);
      const auto until = desk_.now_ms + static_cast<std::int64_t>(below(50));
      return write([&](store::Txn& txn) { return store::nack_job(txn, held, until, "walk"); });
    }
  }
}

void Walk::work(const IntentId& id) {
  if (!has_lease(id)) return;
  const Facts now = desk_.facts(id);
  if (now.intent.state == IntentState::settling) return drive_settling(now);
  if (now.intent.state == IntentState::authorized) {
    store::Move claim = desk_.claim_move(id);
    claim.max_unconsumed = 16;
    if (below(6) == 0) claim.candidates.clear();
    return try_move(claim);
  }
  const auto held = desk_.receipt_of(id);
  count(db.write([&](store::Txn& txn) { return store::ack_job(txn, held); }).has_value());
}

void Walk::listen_confirming(const Facts& now) {
  switch (below(4)) {
    case 0: return try_move(end_move(now, IntentState::settling, Actor::listener));
    case 1: return try_move(end_move(now, IntentState::failed, Actor::listener));
    case 2: return try_move(end_move(now, IntentState::needs_review, Actor::listener));
    default: return try_move(end_move(now, IntentState::settled, Actor::listener));
  }
}

void Walk::listen(const IntentId& id) {
  const Facts now = desk_.facts(id);
  if (now.intent.state == IntentState::confirming) return listen_confirming(now);
  if (!now.slot || now.slot->state == SlotState::reserved) return;
  // A chain that takes back finality is a finding of its own, see the audit's tests.
  if (now.slot->state == SlotState::consumed) return;
  store::SlotMove move;
  move.slot = now.slot->id;
  move.epoch = desk_.epoch;
  move.now_ms = desk_.now_ms;
  move.from = now.slot->state;
  move.to = static_cast<SlotState>(below(6));
  if (move.to == SlotState::consumed) {
    const std::uint64_t sequence = now.slot->sequence.value;
    move.consumer = other_tx(tx_hash(1'000'000 + sequence), our_account, sequence);
  }
  count(db.write([&](store::Txn& txn) { return store::move_slot(txn, move); }).has_value());
}

void Walk::operate(const IntentId& id) {
  const Facts now = desk_.facts(id);
  if (below(3) == 0) {
    count(db.write([&](store::Txn& txn) {
              return store::ask_cancel(txn, id, {}, Actor::operator_,
                                       {"ann", "walk", {}, desk_.now_ms, 0});
            }).has_value());
    return;
  }
  if (now.intent.state != IntentState::needs_review) return;
  constexpr IntentState ways[] = {IntentState::settling, IntentState::confirming,
                                  IntentState::settled, IntentState::failed};
  store::Move move = end_move(now, ways[below(4)], Actor::operator_);
  move.candidates = {desk_.candidate(desk_.chain_count)};
  try_move(move);
}

void Walk::disturb() {
  switch (below(4)) {
    case 0: desk_.chain_count += below(3); return;
    case 1: desk_.now_ms += 31'000; return;
    case 2:
      db.write([&](store::Txn& txn) { return store::return_leases(txn, desk_.now_ms); });
      return;
    default:
      desk_.epoch = db.write([&](store::Txn& txn) {
        return store::take_over_account(txn, chain, our_account, "walk", desk_.now_ms);
      });
  }
}

void Walk::step() {
  desk_.now_ms += 1;
  if (ids_.empty() || (ids_.size() < 200 && below(8) == 0)) return create();
  const std::uint64_t choice = below(100);
  if (choice < 5) return authorize();
  if (choice < 20) return lease();
  if (choice < 65) return work(any());
  if (choice < 90) return listen(any());
  if (choice < 98) return operate(any());
  disturb();
}

}  // namespace

TEST_CASE("store: whatever a random walk writes, the audit finds the store sound") {
  std::uint64_t settled = 0;
  std::uint64_t failed = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    Walk walk(seed);
    for (int step = 1; step <= 5000; ++step) {
      walk.step();
      if (step % 50 == 0) walk.check();
    }
    CHECK(walk.moved > 500);
    CHECK(walk.refused > 100);
    settled += static_cast<std::uint64_t>(
        walk.db.number("SELECT count(*) FROM intents WHERE state = 'settled'"));
    failed += static_cast<std::uint64_t>(
        walk.db.number("SELECT count(*) FROM intents WHERE state = 'failed'"));
    // The sweep is there for what nobody drives, and there is nothing of that kind.
    const auto undriven =
        walk.db.write([](store::Txn& txn) { return store::sweep_undriven(txn, 1, 1000); });
    CHECK(undriven.empty());
  }
  CHECK(settled > 30);
  CHECK(failed > 20);
}

}  // namespace holdfast::test
