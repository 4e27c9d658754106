// The schema: that it spells what the domain spells, and that each query has its index.
#include <set>
#include <string>

#include "sqlite/schema.hpp"
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

/// The words that a table's CHECKs name for a column.
std::set<std::string> words_of(TestStore& db, const std::string& table, const std::string& column) {
  const std::string sql = db.text("SELECT sql FROM sqlite_master WHERE name = '" + table + "'");
  const std::string start = column + " = '";
  std::set<std::string> out;
  for (auto at = sql.find(start); at != std::string::npos; at = sql.find(start, at + 1)) {
    const auto word = at + start.size();
    out.insert(sql.substr(word, sql.find('\'', word) - word));
  }
  return out;
}

template <class Enum>
void check_words(TestStore& db, const char* table, const char* column, Enum last) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    words.insert(std::string(domain::to_text(static_cast<Enum>(i))));
  }
  CAPTURE(table);
  CAPTURE(column);
  CHECK(words_of(db, table, column) == words);
}

std::string plan_of(TestStore& db, const std::string& select) {
  std::string out;
  sql::Statement& statement = db.db().prepare("EXPLAIN QUERY PLAN " + select);
  while (statement.step()) out.append(statement.get_text(3)).append("; ");
  return out;
}

}  // namespace

TEST_CASE("schema: the CHECKs know every word of the domain, and no other") {
  TestStore db;
  check_words(db, "intents", "state", IntentState::needs_review);
  check_words(db, "events", "from_state", IntentState::needs_review);
  check_words(db, "events", "to_state", IntentState::needs_review);
  check_words(db, "events", "actor", domain::Actor::listener);
  check_words(db, "jobs", "kind", domain::JobKind::settle);
  check_words(db, "slots", "state", domain::SlotState::reconciliation_required);
  check_words(db, "attempts", "kind", domain::AttemptKind::noop);
  check_words(db, "attempts", "outcome", domain::AttemptOutcome::unknown);
  check_words(db, "entries", "kind", domain::EntryKind::gas);
}

TEST_CASE("schema: every table is strict") {
  TestStore db;
  CHECK(db.number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                  " AND name NOT LIKE 'sqlite_%' AND strict = 0") == 0);
  CHECK(db.number("SELECT count(*) FROM pragma_table_list WHERE strict = 1") >= 11);
}

TEST_CASE("schema: foreign keys hold") {
  TestStore db;
  Desk desk(db);
  desk.bring_to(desk.create_payout(1).id, IntentState::settled);
  CHECK(db.number("SELECT count(*) FROM pragma_foreign_key_check") == 0);
}

TEST_CASE("schema: no row of the hot queries is found by walking a table") {
  TestStore db;
  const auto searches = [&](const std::string& select) {
    const std::string plan = plan_of(db, select);
    CAPTURE(select);
    CAPTURE(plan);
    CHECK(plan.find("SCAN") == std::string::npos);
    CHECK(plan.find("TEMP B-TREE") == std::string::npos);
  };
  searches("SELECT 1 FROM intents WHERE id = x'00'");
  searches("SELECT 1 FROM intents WHERE ref = x'00'");
  searches("SELECT 1 FROM intents WHERE redemption_key = x'00' AND redemption_ended = 0");
  searches("SELECT 1 FROM intents WHERE redemption_key = x'00' AND redemption_ended = 1");
  searches(
      "SELECT 1 FROM intents WHERE state = 'failed' AND state <> 'settled' AND row < 9"
      " ORDER BY row DESC");
  searches("SELECT 1 FROM intents WHERE caller = 'c' AND row < 9 ORDER BY row DESC");
  searches(
      "SELECT 1 FROM intents WHERE chain = 'c' AND id > x'00'"
      " AND (state = 'settling' OR state = 'confirming' OR state = 'needs_review') ORDER BY id");
  searches("SELECT 1 FROM jobs WHERE visible_ms <= 5 ORDER BY visible_ms, intent");
  searches("SELECT 1 FROM jobs WHERE receipt = x'00'");
  searches("SELECT 1 FROM events WHERE intent = 1 ORDER BY seq");
  searches(
      "SELECT 1 FROM slots WHERE account = 1 AND standing = 'open'"
      " ORDER BY sequence");
  searches("SELECT 1 FROM slots WHERE account = 1 AND standing = 'released' AND sequence >= 5");
  searches("SELECT 1 FROM slots WHERE account = 1 AND sequence = 5 AND standing <> 'released'");
  searches("SELECT 1 FROM slots WHERE item = 1 ORDER BY row");
  searches("SELECT 1 FROM events WHERE request_key = x'00' AND intent IS NULL");
  searches("SELECT 1 FROM attempts WHERE intent = 1 ORDER BY row");
  searches("SELECT 1 FROM attempts WHERE slot = 1 ORDER BY row");
  searches("SELECT 1 FROM entries WHERE intent = 1");
  searches("SELECT 1 FROM entries WHERE slot = 1");
}

TEST_CASE("schema: a value that cannot be is refused by the table itself") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.bring_to(id, IntentState::confirming);
  for (const char* script : {
           "UPDATE intents SET state = 'paid'",
           "UPDATE intents SET version = 0",
           "UPDATE intents SET amount = x'01'",
           "UPDATE intents SET id = x'0102'",
           "UPDATE intents SET bearer = 1",
           "UPDATE slots SET state = 'signed_'",
           "UPDATE slots SET state = 'consumed', standing = 'consumed'",
           "UPDATE slots SET standing = 'released'",
           "UPDATE slots SET state = 'released'",
           "UPDATE slots SET sequence = -1",
           "UPDATE slots SET account = 99",
           "UPDATE attempts SET kind = 'cancel'",
           "UPDATE attempts SET intent = NULL",
           "INSERT INTO balances VALUES ('a', 'b', 'c', x'00', x'00')",
       }) {
    CAPTURE(script);
    CHECK_THROWS_AS(db.sql(script), sql::Failure);
  }
  CHECK_THROWS_AS(
      db.sql("INSERT INTO jobs (intent, kind, chain, visible_ms, deliveries, lapsed_leases, nacks,"
             " why) VALUES (99, 'settle', '', 0, 0, 0, 0, '')"),
      sql::Failure);
}

}  // namespace holdfast::test
