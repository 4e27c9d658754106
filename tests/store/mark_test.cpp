// The watermark beside the database: which stores are known to be put back from a backup.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/base/log.hpp>
#include <holdfast/sqlite/sqlite.hpp>
#include "store/fixture.hpp"
#include "store/mark.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with one store in it, closed between the calls.
struct Shelf {
  TempFolder folder;
  std::string path = folder / "pay.db";
  std::string mark = path + ".mark";
  std::uint64_t payments = 0;

  Shelf() {
    log::set_sink([](log::Level, std::string_view) {});
  }

  /// Payments that are created, held and settled: events and journal entries.
  void use(std::uint64_t more) {
    TestStore store(path);
    Desk desk(store);
    desk.chain_count = payments;
    for (std::uint64_t i = 0; i < more; ++i) {
      desk.bring_to(desk.create_payout(++payments).id, IntentState::settled);
    }
  }
  /// Opens it as an engine does, and closes it. What `restored` says.
  std::optional<std::string> open() const {
    boost::asio::io_context io;
    const store::Store store(sqlite::open_sqlite({.path = path}), {.waiters = io.get_executor()});
    return store.restored();
  }
  /// The sentence of the refusal.
  std::string refusal() const {
    try {
      open();
    } catch (const store::StoreUnavailable& refused) {
      CHECK(refused.cause() == sql::Cause::corrupt);
      return refused.what();
    }
    return "opened";
  }
  void keep_copy() const { fs::copy_file(path, path + ".copy"); }
  void put_copy_back() const {
    fs::copy_file(path + ".copy", path, fs::copy_options::overwrite_existing);
  }
};

}  // namespace

TEST_CASE("mark: what is written is read, and nothing that was altered is") {
  store::Mark mark;
  mark.store.value.fill(7);
  mark.journal = 12;
  mark.entry_hash.fill(9);
  mark.event = 345;
  const std::string text = store::encode_mark(mark);
  CHECK(store::decode_mark(text) == mark);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string altered = text;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    CHECK_FALSE(store::decode_mark(altered).has_value());
    CHECK_FALSE(store::decode_mark(text.substr(0, at)).has_value());
  }
  CHECK_FALSE(store::decode_mark(text + text).has_value());
}

TEST_CASE("mark: a store put back from a backup opens as restored, until somebody answers for it") {
  Shelf shelf;
  shelf.use(2);
  CHECK_FALSE(shelf.open().has_value());
  shelf.keep_copy();
  shelf.use(3);
  CHECK_FALSE(shelf.open().has_value());
  shelf.put_copy_back();

  const auto restored = shelf.open();
  REQUIRE(restored.has_value());
  CHECK(contains(*restored, "the store pay.db ends at journal entry"));
  CHECK(contains(*restored, "was put back from a backup"));
  CHECK_FALSE(contains(*restored, shelf.folder.path().string()));
  // However often it is opened, and however far it is used.
  shelf.payments = 2;
  shelf.use(9);
  CHECK(shelf.open() == restored);

  TestStore store(shelf.path);
  CHECK(store.write([](store::Txn& txn) { return store::acknowledge_restored(txn, "desk", 77); }));
  CHECK_FALSE(
      store.write([](store::Txn& txn) { return store::acknowledge_restored(txn, "desk", 78); }));
  CHECK(store.text("SELECT reason FROM events WHERE kind = 'account' AND who = 'desk'") ==
        "acknowledged: " + *restored);
}

TEST_CASE("mark: after an operator has answered the store is one like any other") {
  Shelf shelf;
  shelf.use(1);
  shelf.keep_copy();
  shelf.use(1);
  shelf.open();
  shelf.put_copy_back();
  REQUIRE(shelf.open().has_value());
  TestStore(shelf.path).write([](store::Txn& txn) {
    return store::acknowledge_restored(txn, "desk", 77);
  });
  CHECK_FALSE(shelf.open().has_value());
}

TEST_CASE("mark: a store ahead of its mark is the usual one") {
  Shelf shelf;
  shelf.use(1);
  shelf.open();
  const std::string old = content_of(shelf.mark);
  shelf.use(5);
  shelf.open();
  std::ofstream(shelf.mark, std::ios::binary) << old;
  CHECK_FALSE(shelf.open().has_value());
  CHECK(content_of(shelf.mark) != old);
}

