// The journal's rows, and what verify_ledger and audit find when somebody damaged them.
#include "store/journal.hpp"
#include "store/audit.hpp"
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using domain::JournalError;
using store::AuditReport;

struct Books {
  TestStore db;
  Desk desk{db};
  std::vector<IntentId> ids;

  explicit Books(std::uint64_t payments = 4) {
    for (std::uint64_t i = 0; i < payments; ++i) {
      ids.push_back(desk.create_payout(i).id);
      desk.bring_to(ids.back(), IntentState::settled);
    }
  }
  AuditReport verify() {
    return db.read([](store::Txn& txn) { return store::verify_ledger(txn, nullptr); });
  }
  AuditReport audit() {
    return db.read([](store::Txn& txn) { return store::audit(txn, nullptr); });
  }
  /// Raw SQL as somebody with a shell would write it.
  void damage(const char* script) {
    db.sql("DROP TRIGGER IF EXISTS entries_stay");
    db.sql("DROP TRIGGER IF EXISTS entries_remain");
    db.sql("DROP TRIGGER IF EXISTS events_stay");
    db.sql(script);
  }
};

bool finds(const AuditReport& report, int invariant, std::string_view part) {
  for (const store::Finding& finding : report.findings) {
    if (finding.invariant != invariant) continue;
    if (finding.sentence.find(part) != std::string::npos) return true;
    if (finding.subject.find(part) != std::string::npos) return true;
  }
  return false;
}

domain::Balance balance_of(TestStore& db, const std::string& account) {
  const auto all = db.read([](store::Txn& txn) { return store::balances(txn, 100); });
  for (const store::BalanceRow& row : all) {
    if (row.key.account == account && row.key.asset == token) return row.balance;
  }
  return {};
}

}  // namespace

TEST_CASE("journal: a hold is pending, its post is posted, its void is nothing") {
  TestStore db;
  Desk desk(db);
  const std::string source = domain::source_account(our_account);
  const std::string payee_name = domain::payee_account(payee);
  const IntentId paid = desk.create_payout(0).id;
  desk.bring_to(paid, IntentState::confirming);
  CHECK(balance_of(db, source).pending == domain::SignedAmount{true, U256(1000)});
  CHECK(balance_of(db, source).posted == domain::SignedAmount{});
  desk.settle(paid);
  CHECK(balance_of(db, source).pending == domain::SignedAmount{});
  CHECK(balance_of(db, source).posted == domain::SignedAmount{true, U256(1000)});
  CHECK(balance_of(db, payee_name).posted == domain::SignedAmount{false, U256(1000)});
  const IntentId failed = desk.create_payout(1).id;
  desk.bring_to(failed, IntentState::settling);
  store::Move fail = desk.move(failed, IntentState::failed, Actor::relayer);
  fail.reason = "expired";
  fail.proof = domain::NeverAsked{};
  desk.must(fail);
  CHECK(balance_of(db, source).pending == domain::SignedAmount{});
  CHECK(balance_of(db, source).posted == domain::SignedAmount{true, U256(1000)});
}

TEST_CASE("journal: amounts of 2^256 - 1 are held exactly, and one more is refused") {
  TestStore db;
  Desk desk(db);
  store::NewIntent large = payout(1);
  large.intent.terms.amount = U256::max();
  large.intent.ref = domain::derive_ref(large.intent.id, large.intent.terms);
  const IntentId id = desk.create(large).id;
  const IntentId more = desk.create_payout(2).id;
  desk.bring_to(id, IntentState::settling);
  CHECK(balance_of(db, domain::source_account(our_account)).pending ==
        domain::SignedAmount{true, U256::max()});
  CHECK(refused_with(desk.may(desk.claim_move(more)), JournalError::overflow));
  CHECK(desk.facts(more).intent.state == IntentState::authorized);
  CHECK(db.number("SELECT count(*) FROM slots") == 1);
}

