// SQLite's side of the simulated disk: its table of calls, in C's terms. Nothing throws through it.
#include <algorithm>
#include <cstring>

#include "sim/disk.hpp"

namespace holdfast::sim {

namespace {

/// What SQLite gives szOsFile bytes for.
struct Open {
  sqlite3_file base;
  SimDisk* disk;
  DiskFile* file;
  int level;  ///< SQLITE_LOCK_…
  unsigned shared_index;  ///< bits of the index locks that this handle holds shared
  unsigned exclusive_index;
  bool maps_index;
};

Open& open_of(sqlite3_file* file) { return *reinterpret_cast<Open*>(file); }
SimDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<SimDisk*>(vfs->pAppData); }

// ---- locks: see sqlite.org/lockingv3.html and the comment of xShmLock

void let_go(Open& open, int level) {
  DiskFile::Locks& locks = open.file->locks;
  if (open.level > SQLITE_LOCK_SHARED && level <= SQLITE_LOCK_SHARED) {
    if (locks.reserved == &open) locks.reserved = nullptr;
    if (locks.pending == &open) locks.pending = nullptr;
    if (locks.exclusive == &open) locks.exclusive = nullptr;
  }
  if (open.level > SQLITE_LOCK_NONE && level == SQLITE_LOCK_NONE) --locks.shared;
  open.level = std::min(open.level, level);
}

int file_lock(sqlite3_file* file, int level) {
  Open& open = open_of(file);
  if (const int rc = open.disk->on_call()) return rc;
  if (level <= open.level) return SQLITE_OK;
  DiskFile::Locks& locks = open.file->locks;
  const auto others = [&](const void* holder) { return holder != nullptr && holder != &open; };
  if (open.level == SQLITE_LOCK_NONE) {
    if (others(locks.pending) || others(locks.exclusive)) return SQLITE_BUSY;
    ++locks.shared;
    open.level = SQLITE_LOCK_SHARED;
  }
  if (level == SQLITE_LOCK_SHARED) return SQLITE_OK;
  if (others(locks.reserved) || others(locks.pending)) return SQLITE_BUSY;
  locks.reserved = &open;
  open.level = SQLITE_LOCK_RESERVED;
  if (level == SQLITE_LOCK_RESERVED) return SQLITE_OK;
  locks.pending = &open;
  open.level = SQLITE_LOCK_PENDING;
  if (level == SQLITE_LOCK_PENDING) return SQLITE_OK;
  if (locks.shared > 1) return SQLITE_BUSY;
  locks.exclusive = &open;
  open.level = SQLITE_LOCK_EXCLUSIVE;
  return SQLITE_OK;
}

int file_unlock(sqlite3_file* file, int level) {
  let_go(open_of(file), level);
  return SQLITE_OK;
}

int file_check_reserved(sqlite3_file* file, int* out) {
  *out = open_of(file).file->locks.reserved != nullptr ? 1 : 0;
  return SQLITE_OK;
}

int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  Open& open = open_of(file);
  *out = nullptr;
  if (const int rc = open.disk->on_call()) return rc;
  auto& index = open.file->index;
  if (!open.maps_index) ++open.file->index_users;
  open.maps_index = true;
  const auto wanted = static_cast<std::size_t>(region);
  if (wanted >= index.size() && extend == 0) return SQLITE_OK;
  while (wanted >= index.size()) {
    index.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));  // NOLINT
  }
  *out = index[wanted].get();
  return SQLITE_OK;
}

bool free_for(const DiskFile::IndexLock& lock, const Open& open, unsigned bit, bool exclusive) {
  if (lock.exclusive != nullptr && lock.exclusive != &open) return false;
  if (!exclusive) return true;
  const int mine = (open.shared_index & bit) != 0 ? 1 : 0;
  return lock.shared == mine;
}

void shm_release(Open& open, int place) {
  const unsigned bit = 1U << static_cast<unsigned>(place);
  DiskFile::IndexLock& lock = open.file->index_locks[static_cast<std::size_t>(place)];
  if ((open.shared_index & bit) != 0) --lock.shared;
  if ((open.exclusive_index & bit) != 0) lock.exclusive = nullptr;
  open.shared_index &= ~bit;
  open.exclusive_index &= ~bit;
}

int shm_lock(sqlite3_file* file, int first, int count, int flags) {
  Open& open = open_of(file);
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    for (int place = first; place < first + count; ++place) shm_release(open, place);
    return SQLITE_OK;
  }
  if (const int rc = open.disk->on_call()) return rc;
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  for (int place = first; place < first + count; ++place) {
    const unsigned bit = 1U << static_cast<unsigned>(place);
    if (!free_for(open.file->index_locks[static_cast<std::size_t>(place)], open, bit, exclusive)) {
      return SQLITE_BUSY;
    }
  }
  for (int place = first; place < first + count; ++place) {
    const unsigned bit = 1U << static_cast<unsigned>(place);
    DiskFile::IndexLock& lock = open.file->index_locks[static_cast<std::size_t>(place)];
    if (exclusive) {
      lock.exclusive = &open;
      open.exclusive_index |= bit;
    } else if ((open.shared_index & bit) == 0) {
      ++lock.shared;
      open.shared_index |= bit;
    }
  }
  return SQLITE_OK;
}

void shm_barrier(sqlite3_file*) {}

int shm_unmap(sqlite3_file* file, int) {
  Open& open = open_of(file);
  if (!open.maps_index) return SQLITE_OK;
  open.maps_index = false;
  if (--open.file->index_users == 0) open.file->index.clear();
  return SQLITE_OK;
}

