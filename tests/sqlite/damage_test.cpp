// What a cut, a flipped bit or a blank stretch does to a store, and what a power cut leaves.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "sqlite/opening.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using test::FaultVfs;
using test::TempFolder;
namespace fs = std::filesystem;

constexpr const char* schema[] = {"CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT) STRICT"};
constexpr std::size_t head_size = 32;
constexpr std::size_t frame_size = 24 + 4'096;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void add_notes(sql::Connection& db, int count) {
  db.begin_write();
  auto& insert = db.prepare("INSERT INTO notes (text) VALUES ($1)");
  const std::string text(2'500, 'n');
  for (int i = 0; i < count; ++i) {
    insert.bind_text(1, text);
    insert.step();
  }
  db.commit();
}

std::int64_t count_notes(sql::Connection& db) {
  auto& count = db.prepare("SELECT count(*) FROM notes");
  REQUIRE(count.step());
  return count.get_int(0);
}

/// How many notes a store has, or the sentence of its refusal.
struct Opened {
  std::int64_t notes = -1;
  std::string refusal;
};

Opened open(const std::string& path) {
  Opened out;
  try {
    out.notes = count_notes(*sqlite::open_sqlite_with({.path = path}, schema)->open_writer());
  } catch (const sql::Failure& failure) {
    CHECK(failure.cause() == sql::Cause::corrupt);
    out.refusal = failure.what();
  }
  return out;
}

/// A store whose process died: three commits in its log behind earlier ones, of one, one and (the
/// last) two notes.
struct Dead {
  TempFolder folder;
  std::string path = folder / "pay.db";
  std::string log;                  ///< as it was found
  std::vector<std::size_t> ends;    ///< of the commits, in frames: that of the schema, then ours
  std::vector<std::int64_t> notes;  ///< after each of them

  Dead() {
    FaultVfs disk("dead");
    auto db = sqlite::open_sqlite_with({.path = path, .vfs = disk.name()}, schema)->open_writer();
    const auto note_end = [&] {
      ends.push_back((fs::file_size(path + "-wal") - head_size) / frame_size);
      notes.push_back(count_notes(*db));
    };
    note_end();
    for (const int more : {3, 1, 1, 2}) {
      add_notes(*db, more);
      note_end();
    }
    disk.freeze();
    db.reset();
    fs::copy_file(path, path + ".kept");
    log = test::content_of(path + "-wal");
    REQUIRE(log.size() == head_size + ends.back() * frame_size);
  }
  Opened with_log(const std::string& content) const {
    fs::copy_file(path + ".kept", path, fs::copy_options::overwrite_existing);
    fs::remove(path + "-shm");
    std::ofstream(path + "-wal", std::ios::binary) << content;
    return open(path);
  }
  std::int64_t notes_in(std::size_t whole_frames) const {
    std::int64_t out = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i] <= whole_frames) out = notes[i];
    }
    return out;
  }
};

}  // namespace

TEST_CASE("D4: a log that ends anywhere in its last commits opens at the last whole one") {
  const Dead dead;
  const std::size_t first = dead.ends[dead.ends.size() - 4];
  for (std::size_t frame = first; frame < dead.ends.back(); ++frame) {
    CAPTURE(frame);
    for (std::size_t in_frame = 0; in_frame < frame_size; in_frame += in_frame < 26 ? 1 : 101) {
      const auto opened =
          dead.with_log(dead.log.substr(0, head_size + frame * frame_size + in_frame));
      REQUIRE_MESSAGE(opened.notes == dead.notes_in(frame), in_frame << ": " << opened.refusal);
    }
  }
  CHECK(dead.with_log(dead.log).notes == dead.notes.back());
}

TEST_CASE("D4: a bit flipped before the last commit is refused, naming the frame") {
  const Dead dead;
  const std::size_t before_last = dead.ends[dead.ends.size() - 2];
  for (std::size_t frame = 0; frame < dead.ends.back(); ++frame) {
    CAPTURE(frame);
    // Page number, commit mark, salts, sums, and the page's first, middle and last byte.
    for (const std::size_t at : {3UL, 7UL, 9UL, 14UL, 17UL, 22UL, 24UL, 2'000UL, frame_size - 1}) {
      CAPTURE(at);
      std::string flipped = dead.log;
      flipped[head_size + frame * frame_size + at] ^= 0x10;
      const auto opened = dead.with_log(flipped);
      const std::string place = "frame " + std::to_string(frame + 1) + " of its log";
      const bool refused = contains(opened.refusal, "the store pay.db is damaged: " + place);
      // In the last commit it looks like a torn end, but where a frame now claims to be a commit.
      const bool torn = frame >= before_last && opened.notes == dead.notes_in(before_last);
      CHECK((refused || torn));
    }
  }
  for (const std::size_t at : {2UL, 10UL, 17UL, 21UL, 26UL, 30UL}) {
    CAPTURE(at);
    std::string flipped = dead.log;
    flipped[at] ^= 0x10;
    CHECK(contains(dead.with_log(flipped).refusal, "the head of its log does not check"));
  }
}

TEST_CASE("D4: a log whose end is blank opens at the last whole commit") {
  const Dead dead;
  for (std::size_t frame = 0; frame <= dead.ends.back(); ++frame) {
    std::string blank = dead.log;
    const std::size_t from = head_size + frame * frame_size;
    std::fill(blank.begin() + static_cast<std::ptrdiff_t>(from), blank.end(), '\0');
    if (frame < dead.ends.front()) continue;  // then there is no schema yet: a new store
    CHECK(dead.with_log(blank).notes == dead.notes_in(frame));
  }
  CHECK(dead.with_log(std::string(dead.log.size(), '\0')).refusal.empty());
}

TEST_CASE("D4: what a failed commit left in the log is no damage") {
  const TempFolder folder;
  FaultVfs disk("leftover");
  const std::string path = folder / "pay.db";
  auto db = sqlite::open_sqlite_with({.path = path, .vfs = disk.name()}, schema)->open_writer();
  add_notes(*db, 1);
  // Long commits that end for want of room, at every write, then short ones that succeed.
  for (const int nth : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14}) {
    disk.fail_write(test::FileKind::wal, nth, SQLITE_FULL);
    try {
      add_notes(*db, 8);
    } catch (const sql::Failure& failure) {
      CHECK(failure.cause() == sql::Cause::full);
    }
    disk.heal();
    if (nth % 3 == 0) add_notes(*db, 1);
  }
  add_notes(*db, 1);  // what is left of the longer one stands behind it
  const std::int64_t notes = count_notes(*db);
  disk.freeze();
  db.reset();
  disk.heal();
  CHECK(open(path).notes == notes);
}

TEST_CASE("D3: after each acknowledged commit a power cut loses nothing") {
  const TempFolder folder;
  FaultVfs disk("power");
  disk.keep_synced();
  const auto driver = sqlite::open_sqlite_with(
      {.path = folder / "pay.db", .vfs = disk.name(), .checkpoint_pages = 8}, schema);
  auto db = driver->open_writer();
  for (int i = 1; i <= 30; ++i) {
    CAPTURE(i);
    add_notes(*db, 1);
    const TempFolder copy;
    disk.write_synced(copy.path().string());
    CHECK(open(copy / "pay.db").notes == i);
  }
  CHECK(disk.syncs(test::FileKind::database) > 0);  // checkpoints were among it
  db.reset();
  const TempFolder copy;
  disk.write_synced(copy.path().string());
  CHECK(open(copy / "pay.db").notes == 30);
}
