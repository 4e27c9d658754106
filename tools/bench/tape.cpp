#include "tape.hpp"

#include <map>
#include <utility>

namespace holdfast::bench {

namespace {

class TapedStatement final : public sql::Statement {
 public:
  TapedStatement(sql::Statement& real, std::string sql, Tape& tape)
      : real_(real), sql_(std::move(sql)), tape_(tape) {}

  void bind_null(int at) override {
    bound_.push_back({at, std::monostate{}});
    real_.bind_null(at);
  }
  void bind_int(int at, std::int64_t value) override {
    bound_.push_back({at, value});
    real_.bind_int(at, value);
  }
  void bind_text(int at, std::string_view value) override {
    bound_.push_back({at, std::string(value)});
    real_.bind_text(at, value);
  }
  void bind_blob(int at, ByteView value) override {
    bound_.push_back({at, Bytes(value.begin(), value.end())});
    real_.bind_blob(at, value);
  }
  bool step() override {
    ++steps_;
    return real_.step();
  }
  void reset() override {
    if (steps_ > 0 && !tape_.writes.empty()) {
      tape_.writes.back().push_back({sql_, std::move(bound_), steps_});
    }
    steps_ = 0;
    bound_.clear();
    real_.reset();
  }
  bool is_null(int column) const override { return real_.is_null(column); }
  std::int64_t get_int(int column) const override { return real_.get_int(column); }
  std::string_view get_text(int column) const override { return real_.get_text(column); }
  ByteView get_blob(int column) const override { return real_.get_blob(column); }

 private:
  sql::Statement& real_;
  std::string sql_;
  Tape& tape_;
  std::vector<Bound> bound_;
  int steps_ = 0;
};

class TapedConnection final : public sql::Connection {
 public:
  TapedConnection(std::unique_ptr<sql::Connection> real, Tape& tape)
      : real_(std::move(real)), tape_(tape) {}

  sql::Statement& prepare(std::string_view sql) override {
    sql::Statement& real = real_->prepare(sql);
    auto& mine = statements_[std::string(sql)];
    if (!mine) mine = std::make_unique<TapedStatement>(real, std::string(sql), tape_);
    mine->reset();  // what ran before is noted, and nothing is bound
    return *mine;
  }
  void execute(const char* sql) override { real_->execute(sql); }
  void begin_write() override {
    real_->begin_write();
    tape_.writes.emplace_back();
  }
  void commit() override {
    // What was not reset since it ran belongs to this write.
    for (auto& [sql, statement] : statements_) statement->reset();
    real_->commit();
  }
  void rollback() override { real_->rollback(); }
  void savepoint() override { real_->savepoint(); }
  void release_savepoint() override { real_->release_savepoint(); }
  void rollback_to_savepoint() override { real_->rollback_to_savepoint(); }
  std::int64_t changes() const override { return real_->changes(); }
  std::int64_t total_changes() const override { return real_->total_changes(); }
  std::int64_t last_rowid() const override { return real_->last_rowid(); }

 private:
  std::unique_ptr<sql::Connection> real_;
  Tape& tape_;
  std::map<std::string, std::unique_ptr<TapedStatement>> statements_;
};

class TapedDriver final : public sql::Driver {
 public:
  TapedDriver(std::unique_ptr<sql::Driver> real, Tape& tape)
      : real_(std::move(real)), tape_(tape) {}

  std::unique_ptr<sql::Connection> open_writer() override {
    return std::make_unique<TapedConnection>(real_->open_writer(), tape_);
  }
  std::unique_ptr<sql::Connection> open_reader() override { return real_->open_reader(); }
  std::unique_ptr<sql::SideRecord> side_record() override { return real_->side_record(); }
  std::string name() const override { return real_->name(); }

 private:
  std::unique_ptr<sql::Driver> real_;
  Tape& tape_;
};

}  // namespace

std::unique_ptr<sql::Driver> taping(std::unique_ptr<sql::Driver> driver, Tape& tape) {
  return std::make_unique<TapedDriver>(std::move(driver), tape);
}

}  // namespace holdfast::bench
