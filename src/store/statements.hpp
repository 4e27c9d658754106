// Owns: how the repositories run a statement: bind, step, read, reset, in one call.
// Must never: take a stored value on trust: what cannot be is reported as a damaged store.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/store/store.hpp>

namespace holdfast::store {

/// The largest sequence, version or gas limit a column holds. Numbers from outside are compared
/// with it before they get here.
inline constexpr std::uint64_t largest_stored = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void damaged(std::string_view what);

/// The row a statement stands on. Its views live until the next step.
class Row {
 public:
  explicit Row(sql::Statement& statement) : statement_(statement) {}

  bool null(int column) const { return statement_.is_null(column); }
  std::int64_t number(int column) const { return statement_.get_int(column); }
  bool flag(int column) const { return statement_.get_int(column) != 0; }
  std::string_view text(int column) const { return statement_.get_text(column); }
  ByteView blob(int column) const { return statement_.get_blob(column); }

  /// A number that is never negative.
  std::uint64_t count(int column) const {
    const std::int64_t value = number(column);
    if (value < 0) damaged("a negative count");
    return static_cast<std::uint64_t>(value);
  }
  std::uint32_t small_count(int column) const {
    const std::uint64_t value = count(column);
    if (value > std::numeric_limits<std::uint32_t>::max()) damaged("a count over 2^32 - 1");
    return static_cast<std::uint32_t>(value);
  }
  template <class Fixed>
  Fixed fixed(int column) const {
    const auto value = Fixed::from(blob(column));
    if (!value) damaged("a value of the wrong length");
    return *value;
  }
  template <class Fixed>
  std::optional<Fixed> maybe_fixed(int column) const {
    if (null(column)) return std::nullopt;
    return fixed<Fixed>(column);
  }
  std::optional<std::int64_t> maybe_number(int column) const {
    if (null(column)) return std::nullopt;
    return number(column);
  }
  std::optional<domain::Sequence> maybe_sequence(int column) const {
    if (null(column)) return std::nullopt;
    return domain::Sequence{count(column)};
  }
  Digest digest(int column) const { return fixed<FixedBytes<32, struct AnyDigest>>(column).value; }
  U256 amount(int column) const {
    const auto value = U256::from_big_endian(blob(column));
    if (!value) damaged("an amount over 32 bytes");
    return *value;
  }
  /// `from` reads the domain's text: row.named(4, domain::intent_state_from).
  template <class Enum>
  Enum named(int column, std::optional<Enum> (*from)(std::string_view)) const {
    const auto value = from(text(column));
    if (!value) damaged("the word '" + std::string(text(column)) + "'");
    return *value;
  }

 private:
  sql::Statement& statement_;
};

namespace detail {

inline void bind(sql::Statement& to, int at, std::nullptr_t) { to.bind_null(at); }
template <std::integral Number>
void bind(sql::Statement& to, int at, Number value) {
  if constexpr (std::is_unsigned_v<Number> && sizeof(Number) == 8) {
    ensure(value <= largest_stored, "a number does not fit its column");
  }
  to.bind_int(at, static_cast<std::int64_t>(value));
}
inline void bind(sql::Statement& to, int at, std::string_view value) { to.bind_text(at, value); }
inline void bind(sql::Statement& to, int at, const std::string& value) { to.bind_text(at, value); }
inline void bind(sql::Statement& to, int at, const Bytes& value) { to.bind_blob(at, value); }
template <std::size_t N>
void bind(sql::Statement& to, int at, const std::array<Byte, N>& value) {
  to.bind_blob(at, value);
}
template <std::size_t N, class Tag>
void bind(sql::Statement& to, int at, const FixedBytes<N, Tag>& value) {
  to.bind_blob(at, value.view());
}
template <class Tag>
void bind(sql::Statement& to, int at, const domain::Name<Tag>& value) {
  to.bind_text(at, value.value);
}
template <class Tag>
void bind(sql::Statement& to, int at, const domain::RowId<Tag>& value) {
  to.bind_int(at, value.value);
}
inline void bind(sql::Statement& to, int at, const domain::Sequence& value) {
  bind(to, at, value.value);
}
template <class Value>
void bind(sql::Statement& to, int at, const std::optional<Value>& value) {
  if (value) {
    bind(to, at, *value);
  } else {
    to.bind_null(at);
  }
}

/// Resets on every way out, so that no statement keeps a lock or a pointer to a parameter.
class Running {
 public:
  Running(Txn& txn, std::string_view sql) : statement_(txn.db().prepare(sql)) {}
  ~Running() { statement_.reset(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  sql::Statement& statement() { return statement_; }
  template <class... Args>
  void bind_all(const Args&... args) {
    int at = 0;
    (bind(statement_, ++at, args), ...);
  }

 private:
  sql::Statement& statement_;
};

}  // namespace detail

// The arguments are bound to $1, $2, … and live until the call returns: temporaries are fine.

/// Runs a statement without rows; returns how many it changed.
template <class... Args>
std::int64_t execute(Txn& txn, std::string_view sql, const Args&... args) {
  detail::Running running(txn, sql);
  running.bind_all(args...);
  ensure(!running.statement().step(), "a statement without rows has a row");
  return txn.db().changes();
}

/// Calls `on_row(const Row&)` for each row. It must not run the same statement again.
template <class OnRow, class... Args>
void each(Txn& txn, std::string_view sql, OnRow&& on_row, const Args&... args) {
  detail::Running running(txn, sql);
  running.bind_all(args...);
  const Row row(running.statement());
  while (running.statement().step()) on_row(row);
}

/// What `from_row(const Row&)` makes of the first row; empty without one.
template <class FromRow, class... Args>
auto first(Txn& txn, std::string_view sql, FromRow&& from_row, const Args&... args)
    -> std::optional<std::invoke_result_t<FromRow&, const Row&>> {
  detail::Running running(txn, sql);
  running.bind_all(args...);
  if (!running.statement().step()) return std::nullopt;
  return from_row(Row(running.statement()));
}

/// `SELECT EXISTS (…)` or another single number.
template <class... Args>
std::int64_t number_of(Txn& txn, std::string_view sql, const Args&... args) {
  const auto found = first(txn, sql, [](const Row& row) { return row.number(0); }, args...);
  ensure(found.has_value(), "a statement that always has a row has none");
  return *found;
}

}  // namespace holdfast::store
