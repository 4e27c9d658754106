// Owns: the simulator's disk: a VFS in memory beneath SQLite that keeps what was written and what
// was synced apart, and lets a seed decide what a power cut makes of the difference.
// Must never: lose what was synced, touch a real file, or look at a real clock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include <holdfast/base/bytes.hpp>
#include <holdfast/ports/sql.hpp>

#include "sim/executor.hpp"

namespace holdfast::sim {

/// One file as SQLite sees it, and as it would be found after a power cut.
class DiskFile {
 public:
  struct Change {
    std::size_t at = 0;
    std::string data;
    bool truncates = false;  ///< to `at` bytes
  };

  std::string now;      ///< what is read
  std::string durable;  ///< what was synced
  bool is_durable = false;  ///< its name is on the disk
  bool is_there = true;     ///< false: deleted, and its name may come back
  /// Its first sync takes the folder along: SQLite does so for a log or journal that it made.
  bool syncs_folder = false;
  std::vector<Change> unsynced;
  std::vector<std::string> spare;  ///< memory of changes that were synced, for the next ones

  void write(std::size_t at, std::string_view data);
  void truncate(std::size_t size);
  void sync();
  /// Unsynced changes stop being pending: some reached the disk, the others never will, though
  /// they are still read. So does Linux after a sync that failed.
  void fail_sync(Chance& chance);

  // SQLite's locks and its shared index, which live as long as the process.
  struct Locks {
    int shared = 0;
    const void* reserved = nullptr;
    const void* pending = nullptr;
    const void* exclusive = nullptr;
  } locks;
  struct IndexLock {
    int shared = 0;
    const void* exclusive = nullptr;
  };
  std::array<IndexLock, SQLITE_SHM_NLOCK> index_locks{};
  std::vector<std::unique_ptr<char[]>> index;  // NOLINT(*-avoid-c-arrays): SQLite's regions
  int index_users = 0;
};

/// What happened to the disk so far.
struct DiskCounts {
  std::uint64_t writes = 0;
  std::uint64_t syncs = 0;
  std::uint64_t full = 0;         ///< writes refused for want of room
  std::uint64_t failed_syncs = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t kept = 0;         ///< unsynced changes that survived a power cut
  std::uint64_t dropped = 0;
  std::uint64_t torn = 0;         ///< some of its sectors survived
  std::uint64_t garbled = 0;      ///< some of its sectors hold what nobody wrote
};

/// Registered with SQLite under its name while it lives; also winds SQLite's own chance back to the
/// seed, which is one for the whole process. Threads: one.
class SimDisk {
 public:
  using Files = std::map<std::string, DiskFile, std::less<>>;
  /// Files as they are on the disk: a backup.
  using Image = std::map<std::string, std::string>;

  SimDisk(std::string name, std::uint64_t seed);
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  const std::string& name() const { return name_; }

  /// Every call on every file fails from now on, as in a process that has ended.
  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }
  /// The nth write or sync from now (1: the next) does not return: the disk is frozen in it.
  void freeze_in(std::uint64_t nth) { freeze_at_ = counts_.writes + counts_.syncs + nth; }
  /// No write that is still to come freezes it; one that did goes on doing so.
  void freeze_never() { freeze_at_ = 0; }
  /// Nothing more fits while set.
  void fill(bool full) { full_ = full; }
  /// The next sync fails, or no longer does.
  void fail_next_sync(bool fails = true) { fails_sync_ = fails; }

  /// The machine lived on, only the process died: what was written is there. Ends the freeze and
  /// all failures. No file may be open that was opened before a freeze and is used again.
  void restart();
  /// The power went: unsynced changes are kept, dropped, torn or garbled, each by chance. As
  /// `restart` otherwise.
  void cut_power();

  Image image() const;
  /// The disk is what it was then; nothing is open.
  void put_back(const Image& image);

  /// A small file of its own, replaced whole and durably; putting an image back leaves it as it is.
  std::unique_ptr<sql::SideRecord> side_record();
  const std::optional<std::string>& side_content() const { return side_; }

  const DiskCounts& counts() const { return counts_; }

  // ---- for the VFS below SQLite
  Files& files() { return files_; }
  Chance& chance() { return chance_; }
  /// What a call must answer before it does anything; SQLITE_OK to go on.
  int on_call() const { return frozen_ ? SQLITE_IOERR : SQLITE_OK; }
  int on_write();
  int on_sync(DiskFile& file);
  std::optional<Bytes> read_side() const;
  void write_side(ByteView content);

 private:
  enum class Fate { kept, dropped, torn };
  Fate draw_fate(std::uint64_t mood);
  void survive(DiskFile& file, std::uint64_t mood);
  void apply_torn(std::string& content, const DiskFile::Change& change);
  bool freezes_now();
  void sync_folder();

  std::string name_;
  Chance chance_;
  sqlite3_vfs vfs_{};
  Files files_;
  std::optional<std::string> side_;
  DiskCounts counts_;
  std::uint64_t freeze_at_ = 0;  ///< in writes and syncs; zero: never
  bool frozen_ = false;
  bool full_ = false;
  bool fails_sync_ = false;
};

/// Fills in SQLite's table for this disk (disk_vfs.cpp).
void fill_vfs(sqlite3_vfs& vfs, SimDisk& disk, const char* name);

}  // namespace holdfast::sim
