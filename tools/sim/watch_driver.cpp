// The watch's place: a driver around the store's own, whose connection tells of each commit.
#include <utility>

#include "watch.hpp"

namespace holdfast::campaign {

namespace {

/// Hands everything on, and tells the watch what was committed.
class WatchedConnection final : public sql::Connection {
 public:
  WatchedConnection(std::unique_ptr<sql::Connection> below, Watch& watch, sim::SimDisk& disk)
      : below_(std::move(below)), watch_(watch), disk_(disk) {}
  ~WatchedConnection() override { watch_.closed(); }
  WatchedConnection(const WatchedConnection&) = delete;
  WatchedConnection& operator=(const WatchedConnection&) = delete;

  sql::Statement& prepare(std::string_view sql) override { return below_->prepare(sql); }
  void execute(const char* sql) override { below_->execute(sql); }
  void begin_write() override { below_->begin_write(); }
  void commit() override {
    below_->commit();
    try {
      watch_.committed(*below_);
    } catch (const sql::Failure& failure) {
      watch_.missed(disk_.frozen(), failure.what());
    }
  }
  void rollback() override { below_->rollback(); }
  void savepoint() override { below_->savepoint(); }
  void release_savepoint() override { below_->release_savepoint(); }
  void rollback_to_savepoint() override { below_->rollback_to_savepoint(); }
  std::vector<std::string> own_check() override { return below_->own_check(); }
  std::int64_t changes() const override { return below_->changes(); }
  std::int64_t total_changes() const override { return below_->total_changes(); }
  std::int64_t last_rowid() const override { return below_->last_rowid(); }

 private:
  std::unique_ptr<sql::Connection> below_;
  Watch& watch_;
  sim::SimDisk& disk_;
};

class WatchedDriver final : public sql::Driver {
 public:
  WatchedDriver(std::unique_ptr<sql::Driver> below, Watch& watch, sim::SimDisk& disk)
      : below_(std::move(below)), watch_(watch), disk_(disk) {}

  std::unique_ptr<sql::Connection> open_writer() override {
    auto db = below_->open_writer();
    watch_.opened(*db);
    return std::make_unique<WatchedConnection>(std::move(db), watch_, disk_);
  }
  std::unique_ptr<sql::Connection> open_reader() override { return below_->open_reader(); }
  std::unique_ptr<sql::SideRecord> side_record() override { return disk_.side_record(); }
  std::string name() const override { return below_->name(); }

 private:
  std::unique_ptr<sql::Driver> below_;
  Watch& watch_;
  sim::SimDisk& disk_;
};

}  // namespace

std::unique_ptr<sql::Driver> Watch::over(std::unique_ptr<sql::Driver> driver, sim::SimDisk& disk) {
  return std::make_unique<WatchedDriver>(std::move(driver), *this, disk);
}

}  // namespace holdfast::campaign
