#include "support/fault_vfs.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace holdfast::test {

namespace {

// SQLite gives each open file szOsFile bytes: ours first, the file below behind it.
struct File {
  sqlite3_file base;
  FaultVfs* vfs;
  FileKind kind;
  const char* path;  ///< lives as long as the file is open
  bool is_new;       ///< a log or journal that was not synced yet
  sqlite3_file* below;
};

File& ours(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* below(sqlite3_file* file) { return ours(file).below; }
const sqlite3_io_methods& under(sqlite3_file* file) { return *below(file)->pMethods; }
int frozen(sqlite3_file* file) { return ours(file).vfs->on_call(); }

int file_close(sqlite3_file* file) {
  return below(file)->pMethods != nullptr ? under(file).xClose(below(file)) : SQLITE_OK;
}
int file_read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
  if (const int rc = frozen(file)) return rc;
  return under(file).xRead(below(file), out, size, at);
}
int file_write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  bool torn = false;
  if (const int rc = ours(file).vfs->on_write(ours(file).kind, torn)) {
    if (torn) under(file).xWrite(below(file), data, size / 2, at);
    return rc;
  }
  return under(file).xWrite(below(file), data, size, at);
}
int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const int rc = frozen(file)) return rc;
  return under(file).xTruncate(below(file), size);
}
std::string whole(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  under(file).xFileSize(below(file), &size);
  std::string out(static_cast<std::size_t>(size), '\0');
  under(file).xRead(below(file), out.data(), static_cast<int>(size), 0);
  return out;
}
int file_sync(sqlite3_file* file, int flags) {
  if (const int rc = ours(file).vfs->on_sync(ours(file).kind)) return rc;
  const int rc = under(file).xSync(below(file), flags);
  if (rc == SQLITE_OK && ours(file).path != nullptr && ours(file).vfs->keeps_synced()) {
    const bool folder = std::exchange(ours(file).is_new, false);
    ours(file).vfs->synced(ours(file).path, whole(file), folder);
  }
  return rc;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  if (const int rc = frozen(file)) return rc;
  return under(file).xFileSize(below(file), size);
}
int file_lock(sqlite3_file* file, int level) {
  if (const int rc = frozen(file)) return rc;
  return under(file).xLock(below(file), level);
}
int file_unlock(sqlite3_file* file, int level) { return under(file).xUnlock(below(file), level); }
int file_reserved(sqlite3_file* file, int* out) {
  return under(file).xCheckReservedLock(below(file), out);
}
int file_control(sqlite3_file* file, int op, void* arg) {
  return under(file).xFileControl(below(file), op, arg);
}
int file_sector(sqlite3_file* file) { return under(file).xSectorSize(below(file)); }
int file_device(sqlite3_file* file) { return under(file).xDeviceCharacteristics(below(file)); }
int file_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  if (const int rc = frozen(file)) return rc;
  return under(file).xShmMap(below(file), page, size, extend, out);
}
int file_shm_lock(sqlite3_file* file, int at, int n, int flags) {
  return under(file).xShmLock(below(file), at, n, flags);
}
void file_shm_barrier(sqlite3_file* file) { under(file).xShmBarrier(below(file)); }
int file_shm_unmap(sqlite3_file* file, int remove) {
  return under(file).xShmUnmap(below(file), remove);
}
int file_fetch(sqlite3_file* file, sqlite3_int64 at, int size, void** out) {
  return under(file).xFetch(below(file), at, size, out);
}
int file_unfetch(sqlite3_file* file, sqlite3_int64 at, void* page) {
  return under(file).xUnfetch(below(file), at, page);
}

constexpr sqlite3_io_methods methods{
    .iVersion = 3,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

FaultVfs& fault_vfs(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }

FileKind kind_of(int flags) {
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return FileKind::database;
  if ((flags & SQLITE_OPEN_WAL) != 0) return FileKind::wal;
  return FileKind::other;
}

int vfs_open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  FaultVfs& owner = fault_vfs(vfs);
  File& made = ours(file);
  made.base.pMethods = nullptr;
  if (const int rc = owner.on_call()) return rc;
  made.vfs = &owner;
  made.kind = kind_of(flags);
  made.path = path;
  made.is_new = made.kind != FileKind::database && (flags & SQLITE_OPEN_CREATE) != 0;
  made.below = reinterpret_cast<sqlite3_file*>(&made + 1);
  const int rc = owner.below()->xOpen(owner.below(), path, made.below, flags, out_flags);
  // SQLite closes what has methods, even when opening failed.
  if (made.below->pMethods != nullptr) made.base.pMethods = &methods;
  return rc;
}
int vfs_delete(sqlite3_vfs* vfs, const char* path, int sync_dir) {
  FaultVfs& owner = fault_vfs(vfs);
  if (const int rc = owner.on_call()) return rc;
  const int rc = owner.below()->xDelete(owner.below(), path, sync_dir);
  if (rc == SQLITE_OK) owner.deleted(path, sync_dir != 0);
  return rc;
}

}  // namespace

