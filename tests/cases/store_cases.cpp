// Cases D: what is on the disk after the power failed, or after the disk lied.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>

#include <holdfast/sqlite/sqlite.hpp>

#include "rig.hpp"
#include "store/audit.hpp"
#include "store/fixture.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

namespace fs = std::filesystem;

void overwrite(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace

TEST_CASE("D3: after a power cut everything answered and everything sent is there") {
  const test::TempFolder mirror;
  Options options;
  options.environment = {"LD_PRELOAD=" HOLDFAST_SYNC_MIRROR,
                         "HOLDFAST_MIRROR_TO=" + mirror.path().string()};
  Rig rig(options);
  rig.options.environment.push_back("HOLDFAST_MIRROR_FROM=" + rig.folder());
  // What the first opening wrote was synced by a process that nobody watched.
  fs::copy(rig.store_path(), mirror / "pay.db");
  rig.start();
  for (int i = 0; i < 12; ++i) {
    rig.payout();
    if (i % 3 == 0) rig.mine();
  }
  CHECK(test::within_ms(5'000, [&] { return rig.proxy->raws().size() >= 12; }));
  rig.payout();
  rig.kill();
  REQUIRE(fs::exists(mirror / "pay.db-wal"));
  CHECK(fs::exists(mirror / "folder.synced"));
  // Only what was synced survives.
  for (const char* name : {"pay.db", "pay.db-wal", "pay.db-shm"}) {
    fs::remove(rig.folder() + "/" + name);
  }
  for (const char* name : {"pay.db", "pay.db-wal"})
    fs::copy(mirror / name, rig.folder() + "/" + name);
  for (const Payment& one : rig.payments) CHECK(rig.count_of(one, "WHERE 1") == 1);
  for (const test::SentRaw& raw : rig.proxy->raws()) CHECK(rig.store().has_attempt(raw.hash));
  rig.options.environment.clear();
  rig.start();
  CHECK(rig.mine_until(rig.payments, "settled", 30'000));
  CHECK(rig.transfers_of_all() == 13);
  rig.check_all();
}

namespace {

/// A store that died with its newest commits in the write-ahead log.
struct DeadStore {
  test::TempFolder folder;
  std::string db;
  std::string wal;
  std::int64_t intents = 0;

  explicit DeadStore(const Rig& rig) {
    db = test::content_of(rig.store_path());
    wal = test::content_of(rig.store_path() + "-wal");
    intents = rig.store().number("SELECT count(*) FROM intents");
  }
  std::string path() const { return folder / "pay.db"; }
  /// The two files as they would be found.
  void lay(const std::string& db_file, const std::string& wal_file) const {
    fs::remove(path() + "-shm");
    overwrite(path(), db_file);
    overwrite(path() + "-wal", wal_file);
  }
  /// Opened as the engine does; the number of intents, or -1 when it refused.
  std::int64_t opened() const {
    try {
      sqlite::SqliteOptions options;
      options.path = path();
      const auto driver = sqlite::open_sqlite(options);
      const auto writer = driver->open_writer();
      store::Txn txn(*writer);
      const auto report = store::audit(txn, nullptr);
      for (const store::Finding& finding : report.findings) FAIL_CHECK(finding.sentence);
      return static_cast<std::int64_t>(report.intents);
    } catch (const sql::Failure&) {
      return -1;
    }
  }
};

}  // namespace

TEST_CASE("D4: a torn tail opens at the last whole commit; damage before it is refused or found") {
  Rig rig;
  rig.start();
  for (int i = 0; i < 4; ++i) rig.payout();
  CHECK(rig.mine_until(rig.payments, "settled"));
  for (int i = 0; i < 3; ++i) rig.created();
  rig.kill();
  const DeadStore dead(rig);
  constexpr std::size_t frame = 4096 + 24;
  REQUIRE(dead.wal.size() > 12 * frame);

  dead.lay(dead.db, dead.wal);
  CHECK(dead.opened() == dead.intents);
  // Cut anywhere in the newest records: never an error, and never less than a shorter cut keeps.
  std::int64_t before = dead.intents;
  for (std::size_t cut = 1; cut < 3 * frame; cut += 211) {
    CAPTURE(cut);
    dead.lay(dead.db, dead.wal.substr(0, dead.wal.size() - cut));
    const std::int64_t now = dead.opened();
    CHECK(now >= 0);
    CHECK(now <= before);
    before = now;
  }
  // Zeros where the tail was, as some file systems leave them.
  std::string zeros = dead.wal;
  std::fill(zeros.end() - static_cast<std::ptrdiff_t>(frame / 2), zeros.end(), '\0');
  dead.lay(dead.db, zeros);
  CHECK(dead.opened() >= 0);

  // A bit in any record of the log ends the log there; the record is never taken as it is.
  for (std::size_t at = 32 + 100; at < dead.wal.size(); at += 5 * frame) {
    std::string flipped = dead.wal;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    dead.lay(dead.db, flipped);
    CAPTURE(at);
    CHECK(dead.opened() <= dead.intents);
  }
  // The file's head, with nothing in the log to make it good.
  dead.lay(dead.db, dead.wal);
  CHECK(dead.opened() == dead.intents);
  const std::string whole = test::content_of(dead.path());
  std::string headless = whole;
  std::fill_n(headless.begin(), 100, '\0');
  dead.lay(headless, "");
  CHECK(dead.opened() == -1);
  CHECK(run_binary(HOLDFAST_BINARY, {"audit", "--store", dead.path()}, nullptr) == 3);

  // An edited row is found by the walk, with its number.
  dead.lay(whole, "");
  {
    sqlite::SqliteOptions options;
    options.path = dead.path();
    const auto driver = sqlite::open_sqlite(options);
    const auto writer = driver->open_writer();
    writer->execute("DROP TRIGGER entries_stay");
    writer->execute("UPDATE entries SET at_ms = at_ms + 1 WHERE sequence = 3");
  }
  std::string said;
  CHECK(run_binary(HOLDFAST_BINARY, {"ledger", "verify", "--store", dead.path()}, &said) == 1);
  CHECK(said.find('3') != std::string::npos);
  rig.start();
  Allowed allowed;
  allowed.unsettled = true;
  rig.check_all(allowed);
}

TEST_CASE("D4: with a log that is damaged or gone the server sends nothing, and says why") {
  const test::TempFolder kept;
  Rig rig;
  rig.options.lease_ms = 1'000;  // the mark beside the store is kept every third of it
  rig.start();
  rig.payouts(2);
  CHECK(rig.mine_until(rig.payments, "settled"));
  test::pause_ms(1'000);
  rig.kill();
  Rig::copy_store(rig.folder(), kept.path().string(), true);
  const std::size_t sent = rig.proxy->raws().size();
  const std::string log = test::content_of(rig.store_path() + "-wal");
  SUBCASE("a bit of an early record is another: refused, with its place") {
    std::string flipped = log;
    flipped[32 + 24 + 100] ^= 0x10;
    overwrite(rig.store_path() + "-wal", flipped);
    rig.start_unready();
    CHECK(rig.server().wait(10'000).code == 3);
    CHECK(rig.logged("frame 1 of its log"));
    CHECK(rig.proxy->raws().size() == sent);
  }
  SUBCASE("the log is gone: an older store, which pays nobody before a person answered for it") {
    fs::remove(rig.store_path() + "-wal");
    // Noops may want to use up what was lost: nobody gets them, for the log comes back.
    rig.proxy->add({.method = "eth_sendRawTransaction", .calls = 0, .fault = test::cut()});
    rig.proxy->forget_raws();
    rig.start();
    const Payment next = rig.payout();
    for (int i = 0; i < 5; ++i) {
      rig.mine();
      test::pause_ms(300);
    }
    CHECK(rig.state(next.id) == "authorized");
    CHECK(rig.logged("account_blocked"));
    CHECK(rig.pays_sent() == 0);
    rig.kill();
    rig.payments.pop_back();
    rig.proxy->forget_raws();
    rig.proxy->heal();
  }
  // As it was, it is well.
  Rig::remove_store(rig.folder());
  Rig::copy_store(kept.path().string(), rig.folder(), true);
  rig.start();
  rig.payout();
  CHECK(rig.mine_until(rig.payments, "settled"));
  CHECK(rig.transfers_of_all() == 3);
  rig.check_all();
}