TEST_CASE("mark: as many entries as before, but others, is another history") {
  Shelf shelf;
  shelf.use(1);
  shelf.keep_copy();
  shelf.use(2);
  shelf.open();
  shelf.put_copy_back();
  shelf.payments = 50;  // others than those that were lost
  {
    TestStore store(shelf.path);
    Desk desk(store);
    desk.chain_count = 1;
    for (std::uint64_t i = 50; i < 58; ++i) {
      desk.bring_to(desk.create_payout(i).id, IntentState::settled);
    }
  }
  const auto restored = shelf.open();
  REQUIRE(restored.has_value());
  CHECK(contains(*restored, "holds another journal entry"));
}

TEST_CASE("mark: without one a store that was used opens, and has one from then on") {
  Shelf shelf;
  shelf.use(2);
  CHECK_FALSE(fs::exists(shelf.mark));
  CHECK_FALSE(shelf.open().has_value());
  CHECK(store::decode_mark(content_of(shelf.mark)).has_value());
}

TEST_CASE("mark: another store's mark is refused with a sentence, and so is a damaged one") {
  Shelf shelf;
  shelf.use(1);
  shelf.open();
  const std::string whole = content_of(shelf.mark);

  std::string damaged = whole;
  damaged[60] ^= 1;
  std::ofstream(shelf.mark, std::ios::binary) << damaged;
  CHECK(contains(shelf.refusal(), "its mark pay.db.mark is damaged"));

  std::ofstream(shelf.mark, std::ios::binary) << whole;
  fs::remove(shelf.path);  // a new store in the place of one that was lost
  CHECK(contains(shelf.refusal(), "its mark pay.db.mark belongs to another store"));
  CHECK(content_of(shelf.mark) == whole);
  fs::remove(shelf.mark);
  CHECK_FALSE(shelf.open().has_value());
}

TEST_CASE("mark: it is kept while the store runs, and not by a store in memory") {
  Shelf shelf;
  boost::asio::io_context io;
  const auto run = [&io](store::Store& store) {
    std::exception_ptr failed;
    boost::asio::co_spawn(io, store.keep_mark(),
                          [&](std::exception_ptr error) { failed = std::move(error); });
    io.restart();
    io.run();
    CHECK_FALSE(failed);
  };
  store::Store store(sqlite::open_sqlite({.path = shelf.path}), {.waiters = io.get_executor()});
  const std::string at_first = content_of(shelf.mark);
  boost::asio::co_spawn(io, store.write([](store::Txn& txn) {
    return store::take_over_account(txn, chain, our_account, "test", 5);
  }),
                        [](const std::exception_ptr&, std::uint64_t) {});
  io.run();
  CHECK(content_of(shelf.mark) == at_first);
  run(store);
  CHECK(content_of(shelf.mark) != at_first);
  CHECK(store::decode_mark(content_of(shelf.mark))->event == 1);

  store::Store memory(sqlite::open_sqlite({.path = ":memory:"}), {.waiters = io.get_executor()});
  CHECK_FALSE(memory.restored().has_value());
  run(memory);
}

TEST_CASE("mark: an entry of the journal's tail that was edited is refused, naming its number") {
  Shelf shelf;
  shelf.use(3);
  shelf.open();
  {
    TestStore store(shelf.path);
    store.sql("DROP TRIGGER entries_stay; UPDATE entries SET at_ms = at_ms + 1 WHERE sequence = 4");
  }
  CHECK(shelf.refusal() ==
        "the store pay.db is damaged: the journal is broken at sequence number 4: its content or "
        "the entry before it does not match its hash");
}

TEST_CASE("mark: an entry that is missing from the journal's tail is refused, naming its number") {
  Shelf shelf;
  shelf.use(3);
  {
    TestStore store(shelf.path);
    store.sql("DROP TRIGGER entries_remain; DELETE FROM entries WHERE sequence = 2");
  }
  CHECK(contains(shelf.refusal(), "broken at sequence number 2: the entry is missing"));
}