FaultVfs::FaultVfs(std::string name) : name_(std::move(name)), below_(sqlite3_vfs_find(nullptr)) {
  vfs_ = *below_;  // the calls without a file go straight below: they do not look at who they are
  vfs_.pNext = nullptr;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + below_->szOsFile;
  vfs_.xOpen = vfs_open;
  vfs_.xDelete = vfs_delete;
  sqlite3_vfs_register(&vfs_, 0);
}

FaultVfs::~FaultVfs() { sqlite3_vfs_unregister(&vfs_); }

void FaultVfs::fail_write(FileKind kind, int nth, int rc, std::uint64_t count, bool torn) {
  const std::lock_guard lock(mutex_);
  Counts& counts = of(kind);
  const std::uint64_t first = counts.writes + static_cast<std::uint64_t>(nth);
  counts.write = {.first = first, .last = first + count - 1, .rc = rc, .torn = torn};
}

void FaultVfs::fail_sync(FileKind kind, int nth, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  Counts& counts = of(kind);
  const std::uint64_t first = counts.syncs + static_cast<std::uint64_t>(nth);
  counts.sync = {.first = first, .last = first + count - 1, .rc = SQLITE_IOERR_FSYNC};
}

void FaultVfs::fill(bool full) {
  const std::lock_guard lock(mutex_);
  full_ = full;
}

void FaultVfs::freeze(bool frozen) {
  const std::lock_guard lock(mutex_);
  frozen_ = frozen;
}

void FaultVfs::heal() {
  const std::lock_guard lock(mutex_);
  for (Counts& counts : counts_) counts.write = counts.sync = Fault{};
  full_ = frozen_ = false;
}

void FaultVfs::keep_synced() {
  const std::lock_guard lock(mutex_);
  keeps_ = true;
}

bool FaultVfs::keeps_synced() const {
  const std::lock_guard lock(mutex_);
  return keeps_;
}

void FaultVfs::synced(const std::string& path, std::string content, bool folder) {
  const std::lock_guard lock(mutex_);
  if (folder) {
    for (const std::string& gone : std::exchange(deleted_, {})) synced_.erase(gone);
  }
  deleted_.erase(path);
  synced_[path] = std::move(content);
}

void FaultVfs::deleted(const std::string& path, bool durable) {
  const std::lock_guard lock(mutex_);
  if (durable) {
    synced_.erase(path);
  } else {
    deleted_.insert(path);
  }
}

void FaultVfs::write_synced(const std::string& folder) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, content] : synced_) {
    const auto name = std::filesystem::path(path).filename();
    std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << content;
  }
}

std::uint64_t FaultVfs::writes(FileKind kind) const {
  const std::lock_guard lock(mutex_);
  return of(kind).writes;
}

std::uint64_t FaultVfs::syncs(FileKind kind) const {
  const std::lock_guard lock(mutex_);
  return of(kind).syncs;
}

std::uint64_t FaultVfs::unsynced(FileKind kind) const {
  const std::lock_guard lock(mutex_);
  return of(kind).unsynced;
}

bool FaultVfs::hits(const Fault& fault, std::uint64_t count) {
  return fault.first != 0 && count >= fault.first && count <= fault.last;
}

int FaultVfs::on_write(FileKind kind, bool& torn) {
  const std::lock_guard lock(mutex_);
  Counts& counts = of(kind);
  ++counts.writes;
  ++counts.unsynced;
  if (frozen_) return SQLITE_IOERR_WRITE;
  torn = full_ || counts.write.torn;
  if (full_) return SQLITE_FULL;
  return hits(counts.write, counts.writes) ? counts.write.rc : SQLITE_OK;
}

int FaultVfs::on_sync(FileKind kind) {
  const std::lock_guard lock(mutex_);
  Counts& counts = of(kind);
  ++counts.syncs;
  if (frozen_) return SQLITE_IOERR_FSYNC;
  if (hits(counts.sync, counts.syncs)) return counts.sync.rc;
  counts.unsynced = 0;
  return SQLITE_OK;
}

int FaultVfs::on_call() const {
  const std::lock_guard lock(mutex_);
  return frozen_ ? SQLITE_IOERR : SQLITE_OK;
}

}  // namespace holdfast::test
