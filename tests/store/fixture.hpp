// Owns: a store with the named writes as one-liners, for the tests of the repositories.
// Must never: hide a refusal; each helper returns what the write returned, or requires success.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <holdfast/domain/refs.hpp>
#include <holdfast/ports/sql.hpp>
#include <holdfast/store/store.hpp>

#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::test {

using domain::Facts;
using domain::IntentId;
using domain::IntentState;

inline const domain::ChainId chain{"eip155:31337"};
inline const domain::AssetId token{"0x5FbDB2315678afecb367f032d93F642f64180aa3"};
inline const domain::Address our_account{"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"};
inline const domain::Address our_second{"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"};
inline const domain::Address payer{"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"};
inline const domain::Address payee{"0x90F79bf6EB2c4f870365E785982E1f101E93b906"};
inline const domain::CallerId shop{"shop"};

/// True when the result was refused with exactly this code.
template <class T, class Enum>
bool refused_with(const Result<T>& result, Enum code) {
  return result.has_error() && result.error().code == make_error_code(code);
}

class TestStore {
 public:
  /// In memory, or in a file.
  explicit TestStore(const std::string& path = ":memory:");

  /// Runs the step in a transaction of its own. A refusal must have written nothing.
  template <class Step>
  auto write(Step step) {
    db_->begin_write();
    const std::int64_t before = db_->total_changes();
    store::Txn txn(*db_);
    try {
      auto result = step(txn);
      if constexpr (requires { result.has_error(); }) {
        if (result.has_error()) REQUIRE(db_->total_changes() == before);
      }
      db_->commit();
      rows_written += db_->total_changes() - before;
      return result;
    } catch (...) {
      db_->rollback();
      throw;
    }
  }
  template <class Step>
  auto read(Step step) {
    store::Txn txn(*db_);
    return step(txn);
  }
  /// Raw SQL, for damage and for looking at rows.
  void sql(const char* script) { db_->execute(script); }
  std::int64_t number(std::string_view select);
  std::string text(std::string_view select);
  sql::Connection& db() { return *db_; }
  sql::Driver& driver() { return *driver_; }

  std::int64_t rows_written = 0;
  std::int64_t statements() const { return db_->statements; }

 private:
  /// Counts the statements asked for; otherwise the connection it wraps.
  struct Counting final : sql::Connection {
    explicit Counting(std::unique_ptr<sql::Connection> wrapped) : inner(std::move(wrapped)) {}
    sql::Statement& prepare(std::string_view sql) override {
      ++statements;
      return inner->prepare(sql);
    }
    void execute(const char* sql) override { inner->execute(sql); }
    void begin_write() override { inner->begin_write(); }
    void commit() override { inner->commit(); }
    void rollback() override { inner->rollback(); }
    void savepoint() override { inner->savepoint(); }
    void release_savepoint() override { inner->release_savepoint(); }
    void rollback_to_savepoint() override { inner->rollback_to_savepoint(); }
    std::int64_t changes() const override { return inner->changes(); }
    std::int64_t total_changes() const override { return inner->total_changes(); }
    std::int64_t last_rowid() const override { return inner->last_rowid(); }

    std::unique_ptr<sql::Connection> inner;
    std::int64_t statements = 0;
  };

  std::unique_ptr<sql::Driver> driver_;
  std::unique_ptr<Counting> db_;
};

/// The payment terms, requests and transactions the tests use, all different by a number.
store::Request request(std::uint64_t number, std::uint64_t body = 0);
domain::Receipt receipt(std::uint64_t number);
domain::TxHash tx_hash(std::uint64_t number);
domain::InstanceId instance(std::uint64_t number = 1);
/// A payout of `number` + 1000 base units from `our_account`, authorized as it is born.
store::NewIntent payout(std::uint64_t number, std::int64_t now_ms = 1000);
/// A bearer payment, created; its authorization is `authorization_of`.
store::NewIntent bearer(std::uint64_t number, std::int64_t now_ms = 1000);
domain::Authorization authorization_of(const domain::Intent& intent);

/// A mined transaction of `sender` that pays the intent (its use event included for a bearer).
domain::MinedTx paying_tx(const domain::Intent& intent, const domain::TxHash& hash,
                          const domain::Address& sender, std::uint64_t sequence);
/// A mined transaction of `sender` that moves nothing of ours.
domain::MinedTx other_tx(const domain::TxHash& hash, const domain::Address& sender,
                         std::uint64_t sequence);

/// One life of a payment, step by step. Each step requires success unless it returns a Result.
class Desk {
 public:
  explicit Desk(TestStore& store);

  domain::Intent create(const store::NewIntent& wanted);
  domain::Intent create_payout(std::uint64_t number) { return create(payout(number)); }
  domain::Intent create_bearer(std::uint64_t number);  ///< created and authorized

  /// Leases this intent's job (and whatever is before it); the receipt is remembered.
  void lease_all(std::size_t limit = 1000);
  domain::Receipt receipt_of(const IntentId& id) const;

  store::Candidate candidate(std::uint64_t chain_count = 0) const;
  store::Move move(const IntentId& id, IntentState to, domain::Actor actor) const;
  store::Move claim_move(const IntentId& id) const;
  Facts must(const store::Move& move);
  Result<Facts> may(const store::Move& move);

  Facts claim(const IntentId& id);
  store::AttemptToStore attempt_for(const Facts& facts) const;
  Facts sign(const IntentId& id);
  /// settling → confirming by the newest attempt, accepted, with the ack.
  Facts confirm(const IntentId& id);
  store::Move settle_move(const Facts& facts) const;
  Facts settle(const IntentId& id);
  /// On from where it stands: leased and claimed, signed and confirmed, settled.
  Facts bring_to(const IntentId& id, IntentState state);

  Facts facts(const IntentId& id);
  TestStore& store() { return store_; }

  std::int64_t now_ms = 2000;
  std::uint64_t epoch = 0;
  std::uint64_t chain_count = 0;  ///< what the node says our account's count is

 private:
  TestStore& store_;
  std::uint64_t next_receipt_ = 1;
  std::vector<std::pair<IntentId, domain::Receipt>> receipts_;
};

}  // namespace holdfast::test
