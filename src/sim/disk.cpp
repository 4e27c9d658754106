#include "sim/disk.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/base/ensure.hpp>

namespace holdfast::sim {

namespace {

constexpr std::size_t sector = 512;
constexpr std::size_t most_spare = 64;

void put(std::string& content, std::size_t at, std::string_view data) {
  if (content.size() < at) content.resize(at, '\0');  // a hole reads as zeros
  const std::size_t over = std::min(content.size() - at, data.size());
  std::copy_n(data.data(), over, content.data() + at);
  content.append(data.substr(over));
}

void apply_change(std::string& content, const DiskFile::Change& change) {
  if (change.truncates) {
    content.resize(std::min(content.size(), change.at));
  } else {
    put(content, change.at, change.data);
  }
}

}  // namespace

void DiskFile::write(std::size_t at, std::string_view data) {
  put(now, at, data);
  std::string copy;
  if (!spare.empty()) {
    copy = std::move(spare.back());
    spare.pop_back();
  }
  copy.assign(data);
  unsynced.push_back({at, std::move(copy), false});
}

void DiskFile::truncate(std::size_t size) {
  now.resize(std::min(now.size(), size));
  unsynced.push_back({size, {}, true});
}

void DiskFile::sync() {
  for (Change& change : unsynced) {
    apply_change(durable, change);
    if (spare.size() < most_spare) spare.push_back(std::move(change.data));
  }
  unsynced.clear();
}

void DiskFile::fail_sync(Chance& chance) {
  const std::uint64_t mood = chance.below(3);  // all of it, nothing, some
  for (const Change& change : std::exchange(unsynced, {})) {
    if (mood == 0 || (mood == 2 && chance.below(2) == 0)) apply_change(durable, change);
  }
}

SimDisk::SimDisk(std::string name, std::uint64_t seed) : name_(std::move(name)), chance_(seed) {
  fill_vfs(vfs_, *this, name_.c_str());
  ensure(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK, "SQLite takes a VFS");
  sqlite3* const nobody = nullptr;
  const int wound = static_cast<int>(chance_.next() % 0x7fff'ffff) + 1;
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, wound, nobody);
}

SimDisk::~SimDisk() { sqlite3_vfs_unregister(&vfs_); }

bool SimDisk::freezes_now() {
  if (freeze_at_ != 0 && counts_.writes + counts_.syncs >= freeze_at_) frozen_ = true;
  return frozen_;
}

int SimDisk::on_write() {
  ++counts_.writes;
  if (freezes_now()) return SQLITE_IOERR_WRITE;
  if (!full_) return SQLITE_OK;
  ++counts_.full;
  return SQLITE_FULL;
}

int SimDisk::on_sync(DiskFile& file) {
  ++counts_.syncs;
  if (freezes_now()) return SQLITE_IOERR_FSYNC;
  if (std::exchange(fails_sync_, false)) {
    ++counts_.failed_syncs;
    file.fail_sync(chance_);
    return SQLITE_IOERR_FSYNC;
  }
  file.sync();
  if (std::exchange(file.syncs_folder, false)) sync_folder();
  return SQLITE_OK;
}

// Every name made or deleted so far stays so.
void SimDisk::sync_folder() {
  for (auto& [path, file] : files_) {
    file.is_durable = file.is_there;
    if (!file.is_there) file.durable.clear();
  }
}

void SimDisk::restart() {
  freeze_at_ = 0;
  frozen_ = full_ = fails_sync_ = false;
  std::erase_if(files_, [](const auto& entry) { return !entry.second.is_there; });
  for (auto& [path, file] : files_) {
    file.locks = {};
    file.index_locks = {};
    file.index.clear();
    file.index_users = 0;
  }
}

void SimDisk::cut_power() {
  ++counts_.power_cuts;
  // Disks differ: one keeps nearly everything, one nearly nothing, one mixes.
  const std::uint64_t mood = chance_.below(4);
  for (auto& [path, file] : files_) {
    if (!file.is_there && chance_.below(2) == 0) {
      file.is_there = file.is_durable;  // the deletion was not synced: the name is back
    }
    // A name that was never synced may be gone with all that stood in it.
    if (!file.is_durable && (file.unsynced.empty() || chance_.below(2) == 0)) file.is_there = false;
    survive(file, mood);
  }
  restart();
}

SimDisk::Fate SimDisk::draw_fate(std::uint64_t mood) {
  const std::uint64_t roll = chance_.below(100);
  switch (mood) {
    case 0: return Fate::kept;
    case 1: return Fate::dropped;
    case 2: return roll < 80 ? Fate::kept : Fate::torn;
    default: return roll < 40 ? Fate::kept : roll < 80 ? Fate::dropped : Fate::torn;
  }
}

void SimDisk::survive(DiskFile& file, std::uint64_t mood) {
  std::string left = std::move(file.durable);
  for (const DiskFile::Change& change : std::exchange(file.unsynced, {})) {
    switch (draw_fate(mood)) {
      case Fate::kept:
        ++counts_.kept;
        apply_change(left, change);
        break;
      case Fate::dropped: ++counts_.dropped; break;
      case Fate::torn: apply_torn(left, change); break;
    }
  }
  file.durable = left;
  file.now = std::move(left);
  file.is_durable = true;
}

// Sector by sector: written, not written, or left with what nobody wrote.
void SimDisk::apply_torn(std::string& content, const DiskFile::Change& change) {
  if (change.truncates) return;
  ++counts_.torn;
  bool garbled = false;
  for (std::size_t from = 0; from < change.data.size();) {
    const std::size_t to =
        std::min(change.data.size(), from + sector - (change.at + from) % sector);
    std::string piece = change.data.substr(from, to - from);
    const std::uint64_t roll = chance_.below(8);
    if (roll == 0) {
      for (char& byte : piece) byte = static_cast<char>(chance_.next());
      garbled = true;
    }
    if (roll < 4) put(content, change.at + from, piece);
    from = to;
  }
  counts_.garbled += garbled ? 1 : 0;
}

namespace {

class SimSideRecord final : public sql::SideRecord {
 public:
  explicit SimSideRecord(SimDisk& disk) : disk_(disk) {}
  std::optional<Bytes> read() override { return disk_.read_side(); }
  void write(ByteView content) override { disk_.write_side(content); }
  std::string name() const override { return "the side record"; }

 private:
  SimDisk& disk_;
};

}  // namespace

std::unique_ptr<sql::SideRecord> SimDisk::side_record() {
  return std::make_unique<SimSideRecord>(*this);
}

std::optional<Bytes> SimDisk::read_side() const {
  if (frozen_) throw sql::Failure(sql::Cause::io, "the side record cannot be read");
  if (!side_) return std::nullopt;
  const ByteView content = as_bytes(*side_);
  return Bytes(content.begin(), content.end());
}

void SimDisk::write_side(ByteView content) {
  if (const int rc = on_write()) {
    throw sql::Failure(rc == SQLITE_FULL ? sql::Cause::full : sql::Cause::io,
                       "the side record cannot be written");
  }
  side_ = std::string(as_text(content));
}

SimDisk::Image SimDisk::image() const {
  Image out;
  for (const auto& [path, file] : files_) {
    if (file.is_there) out.emplace(path, file.now);
  }
  return out;
}

void SimDisk::put_back(const Image& image) {
  files_.clear();
  for (const auto& [path, content] : image) {
    DiskFile& file = files_[path];
    file.now = content;
    file.durable = content;
    file.is_durable = true;
  }
  restart();
}

}  // namespace holdfast::sim