TEST_CASE("journal: an entry of the same id with other content is a conflict, and nothing moves") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  db.write([&](store::Txn& txn) {
    domain::Intent other = desk.facts(id).intent;
    other.terms.amount = U256(1);
    store::Posting posting(txn, 1);
    REQUIRE(posting.hold(other, 1).has_value());
    REQUIRE(posting.balance().has_value());
    posting.write();
    return true;
  });
  CHECK(refused_with(desk.may(desk.claim_move(id)), JournalError::conflict));
  CHECK(desk.facts(id).intent.state == IntentState::authorized);
}

TEST_CASE("journal: the same hold again is a replay and appends nothing") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.lease_all();
  db.write([&](store::Txn& txn) {
    store::Posting posting(txn, 1);
    REQUIRE(posting.hold(desk.facts(id).intent, 1).has_value());
    REQUIRE(posting.balance().has_value());
    posting.write();
    return true;
  });
  REQUIRE(desk.may(desk.claim_move(id)).has_value());
  CHECK(db.number("SELECT count(*) FROM entries") == 1);
}

TEST_CASE("journal: a hold is resolved once, by post or by void") {
  Books books(1);
  const domain::Intent intent = books.desk.facts(books.ids[0]).intent;
  books.db.write([&](store::Txn& txn) {
    store::Posting again(txn, 1);
    CHECK(again.post(intent, intent.terms.amount, 9).has_value());  // a replay
    CHECK(refused_with(again.post(intent, U256(1), 9), JournalError::conflict));
    CHECK(refused_with(again.void_hold(9), JournalError::resolved));
    store::Posting unheld(txn, 4711);
    CHECK(refused_with(unheld.post(intent, U256(1), 9), JournalError::no_hold));
    CHECK(refused_with(unheld.void_hold(9), JournalError::no_hold));
    return true;
  });
  CHECK(books.db.number("SELECT count(*) FROM entries") == 3);
}

TEST_CASE("journal: an index refuses a second hold or a second resolution, whoever writes it") {
  Books books(1);
  for (const char* kind : {"hold", "void"}) {
    const std::string script =
        std::string("INSERT INTO entries SELECT 100, id, '") + kind +
        "', chain, asset, legs, at_ms, hash, intent, slot, tx_hash FROM entries WHERE sequence = 1";
    CHECK_THROWS_AS(books.db.sql(script.c_str()), sql::Failure);
  }
}

TEST_CASE("journal: entries are neither changed nor removed by any statement of ours") {
  Books books(1);
  CHECK_THROWS_AS(books.db.sql("UPDATE entries SET at_ms = 0"), sql::Failure);
  CHECK_THROWS_AS(books.db.sql("DELETE FROM entries"), sql::Failure);
  CHECK_THROWS_AS(books.db.sql("UPDATE events SET who = ''"), sql::Failure);
  CHECK_THROWS_AS(books.db.sql("DELETE FROM attempts"), sql::Failure);
}

TEST_CASE("ledger verify: sound books are found sound, entry by entry") {
  Books books;
  const AuditReport report = books.verify();
  CHECK(report.good());
  CHECK(report.entries == 12);
  CHECK(books.audit().good());
}

TEST_CASE("ledger verify: one flipped byte names the first broken sequence number") {
  // Entries 1 to 12: hold, post, gas of four payments.
  const auto broken_at = [](const char* script) {
    Books books;
    books.damage(script);
    const AuditReport report = books.verify();
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].invariant == 0);
    return report.findings[0].subject;
  };
  CHECK(
      broken_at(
          "UPDATE entries SET legs = CAST(substr(legs, 1, 12) || x'41' || substr(legs, 14) AS BLOB)"
          " WHERE sequence = 5") == "journal entry 5");
  // The very last byte: an amount.
  CHECK(
      broken_at("UPDATE entries SET legs = CAST(substr(legs, 1, length(legs) - 1) || x'01' AS BLOB)"
                " WHERE sequence = 7") == "journal entry 7");
  CHECK(broken_at("UPDATE entries SET legs = substr(legs, 2) WHERE sequence = 6") ==
        "journal entry 6");
  CHECK(broken_at("UPDATE entries SET at_ms = at_ms + 1 WHERE sequence = 1") == "journal entry 1");
  CHECK(broken_at("UPDATE entries SET chain = 'eip155:1' WHERE sequence = 12") ==
        "journal entry 12");
  CHECK(broken_at("UPDATE entries SET id = replace(id, 'a', 'b') WHERE sequence = 4") ==
        "journal entry 4");
  CHECK(
      broken_at(
          "UPDATE entries SET hash = CAST(x'00' || substr(hash, 2) AS BLOB) WHERE sequence = 3") ==
      "journal entry 3");
  CHECK(broken_at("DELETE FROM entries WHERE sequence = 8") == "journal entry 8");
  CHECK(broken_at("DELETE FROM entries WHERE sequence = 1") == "journal entry 1");
}

