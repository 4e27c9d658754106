#include "sqlite/opening.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sqlite/connection.hpp"
#include "sqlite/failure.hpp"
#include "sqlite/log_check.hpp"
#include "sqlite/side_file.hpp"

namespace holdfast::sqlite {

namespace {

using sql::Cause;
using sql::Failure;

// "hold", in the header of every store.
constexpr std::int64_t our_application = 0x686f6c64;

bool in_memory(const SqliteOptions& options) { return options.path == ":memory:"; }

std::string name_of(const SqliteOptions& options) {
  if (in_memory(options)) return "the store in memory";
  return "the store " + std::filesystem::path(options.path).filename().string();
}

struct Header {
  std::int64_t application = 0;
  std::int64_t version = 0;
  bool empty = false;
};

// The first reads of the file: SQLite checks its header, and its size against the header, and
// parses the schema. The file is read through SQLite only.
Header read_header(SqliteConnection& db) {
  try {
    Header header;
    header.application = db.integer_of("PRAGMA application_id");
    header.version = db.integer_of("PRAGMA user_version");
    header.empty = db.integer_of("SELECT count(*) FROM sqlite_schema") == 0;
    const std::string checked = db.text_of("PRAGMA quick_check(sqlite_schema)");
    if (checked != "ok") throw Failure(Cause::corrupt, checked);
    return header;
  } catch (const Failure& failure) {
    if (failure.cause() != Cause::corrupt) throw;
    if (db.last_code() == SQLITE_NOTADB) {
      throw Failure(Cause::corrupt, db.store() +
                                        " is not a holdfast store: the file is no SQLite "
                                        "database");
    }
    throw Failure(Cause::corrupt, db.store() + " is damaged: " + failure.what());
  }
}

// Throws unless this is a store of a version that we know, or (version 0) a new, empty file.
void check_header(const Header& header, std::int64_t newest, const std::string& store) {
  const bool fresh = header.application == 0 && header.version == 0 && header.empty;
  if (fresh) return;
  if (header.application != our_application) {
    throw Failure(Cause::corrupt,
                  store + " is not a holdfast store: the file belongs to another application");
  }
  if (header.version > newest) {
    throw Failure(Cause::corrupt, store + " has schema version " + std::to_string(header.version) +
                                      ", from a newer holdfast: this one knows versions up to " +
                                      std::to_string(newest));
  }
  if (header.version < 1 || header.empty) {
    throw Failure(Cause::corrupt, store + " is damaged: it has schema version " +
                                      std::to_string(header.version) + " and no tables");
  }
}

void set_number(SqliteConnection& db, const char* pragma, std::int64_t value) {
  db.execute(("PRAGMA " + std::string(pragma) + " = " + std::to_string(value)).c_str());
}

// All of them or none: a store is never left at a version between two releases.
void migrate(SqliteConnection& db, Migrations migrations, std::int64_t from) {
  const std::int64_t newest = std::ssize(migrations);
  if (from >= newest) return;
  auto version = from;
  db.begin_write();
  try {
    for (; version < newest; ++version) {
      db.execute(migrations[static_cast<std::size_t>(version)]);
    }
    set_number(db, "user_version", newest);
    set_number(db, "application_id", our_application);
    db.commit();
  } catch (const Failure& failure) {
    db.rollback();
    throw Failure(failure.cause(), db.store() + " could not be brought to schema version " +
                                       std::to_string(std::min(version + 1, newest)) + ": " +
                                       failure.what());
  }
}

void use_write_ahead_log(SqliteConnection& db, bool memory) {
  const std::string mode = db.text_of("PRAGMA journal_mode = WAL");
  if (mode != "wal" && !memory) {
    throw Failure(Cause::io, db.store() + " cannot use a write-ahead log where it lies");
  }
  db.execute("PRAGMA synchronous = FULL");
}

// An earlier owner may have left pages in the log of which nobody knows whether they are on disk:
// after a failed sync Linux forgets that they are not, and recovery reads them from memory. They
// are written anew into the database (and the log is begun anew, or later commits would stand
// behind a hole), and a commit that changes nothing makes all of it durable, and keeps an older log
// from coming back. A reader that holds the log is waited for; it does not stop us.
void settle(SqliteConnection& db) {
  db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  db.begin_write();
  set_number(db, "application_id", our_application);
  db.commit();
}

class SqliteDriver final : public sql::Driver {
 public:
  SqliteDriver(SqliteOptions options, Migrations migrations)
      : options_(std::move(options)), migrations_(migrations), store_(name_of(options_)) {}

  std::unique_ptr<sql::Connection> open_writer() override {
    if (options_.read_only) {
      throw Failure(Cause::read_only, store_ + " is opened for reading only");
    }
    return prepare_writer();
  }

  std::unique_ptr<sql::Connection> open_reader() override {
    std::unique_ptr<SqliteConnection> db;
    if (in_memory(options_)) {
      db = prepare_writer();
    } else {
      refuse_other_names(options_.path, store_);
      db = connect(SQLITE_OPEN_READONLY, nullptr);
      check_version_for_reading(*db);
    }
    set_number(*db, "query_only", 1);
    return db;
  }

  std::unique_ptr<sql::SideRecord> side_record() override {
    if (!options_.mark || options_.read_only || in_memory(options_)) return nullptr;
    return std::make_unique<SideFile>(options_.path, ".mark", store_);
  }

  std::string name() const override { return store_; }

 private:
  std::unique_ptr<SqliteConnection> connect(int flags, std::unique_ptr<LockFile> lock) {
    return std::make_unique<SqliteConnection>(options_, flags, store_, std::move(lock));
  }

  std::unique_ptr<SqliteConnection> prepare_writer() {
    std::unique_ptr<LockFile> lock;
    if (options_.lock && !in_memory(options_)) {
      lock = std::make_unique<LockFile>(options_.path, store_);
    }
    if (!in_memory(options_)) {
      refuse_other_names(options_.path, store_);
      refuse_damaged_log(options_.path, store_);
    }
    auto db = connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, std::move(lock));
    if (db->is_read_only()) {
      throw Failure(Cause::read_only, store_ + " is read-only: the file cannot be written");
    }
    const Header header = read_header(*db);
    check_header(header, std::ssize(migrations_), store_);
    set_number(*db, "cache_size", -options_.cache_kib);
    use_write_ahead_log(*db, in_memory(options_));
    if (header.version > 0) settle(*db);
    migrate(*db, migrations_, header.version);
    return db;
  }

  void check_version_for_reading(SqliteConnection& db) {
    const Header header = read_header(db);
    check_header(header, std::ssize(migrations_), store_);
    set_number(db, "cache_size", -options_.cache_kib);
    if (header.version == std::ssize(migrations_)) return;
    if (header.version == 0) throw Failure(Cause::corrupt, store_ + " is empty: nothing to read");
    throw Failure(Cause::corrupt, store_ + " has schema version " + std::to_string(header.version) +
                                      " and is read as version " +
                                      std::to_string(migrations_.size()) +
                                      ": let the server open it once");
  }

  SqliteOptions options_;
  Migrations migrations_;
  std::string store_;
};

}  // namespace

std::unique_ptr<sql::Driver> open_sqlite_with(SqliteOptions options, Migrations migrations) {
  return std::make_unique<SqliteDriver>(std::move(options), migrations);
}

}  // namespace holdfast::sqlite
