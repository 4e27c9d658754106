// Parking a job with the move that ends its payment safely, and the two things a person can do.
#include "store/dead_letters.hpp"
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using store::DeadLetter;
using store::Signature;
using store::SignedLetter;
using store::StoreError;

struct Parked {
  TestStore db;
  Desk desk{db};
  IntentId id = desk.create_payout(1).id;

  /// To review or, unsigned, to failed: with the budget spent.
  store::Move ending(IntentState to) {
    store::Move out = desk.move(id, to, Actor::relayer);
    out.reason = "budget_spent";
    out.receipt = desk.receipt_of(id);
    out.ack = true;
    out.park = "budget_spent";
    if (to == IntentState::failed) out.proof = domain::NeverAsked{};
    return out;
  }
  Facts park() {
    desk.lease_all();
    desk.claim(id);
    desk.sign(id);
    return desk.must(ending(IntentState::needs_review));
  }
  std::vector<DeadLetter> letters(bool open_only = false) {
    return db.read([&](store::Txn& txn) { return store::dead_letters(txn, 100, 0, open_only); })
        .letters;
  }
  Signature by(std::uint64_t request_number, const std::string& why = "looked at it") {
    return {"ann", why, request(request_number), desk.now_ms, 777};
  }
  Result<SignedLetter> redrive(std::int64_t row, const Signature& signature) {
    return db.write([&](store::Txn& txn) { return store::redrive(txn, row, signature); });
  }
  Result<SignedLetter> drop(std::int64_t row, const Signature& signature) {
    return db.write([&](store::Txn& txn) { return store::drop(txn, row, signature); });
  }
  std::optional<store::JobRow> job() {
    return db.read([&](store::Txn& txn) { return store::find_job(txn, id); });
  }
  std::vector<store::Event> history() {
    return db.read([&](store::Txn& txn) { return store::history_of(txn, id); });
  }
};

}  // namespace

TEST_CASE("dead letters: the payment's ending and the parking of its job are one write") {
  Parked p;
  const Facts after = p.park();
  CHECK(after.intent.state == IntentState::needs_review);
  CHECK(!p.job());
  const auto letters = p.letters();
  REQUIRE(letters.size() == 1);
  CHECK(letters[0].job.intent == p.id);
  CHECK(letters[0].verdict == "budget_spent");
  CHECK(letters[0].deliveries == 1);
  CHECK(letters[0].state == IntentState::needs_review);
  CHECK(letters[0].cycles == 0);
  CHECK(!letters[0].end);
  const auto history = p.history();
  CHECK(history.back().kind == "dead_letter");
  CHECK(history.back().who == "test");
  CHECK(history.back().version == after.intent.version);
  CHECK(p.db.number("SELECT count(*) FROM entries WHERE kind = 'hold'") == 1);
}

TEST_CASE("dead letters: a move that is refused parks nothing") {
  Parked p;
  p.desk.lease_all();
  const Facts claimed = p.desk.claim(p.id);
  p.desk.sign(p.id);
  store::Move stale = p.ending(IntentState::needs_review);
  stale.version = claimed.intent.version;
  CHECK(refused_with(p.desk.may(stale), StoreError::version_conflict));
  store::Move other = p.ending(IntentState::needs_review);
  other.receipt = receipt(999);
  CHECK(refused_with(p.desk.may(other), StoreError::stale_receipt));
  CHECK(p.letters().empty());
  CHECK(p.job().has_value());
}

TEST_CASE("dead letters: a job asked for again while it was out is parked all the same") {
  Parked p;
  p.desk.lease_all();
  p.desk.claim(p.id);
  p.db.sql("UPDATE jobs SET again_ms = 5000");
  p.desk.must(p.ending(IntentState::failed));
  CHECK(!p.job());
  REQUIRE(p.letters().size() == 1);
  CHECK(p.letters()[0].state == IntentState::failed);
}

TEST_CASE("dead letters: nothing brings a parked job back but a person") {
  Parked p;
  p.park();
  const auto found =
      p.db.write([](store::Txn& txn) { return store::sweep_undriven(txn, 5000, 100); });
  CHECK(found.empty());
  CHECK(!p.job());
}

TEST_CASE("dead letters: a redrive queues the job, then signs, and leaves the review as it is") {
  Parked p;
  const Facts before = p.park();
  const std::int64_t row = p.letters()[0].row;
  const auto redriven = p.redrive(row, p.by(50));
  REQUIRE(redriven.has_value());
  CHECK(!redriven->replayed);
  REQUIRE(redriven->letter.end.has_value());
  CHECK(redriven->letter.end->as == "redriven");
  CHECK(redriven->letter.end->who == "ann");
  CHECK(redriven->letter.end->at_ms == p.desk.now_ms);
  CHECK(redriven->letter.cycles == 1);
  REQUIRE(p.job().has_value());
  CHECK(p.job()->visible_ms == 777);
  CHECK(p.job()->lapsed_leases == 0);
  const Facts after = p.desk.facts(p.id);
  CHECK(after.intent.state == IntentState::needs_review);
  CHECK(after.intent.version == before.intent.version);
  CHECK(p.letters(true).empty());
  CHECK(p.history().back().kind == "dead_letter");
  CHECK(p.history().back().actor == Actor::operator_);
  CHECK(p.history().back().reason == "dead letter 1 redriven: looked at it");
}