TEST_CASE("ledger verify: a balance that does not match what the journal adds up to is named") {
  Books books;
  SUBCASE("changed") {
    books.damage(
        "UPDATE balances SET posted = CAST(substr(posted, 1, 32) || x'09' AS BLOB)"
        " WHERE account LIKE 'payee:%'");
    CHECK(finds(books.verify(), 4, "payee:"));
  }
  SUBCASE("missing") {
    books.damage("DELETE FROM balances WHERE account LIKE 'gas:%'");
    CHECK(finds(books.verify(), 4, "gas:"));
  }
  SUBCASE("unreadable") {
    books.damage(
        "UPDATE balances SET posted = CAST(x'07' || substr(posted, 2) AS BLOB)"
        " WHERE account LIKE 'gas:%'");
    CHECK(finds(books.verify(), 4, "gas:"));
  }
  SUBCASE("made up") {
    books.damage(
        "INSERT INTO balances SELECT 'payee:me', chain, asset, posted, pending"
        " FROM balances WHERE account LIKE 'payee:%'");
    CHECK(finds(books.verify(), 4, "payee:me"));
  }
  SUBCASE("cut off at its end") {
    books.damage("DELETE FROM entries WHERE sequence = 12");
    CHECK(!books.verify().good());
  }
}

TEST_CASE("audit: what a payment's rows must say, and what is found when they do not") {
  Books books(2);
  const auto found = [&](const char* script, int invariant, std::string_view part) {
    books.damage(script);
    const AuditReport report = books.audit();
    CHECK_MESSAGE(finds(report, invariant, part), script);
  };
  const IntentId open = books.desk.create_payout(10).id;
  books.desk.bring_to(open, IntentState::settling);
  CHECK(books.audit().good());
  SUBCASE("no job") { found("DELETE FROM jobs", 3, "has no job"); }
  SUBCASE("a hold without its end") {
    found("UPDATE intents SET state = 'failed' WHERE row = 3", 4, "1 holds, 0 posts and 0 voids");
  }
  SUBCASE("a signed slot released") {
    books.desk.sign(open);
    found("UPDATE slots SET state = 'released', standing = 'released' WHERE row = 3", 5,
          "was released");
  }
  SUBCASE("signed without an attempt") {
    found("UPDATE slots SET state = 'signed' WHERE row = 3", 6, "no attempt is stored");
  }
  SUBCASE("broadcast without bytes") {
    books.desk.sign(open);
    books.desk.confirm(open);
    found("UPDATE attempts SET bytes = x'' WHERE row = 3", 6, "no bytes are stored");
  }
  SUBCASE("failed while bytes could run") {
    books.desk.sign(open);
    found("UPDATE intents SET state = 'failed' WHERE row = 3", 7, "could run");
  }
  SUBCASE("failed, and the chain took back the finality its proof stood on") {
    books.desk.sign(open);
    const Facts now = books.desk.facts(open);
    store::Move fail = books.desk.move(open, IntentState::failed, Actor::relayer);
    fail.reason = "foreign";
    fail.proof = domain::AllSlotsConsumed{{domain::consumer_of(
        *now.slot, other_tx(tx_hash(5), our_account, now.slot->sequence.value))}};
    books.desk.must(fail);
    CHECK(books.audit().good());
    store::SlotMove back{now.slot->id,
                         books.desk.epoch,
                         domain::SlotState::consumed,
                         domain::SlotState::reconciliation_required,
                         {},
                         "reorg",
                         1};
    REQUIRE(
        books.db.write([&](store::Txn& txn) { return store::move_slot(txn, back); }).has_value());
    CHECK(finds(books.audit(), 7, "could run: the chain took back"));
    CHECK(books.audit().findings.front().is_taken_back);
  }
  SUBCASE("standing on a transaction that was not signed for it") {
    books.desk.sign(open);
    books.desk.confirm(open);
    found("UPDATE intents SET tx_hash = zeroblob(32) WHERE row = 3", 9, "none of the transactions");
  }
  SUBCASE("standing on a noop") {
    books.desk.sign(open);
    books.desk.confirm(open);
    found("UPDATE attempts SET kind = 'noop' WHERE row = 3", 9, "which is a noop");
  }
  SUBCASE("signed at two numbers at once") {
    books.desk.sign(open);
    found(
        "INSERT INTO slots (row, account, sequence, state, standing, item, handed_over,"
        " created_ms, updated_ms) VALUES (9, 1, 9, 'signed', 'open', 3, 0, 0, 0);"
        "INSERT INTO attempts SELECT 9, intent, 9, kind, bytes, hash, max_fee, priority_fee,"
        " gas_limit, outcome, detail, stored_ms, posted_ms FROM attempts WHERE row = 3",
        7, "while its bytes at");
  }
  SUBCASE("one number given twice") {
    found(
        "DROP INDEX slots_taken; INSERT INTO slots (account, sequence, state, standing,"
        " handed_over, created_ms, updated_ms) VALUES (1, 2, 'reserved', 'open', 0, 0, 0)",
        5, "was given 2 times");
  }
  SUBCASE("a state no history leads to") {
    found("UPDATE intents SET state = 'needs_review' WHERE row = 3", 8, "does not lead there");
  }
  SUBCASE("a step the table does not have") {
    found("UPDATE events SET to_state = 'failed' WHERE intent = 1 AND to_state = 'confirming'", 8,
          "no row of the table allows");
  }
  SUBCASE("a step that is gone") {
    found("DELETE FROM events WHERE intent = 1 AND to_state = 'confirming'", 8,
          "no row of the table allows");
  }
  SUBCASE("a step that did not raise the version") {
    found("UPDATE events SET version = 1 WHERE intent = 1", 8, "does not raise its version");
  }
  SUBCASE("settled by no transaction") {
    found("UPDATE intents SET tx_hash = NULL WHERE row = 1", 9, "names no transaction");
  }
  SUBCASE("other terms than the ref commits to") {
    found("UPDATE intents SET payee = 'me' WHERE row = 1", 9, "does not match its terms");
  }
  SUBCASE("a row that cannot be read is a finding, and the walk goes on") {
    found(
        "UPDATE slots SET sequence = 3 WHERE row = 3; PRAGMA ignore_check_constraints = ON;"
        "UPDATE intents SET state = 'gone' WHERE row = 1;"
        "UPDATE intents SET tx_hash = NULL WHERE row = 2",
        9, "names no transaction");
    CHECK(finds(books.audit(), 8, "intent row 1"));
  }
}

TEST_CASE("audit: it counts what it saw, and tells how far it is") {
  Books books(3);
  std::uint64_t last = 0;
  const AuditReport report = books.db.read([&](store::Txn& txn) {
    return store::audit(txn, [&](std::uint64_t done, std::uint64_t all) {
      CHECK(done <= all);
      last = done;
    });
  });
  CHECK(last == 3);
  CHECK(report.intents == 3);
  CHECK(report.attempts == 3);
  CHECK(report.slots == 3);
  CHECK(report.entries == 9);
}

}  // namespace holdfast::test
