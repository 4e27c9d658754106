#include "store/sheet.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "store/journal.hpp"

namespace holdfast::store {
namespace {

using domain::Balance;
using domain::BalanceKey;

/// Keys in one statement. One statement for each number up to this is prepared, and no more.
constexpr std::size_t most = 8;

// "($1, $2), ($3, $4)"
std::string tuples(std::size_t rows, int columns) {
  std::string out;
  int number = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    out += row == 0 ? "(" : ", (";
    for (int column = 0; column < columns; ++column) {
      out.append(column == 0 ? "$" : ", $").append(std::to_string(++number));
    }
    out += ")";
  }
  return out;
}

template <class Make>
std::array<std::string, most> for_each_number(Make make) {
  std::array<std::string, most> out;
  for (std::size_t i = 0; i < most; ++i) out.at(i) = make(i + 1);
  return out;
}

const std::string& read_sql(std::size_t keys) {
  static const auto all = for_each_number([](std::size_t rows) {
    return "WITH wanted (account, chain, asset) AS (VALUES " + tuples(rows, 3) +
           ") SELECT b.account, b.chain, b.asset, b.posted, b.pending FROM wanted w"
           " CROSS JOIN balances b ON b.account = w.account AND b.chain = w.chain"
           " AND b.asset = w.asset";
  });
  return all.at(keys - 1);
}

const std::string& write_sql(std::size_t keys) {
  static const auto all = for_each_number([](std::size_t rows) {
    return "INSERT INTO balances (account, chain, asset, posted, pending) VALUES " +
           tuples(rows, 5) +
           " ON CONFLICT (account, chain, asset) DO UPDATE SET"
           " posted = excluded.posted, pending = excluded.pending";
  });
  return all.at(keys - 1);
}

void bind_key(sql::Statement& to, int& at, const BalanceKey& key) {
  detail::bind(to, ++at, key.account);
  detail::bind(to, ++at, key.chain);
  detail::bind(to, ++at, key.asset);
}

}  // namespace

void read_balances(Txn& txn, Balances& into) {
  for (auto from = into.begin(); from != into.end();) {
    const auto keys =
        std::min<std::size_t>(most, static_cast<std::size_t>(std::distance(from, into.end())));
    detail::Running running(txn, read_sql(keys));
    int at = 0;
    for (std::size_t i = 0; i < keys; ++i, ++from) bind_key(running.statement(), at, from->first);
    const Row row(running.statement());
    while (running.statement().step()) {
      const BalanceKey key{
          std::string(row.text(0)), {std::string(row.text(1))}, {std::string(row.text(2))}};
      const auto posted = decode_signed(row.blob(3));
      const auto pending = decode_signed(row.blob(4));
      if (!posted || !pending) damaged("a balance");
      into.at(key) = {*posted, *pending};
    }
  }
}

void write_balances(Txn& txn, const Balances& balances) {
  for (auto from = balances.begin(); from != balances.end();) {
    const auto keys =
        std::min<std::size_t>(most, static_cast<std::size_t>(std::distance(from, balances.end())));
    std::vector<std::array<Byte, 33>> bytes;  // bound by reference until the statement has run
    bytes.reserve(2 * keys);
    detail::Running running(txn, write_sql(keys));
    int at = 0;
    for (std::size_t i = 0; i < keys; ++i, ++from) {
      bind_key(running.statement(), at, from->first);
      bytes.push_back(encode_signed(from->second.posted));
      detail::bind(running.statement(), ++at, bytes.back());
      bytes.push_back(encode_signed(from->second.pending));
      detail::bind(running.statement(), ++at, bytes.back());
    }
    ensure(!running.statement().step(), "a statement without rows has a row");
  }
}

void Sheet::clear() {
  known_.clear();
  changed_.clear();
  tip_.reset();
}

void Sheet::read(Txn& txn, Balances& into) {
  Balances missing;
  for (auto& [key, balance] : into) {
    const auto known = known_.find(key);
    if (known != known_.end()) {
      balance = known->second;
    } else {
      missing.emplace_hint(missing.end(), key, Balance{});
    }
  }
  if (missing.empty()) return;
  read_balances(txn, missing);
  for (const auto& [key, balance] : missing) into.at(key) = balance;
  known_.merge(std::move(missing));
}

void Sheet::keep(const Balances& balances) {
  for (const auto& [key, balance] : balances) {
    known_.insert_or_assign(key, balance);
    changed_.insert_or_assign(key, balance);
  }
}

void Sheet::write(Txn& txn) {
  write_balances(txn, changed_);
  changed_.clear();
}

}  // namespace holdfast::store