// ---- content

int file_close(sqlite3_file* file) {
  Open& open = open_of(file);
  for (int place = 0; place < SQLITE_SHM_NLOCK; ++place) shm_release(open, place);
  shm_unmap(file, 0);
  let_go(open, SQLITE_LOCK_NONE);
  return SQLITE_OK;
}

int file_read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
  const Open& open = open_of(file);
  if (const int rc = open.disk->on_call()) return rc;
  const std::string& now = open.file->now;
  const auto from = static_cast<std::size_t>(at);
  const auto wanted = static_cast<std::size_t>(size);
  const std::size_t got = from >= now.size() ? 0 : std::min(wanted, now.size() - from);
  if (got > 0) std::memcpy(out, now.data() + from, got);
  if (got == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(out) + got, 0, wanted - got);
  return SQLITE_IOERR_SHORT_READ;
}

int file_write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  const Open& open = open_of(file);
  const int rc = open.disk->on_write();
  const std::string_view all(static_cast<const char*>(data), static_cast<std::size_t>(size));
  // A write that fails may have begun.
  if (rc == SQLITE_OK) {
    open.file->write(static_cast<std::size_t>(at), all);
  } else if (open.disk->chance().below(2) == 0) {
    open.file->write(static_cast<std::size_t>(at), all.substr(0, all.size() / 2));
  }
  return rc;
}

int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  const Open& open = open_of(file);
  if (const int rc = open.disk->on_call()) return rc;
  open.file->truncate(static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int file_sync(sqlite3_file* file, int) {
  const Open& open = open_of(file);
  return open.disk->on_sync(*open.file);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  const Open& open = open_of(file);
  if (const int rc = open.disk->on_call()) return rc;
  *size = static_cast<sqlite3_int64>(open.file->now.size());
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int file_sector_size(sqlite3_file*) { return 4096; }
int file_device(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

constexpr sqlite3_io_methods methods{
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// ---- names

int vfs_open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  SimDisk& disk = disk_of(vfs);
  Open& made = open_of(file);
  made = Open{};
  if (const int rc = disk.on_call()) return rc;
  if (path == nullptr) return SQLITE_CANTOPEN;  // temporary files are in memory: see temp_store
  const auto known = disk.files().find(std::string_view(path));
  const bool is_there = known != disk.files().end() && known->second.is_there;
  if (!is_there && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
  DiskFile& content = disk.files()[path];
  if (!is_there) {
    const bool was_durable = content.is_durable && known != disk.files().end();
    std::string before = std::move(content.durable);
    content = DiskFile{};
    if (was_durable) {  // until this one is synced, a power cut may bring the old one back
      content.is_durable = true;
      content.durable = std::move(before);
      content.truncate(0);
    }
  }
  const int journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  if (!is_there && (flags & journals) != 0) content.syncs_folder = true;
  made.disk = &disk;
  made.file = &content;
  made.base.pMethods = &methods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int vfs_delete(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  SimDisk& disk = disk_of(vfs);
  if (const int rc = disk.on_call()) return rc;
  const auto known = disk.files().find(std::string_view(path));
  if (known == disk.files().end() || !known->second.is_there) return SQLITE_IOERR_DELETE_NOENT;
  known->second.is_there = false;
  known->second.now.clear();
  known->second.unsynced.clear();
  if (sync_folder != 0) known->second.is_durable = false;
  return SQLITE_OK;
}

int vfs_access(sqlite3_vfs* vfs, const char* path, int, int* out) {
  SimDisk& disk = disk_of(vfs);
  if (const int rc = disk.on_call()) return rc;
  const auto known = disk.files().find(std::string_view(path));
  *out = known != disk.files().end() && known->second.is_there ? 1 : 0;
  return SQLITE_OK;
}

int vfs_full_name(sqlite3_vfs*, const char* path, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", path);
  return SQLITE_OK;
}

int vfs_randomness(sqlite3_vfs* vfs, int size, char* out) {
  for (int i = 0; i < size; ++i) out[i] = static_cast<char>(disk_of(vfs).chance().next());
  return size;
}

int vfs_sleep(sqlite3_vfs*, int microseconds) { return microseconds; }

constexpr sqlite3_int64 one_day_of_2026 = 212'633'640'000'000;  // a Julian day, in ms

int vfs_time(sqlite3_vfs*, double* out) {
  *out = static_cast<double>(one_day_of_2026) / 86'400'000.0;
  return SQLITE_OK;
}
int vfs_time_ms(sqlite3_vfs*, sqlite3_int64* out) {
  *out = one_day_of_2026;
  return SQLITE_OK;
}
int vfs_last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

void fill_vfs(sqlite3_vfs& vfs, SimDisk& disk, const char* name) {
  vfs = sqlite3_vfs{};
  vfs.iVersion = 2;
  vfs.szOsFile = static_cast<int>(sizeof(Open));
  vfs.mxPathname = 512;
  vfs.zName = name;
  vfs.pAppData = &disk;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  vfs.xAccess = vfs_access;
  vfs.xFullPathname = vfs_full_name;
  vfs.xRandomness = vfs_randomness;
  vfs.xSleep = vfs_sleep;
  vfs.xCurrentTime = vfs_time;
  vfs.xGetLastError = vfs_last_error;
  vfs.xCurrentTimeInt64 = vfs_time_ms;
}

}  // namespace holdfast::sim
