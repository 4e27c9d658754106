// Owns: a disk that fails when told to: a VFS over SQLite's default one that counts writes and
// syncs, and makes the nth of them fail.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <sqlite3.h>

namespace holdfast::test {

enum class FileKind { database, wal, other };

/// Registered with SQLite while it lives, under its name. Threads: any.
class FaultVfs {
 public:
  explicit FaultVfs(std::string name);
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  /// The nth write from now (1: the next) to files of this kind fails with `rc`, and the
  /// `count - 1` after it. A torn write leaves its first half on the disk.
  void fail_write(FileKind kind, int nth, int rc, std::uint64_t count = 1, bool torn = false);
  void fail_sync(FileKind kind, int nth, std::uint64_t count = 1);
  /// From the next write on, nothing more fits.
  void fill_up() { fill(true); }
  void make_room() { fill(false); }
  /// Every call on every file fails from now on: the process is as good as dead.
  void freeze(bool frozen = true);
  /// Takes back what is left of all failures.
  void heal();

  /// From now on, what each file held at its newest sync is kept: all that a power cut leaves.
  void keep_synced();
  /// Writes it into this folder, under the files' own names.
  void write_synced(const std::string& folder) const;

  std::uint64_t writes(FileKind kind) const;
  std::uint64_t syncs(FileKind kind) const;
  /// Writes since the newest sync of that kind of file.
  std::uint64_t unsynced(FileKind kind) const;

  // For the file methods. What a call on a file of this kind must answer, SQLITE_OK to go on.
  int on_write(FileKind kind, bool& torn);
  int on_sync(FileKind kind);
  int on_call() const;
  bool keeps_synced() const;
  /// `folder`: SQLite syncs the folder, too, with the first sync of a log or journal it has made.
  void synced(const std::string& path, std::string content, bool folder);
  void deleted(const std::string& path, bool durable);
  sqlite3_vfs* below() const { return below_; }

 private:
  struct Fault {
    std::uint64_t first = 0;  ///< in the count of calls; zero: none
    std::uint64_t last = 0;
    int rc = SQLITE_OK;
    bool torn = false;
  };
  struct Counts {
    std::uint64_t writes = 0;
    std::uint64_t syncs = 0;
    std::uint64_t unsynced = 0;
    Fault write;
    Fault sync;
  };
  static bool hits(const Fault& fault, std::uint64_t count);
  Counts& of(FileKind kind) { return counts_[static_cast<std::size_t>(kind)]; }
  const Counts& of(FileKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  void fill(bool full);

  std::string name_;
  sqlite3_vfs* below_;
  sqlite3_vfs vfs_{};
  mutable std::mutex mutex_;
  std::array<Counts, 3> counts_;
  bool keeps_ = false;
  std::map<std::string, std::string> synced_;  ///< by path
  std::set<std::string> deleted_;  ///< whose names may be back after a power cut
  bool full_ = false;
  bool frozen_ = false;
};

}  // namespace holdfast::test
