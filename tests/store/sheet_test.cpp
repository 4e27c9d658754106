// What the steps of one commit share: balances are written once for all of them, and a step that is
// taken back takes nothing of the others along.
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "store/audit.hpp"
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using boost::asio::awaitable;

constexpr std::uint64_t nobody = 0;

/// Born and claimed in one step; it throws after that where `number` is `thrower`.
awaitable<void> born_and_claimed(store::Store& store, std::uint64_t number, std::uint64_t thrower) {
  co_await store.write([number, thrower](store::Txn& txn) {
    const store::NewIntent wanted = payout(number);
    REQUIRE(store::create_intent(txn, wanted).has_value());
    store::Move claim;
    claim.id = wanted.intent.id;
    claim.to = IntentState::settling;
    claim.actor = domain::Actor::relayer;
    claim.now_ms = 1000;
    claim.version = 1;
    claim.candidates = {{our_account, 1, {}, {}}};
    claim.max_unconsumed = 1000;
    REQUIRE(store::move_intent(txn, claim).has_value());
    if (number == thrower) throw std::runtime_error("thrown on purpose");
  });
}

/// A store whose steps run on the test's own executor: all that is asked before a turn is one
/// commit.
class OneCommit {
 public:
  OneCommit()
      : store_(sqlite::open_sqlite({.path = ":memory:"}),
               {.waiters = io_.get_executor(), .runner = io_.get_executor()}) {
    run([](store::Txn& txn) {
      store::take_over_account(txn, chain, our_account, "test", 1000);
      return 0;
    });
  }

  /// Ten payments; returns how many of them ended with an error.
  int claim_ten(std::uint64_t first, std::uint64_t thrower) {
    int failed = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
      boost::asio::co_spawn(
          io_, born_and_claimed(store_, first + i, thrower),
          [&failed](const std::exception_ptr& error) { failed += error ? 1 : 0; });
    }
    io_.restart();
    io_.run();
    return failed;
  }
  std::int64_t rows_written() {
    return run([](store::Txn& txn) { return txn.db().total_changes(); });
  }
  bool ledger_is_good() {
    return run([](store::Txn& txn) { return store::verify_ledger(txn, {}).good(); });
  }
  store::StoreStats stats() const { return store_.stats(); }

 private:
  template <class Step>
  static awaitable<void> run_one(store::Store& store, Step step,
                                 std::invoke_result_t<Step, store::Txn&>& out) {
    out = co_await store.write(step);
  }
  template <class Step>
  std::invoke_result_t<Step, store::Txn&> run(Step step) {
    std::invoke_result_t<Step, store::Txn&> out{};
    boost::asio::co_spawn(io_, run_one(store_, step, out), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
    io_.restart();
    io_.run();
    return out;
  }

  boost::asio::io_context io_;
  store::Store store_;
};

}  // namespace

TEST_CASE("store: ten payments claimed in one commit write each balance once") {
  OneCommit store;
  const std::int64_t rows = store.rows_written();
  const std::uint64_t commits = store.stats().commits;
  CHECK(store.claim_ten(1, nobody) == 0);
  CHECK(store.stats().commits == commits + 1);
  // Of each: its intent twice, two events, a job, a number, the hold; of all: source and hold.
  CHECK(store.rows_written() - rows == 10 * 7 + 2);
  CHECK(store.ledger_is_good());
}

TEST_CASE("store: a step that throws takes back its own change of the balances and nobody else's") {
  OneCommit store;
  CHECK(store.claim_ten(1, nobody) == 0);
  CHECK(store.claim_ten(11, 15) == 1);
  CHECK(store.ledger_is_good());
  CHECK(store.claim_ten(21, nobody) == 0);
  CHECK(store.ledger_is_good());
}

}  // namespace holdfast::test