TEST_CASE("dead letters: the same request again is the same answer, another one is refused") {
  Parked p;
  p.park();
  const std::int64_t row = p.letters()[0].row;
  REQUIRE(p.redrive(row, p.by(50)).has_value());
  const std::int64_t events = p.db.number("SELECT count(*) FROM events");
  const auto again = p.redrive(row, p.by(50));
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->letter.cycles == 1);
  CHECK(p.db.number("SELECT count(*) FROM events") == events);
  Signature other = p.by(50);
  other.request = request(50, 1);
  CHECK(refused_with(p.redrive(row, other), StoreError::key_reused));
  CHECK(refused_with(p.redrive(row, p.by(51)), StoreError::letter_ended));
  CHECK(refused_with(p.drop(row, p.by(52)), StoreError::letter_ended));
  CHECK(refused_with(p.drop(99, p.by(53)), StoreError::not_found));
}

TEST_CASE("dead letters: a redrive is refused where no job can help, and a drop never is") {
  Parked p;
  p.desk.lease_all();
  p.desk.claim(p.id);
  p.desk.must(p.ending(IntentState::failed));
  const std::int64_t row = p.letters()[0].row;
  const auto refused = p.redrive(row, p.by(50));
  CHECK(refused_with(refused, StoreError::no_help));
  CHECK(refused.error().detail.find("ended as failed") != std::string::npos);
  CHECK(!p.job());
  const auto dropped = p.drop(row, p.by(51, "expired anyway"));
  REQUIRE(dropped.has_value());
  CHECK(dropped->letter.end->as == "dropped");
  CHECK(dropped->letter.end->why == "expired anyway");
  CHECK(dropped->letter.cycles == 0);
  CHECK(p.desk.facts(p.id).intent.state == IntentState::failed);
}

TEST_CASE("dead letters: a payment under way is followed, not redriven") {
  Parked p;
  p.park();
  store::Move found = p.desk.move(p.id, IntentState::confirming, Actor::listener);
  found.tx_hash = tx_hash(7);
  p.desk.must(found);
  CHECK(refused_with(p.redrive(p.letters()[0].row, p.by(50)), StoreError::no_help));
}

TEST_CASE("dead letters: parked again, its letter counts the cycles; an open one is renewed") {
  Parked p;
  p.desk.lease_all();
  p.desk.claim(p.id);
  p.desk.must(p.ending(IntentState::needs_review));  // unsigned here: it may be sent back
  const auto send_back = [&] {
    store::Move back = p.desk.move(p.id, IntentState::settling, Actor::operator_);
    back.reason = "try again";
    back.candidates = {p.desk.candidate(0)};
    p.desk.must(back);
    p.desk.now_ms += 1000;
    p.desk.lease_all();
  };
  send_back();
  p.desk.must(p.ending(IntentState::needs_review));
  REQUIRE(p.letters().size() == 1);
  CHECK(p.letters()[0].at_ms == p.desk.now_ms);

  REQUIRE(p.redrive(p.letters()[0].row, p.by(50)).has_value());
  send_back();
  p.desk.must(p.ending(IntentState::needs_review));
  REQUIRE(p.letters().size() == 2);
  CHECK(p.letters()[0].cycles == 1);
  CHECK(!p.letters()[0].end);
  CHECK(p.letters()[1].end.has_value());
  CHECK(p.letters(true).size() == 1);
}

TEST_CASE("dead letters: a list comes in pages, newest first") {
  TestStore db;
  Desk desk{db};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const IntentId id = desk.create_payout(i).id;
    desk.lease_all();
    desk.claim(id);
    store::Move fail = desk.move(id, IntentState::failed, Actor::relayer);
    fail.reason = "budget_spent";
    fail.proof = domain::NeverAsked{};
    fail.receipt = desk.receipt_of(id);
    fail.ack = true;
    fail.park = "declared_poison";
    desk.must(fail);
  }
  const auto page = [&](std::int64_t cursor) {
    return db.read([&](store::Txn& txn) { return store::dead_letters(txn, 2, cursor, true); });
  };
  const auto first = page(0);
  REQUIRE(first.letters.size() == 2);
  CHECK(first.letters[0].row == 5);
  CHECK(first.next == 4);
  const auto last = page(page(first.next).next);
  REQUIRE(last.letters.size() == 1);
  CHECK(last.letters[0].row == 1);
  CHECK(last.next == 0);
  CHECK(db.read([](store::Txn& txn) { return store::parked_count(txn); }) == 5);
}

}  // namespace holdfast::test
