// Owns: the driver port: about ten calls a database must offer. The store speaks only through it.
// Must never: hide an error: a broken environment throws sql::Failure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/bytes.hpp>

namespace holdfast::sql {

/// Why a call could not be done.
enum class Cause {
  constraint,  ///< UNIQUE, CHECK, NOT NULL, foreign key: the statement changed nothing
  busy,        ///< somebody else holds the database
  full,        ///< no space, or a quota
  read_only,
  corrupt,     ///< not a database, a damaged page
  io,          ///< reading or writing failed
  in_doubt,    ///< COMMIT itself failed: it may come back after a crash
  misuse,      ///< a bug of ours: bad SQL, a wrong column
};
std::string_view to_text(Cause cause);

class Failure : public std::runtime_error {
 public:
  Failure(Cause cause, const std::string& what) : std::runtime_error(what), cause_(cause) {}
  Cause cause() const { return cause_; }

 private:
  Cause cause_;
};

/// A prepared statement, bound by position (`$1` is 1), owned and cached by its connection.
/// Views of columns live until the next step or reset.
class Statement {
 public:
  virtual ~Statement() = default;

  virtual void bind_null(int at) = 0;
  virtual void bind_int(int at, std::int64_t value) = 0;
  /// Not copied: must live until the statement is reset.
  virtual void bind_text(int at, std::string_view value) = 0;
  virtual void bind_blob(int at, ByteView value) = 0;

  /// True while there is a row.
  virtual bool step() = 0;
  virtual void reset() = 0;

  virtual bool is_null(int column) const = 0;
  virtual std::int64_t get_int(int column) const = 0;
  virtual std::string_view get_text(int column) const = 0;
  virtual ByteView get_blob(int column) const = 0;
};

/// One connection, used by one thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Cached by the text; the reference lives as long as the connection. Already reset.
  virtual Statement& prepare(std::string_view sql) = 0;
  /// One or more statements without parameters or results: schema and pragmas.
  virtual void execute(const char* sql) = 0;

  virtual void begin_write() = 0;  ///< BEGIN IMMEDIATE
  virtual void commit() = 0;       ///< throws Failure{in_doubt} when its durability is unknown
  virtual void rollback() = 0;     ///< never throws for want of a transaction
  virtual void savepoint() = 0;    ///< one level, inside begin_write
  virtual void release_savepoint() = 0;
  virtual void rollback_to_savepoint() = 0;

  /// What the database finds wrong with its own pages, one sentence each, bounded; reads all of it.
  virtual std::vector<std::string> own_check() { return {}; }

  virtual std::int64_t changes() const = 0;  ///< rows changed by the newest statement
  virtual std::int64_t total_changes() const = 0;
  virtual std::int64_t last_rowid() const = 0;
};

/// A small record beside the database and outside of its transactions: putting the database back
/// from a backup does not bring it back too.
class SideRecord {
 public:
  virtual ~SideRecord() = default;
  /// Empty: there is none. Throws Failure.
  virtual std::optional<Bytes> read() = 0;
  /// Replaces it whole; durable when this returns. Throws Failure: full, read_only, io; what was
  /// there before may then stay.
  virtual void write(ByteView content) = 0;
  virtual std::string name() const = 0;  ///< for messages, with no directory
};

/// Opens connections to one database. The writer is opened once, owns the database (a lock that
/// names the owner) and has migrated it; readers see the newest commit and never write.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::unique_ptr<Connection> open_writer() = 0;
  virtual std::unique_ptr<Connection> open_reader() = 0;
  /// Where the store's watermark is kept; null: this database keeps none. The owner's to use, after
  /// `open_writer`.
  virtual std::unique_ptr<SideRecord> side_record() { return nullptr; }
  /// For messages: "the store FILE" with no directory.
  virtual std::string name() const = 0;
};

}  // namespace holdfast::sql
