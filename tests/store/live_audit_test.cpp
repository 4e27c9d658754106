// The audit on a reader's connection while the writer goes on: `holdfast audit` on a live store.
#include <memory>

#include <holdfast/sqlite/sqlite.hpp>

#include "store/audit.hpp"
#include "store/fixture.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {

TEST_CASE("audit: on a live store it sees each payment at one moment, and holds no view open") {
  const TempFolder folder;
  TestStore db(folder / "store.db");
  Desk desk(db);
  // More than a page of payments and of entries, some of them half way.
  for (std::uint64_t i = 0; i < 250; ++i) {
    const IntentId id = desk.create_payout(i).id;
    desk.bring_to(id, i % 3 == 0 ? IntentState::settling : IntentState::settled);
  }
  const auto reader = db.driver().open_reader();
  store::Txn txn(*reader);
  std::uint64_t calls = 0;
  std::uint64_t next = 1000;
  const auto report = store::audit(txn, [&](std::uint64_t, std::uint64_t) {
    ++calls;
    desk.bring_to(desk.create_payout(next++).id, IntentState::settled);
  });
  for (const store::Finding& finding : report.findings) FAIL(finding.sentence);
  CHECK(calls == 2);
  CHECK(report.intents == 250);
  // What was written meanwhile is seen by the next look: no view was left open.
  CHECK(store::audit(txn, nullptr).intents == 252);
  CHECK(store::verify_ledger(txn, nullptr).good());
}

}  // namespace holdfast::test
